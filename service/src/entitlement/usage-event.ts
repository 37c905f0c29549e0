import { brandAs, type CustomerId, type EventKey, type Instant, type Quantity } from "../words/brand.ts";
import { type Fingerprint, fingerprint } from "./fingerprint.ts";
import type { Metadata, MetadataLimits } from "./metadata.ts";

/** A meter reading: spec 2.1, parsed. It moves no credits. */
export type UsageEvent = {
  readonly customerId: CustomerId;
  readonly event: EventKey;
  readonly quantity: Quantity;
  readonly metadata: Metadata | null;
  readonly timestamp: Instant | null;
};

export type EventDecision =
  | { kind: "accepted" }
  | { kind: "timestamp_out_of_range"; earliest: Instant; latest: Instant }
  | { kind: "metadata_limit_exceeded"; limit: "bytes" | "keys" | "depth"; max: number; actual: number };

export const TIMESTAMP_PAST_MAX_MS = 35 * 24 * 3_600_000;
export const TIMESTAMP_FUTURE_MAX_MS = 5 * 60_000;

/** What is only judged once the idempotency key was looked up: a late retry must replay, not fail. */
export function decideEvent(event: UsageEvent, limits: MetadataLimits, now: Instant): EventDecision {
  const earliest = brandAs<Instant>(now - TIMESTAMP_PAST_MAX_MS);
  const latest = brandAs<Instant>(now + TIMESTAMP_FUTURE_MAX_MS);
  const occurredAt = event.timestamp ?? now;
  if (occurredAt < earliest || occurredAt > latest)
    return { kind: "timestamp_out_of_range", earliest, latest };
  return exceededLimit(event.metadata, limits) ?? { kind: "accepted" };
}

export function fingerprintEvent(event: UsageEvent): Fingerprint {
  return fingerprint([
    ["customerId", JSON.stringify(event.customerId)],
    ["event", JSON.stringify(event.event)],
    ["metadata", event.metadata?.canonical ?? null],
    ["quantity", String(event.quantity)],
    ["timestamp", event.timestamp === null ? null : String(event.timestamp)],
  ]);
}

function exceededLimit(metadata: Metadata | null, limits: MetadataLimits): EventDecision | null {
  if (metadata === null) return null;
  const measures = [
    { limit: "bytes", max: limits.bytesMax, actual: metadata.bytes },
    { limit: "keys", max: limits.keysMax, actual: metadata.keys },
    { limit: "depth", max: limits.depthMax, actual: metadata.depth },
  ] as const;
  const exceeded = measures.find(({ max, actual }) => actual > max);
  return exceeded === undefined ? null : { kind: "metadata_limit_exceeded", ...exceeded };
}
