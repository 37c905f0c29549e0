import {
  brandAs,
  type CustomerId,
  type EventKey,
  type Instant,
  type MemberId,
  type Quantity,
} from "../primitives/brand.ts";
import { type Fingerprint, fingerprint } from "./fingerprint.ts";
import { type ExceededLimit, exceededLimit, type Metadata, type MetadataLimits } from "./metadata.ts";

/** A parsed usage event. An event does not change a balance. */
export type UsageEvent = {
  readonly customerId: CustomerId;
  readonly event: EventKey;
  readonly quantity: Quantity;
  readonly memberId: MemberId | null;
  readonly metadata: Metadata | null;
  readonly timestamp: Instant | null;
};

export type EventDecision =
  | { kind: "accepted" }
  | { kind: "timestamp_out_of_range"; earliest: Instant; latest: Instant }
  | ExceededLimit;

export const TIMESTAMP_PAST_MAX_MS = 35 * 24 * 3_600_000;
export const TIMESTAMP_FUTURE_MAX_MS = 5 * 60_000;

/** Runs after the idempotency key lookup, because a late retry must get the original response, not an error. */
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
    ["memberId", event.memberId === null ? null : JSON.stringify(event.memberId)],
    ["metadata", event.metadata?.canonical ?? null],
    ["quantity", String(event.quantity)],
    ["timestamp", event.timestamp === null ? null : String(event.timestamp)],
  ]);
}
