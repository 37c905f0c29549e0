import { shortHash } from "../../entitlement/fingerprint.ts";
import { parseMetadata } from "../../entitlement/metadata.ts";
import type { LogRecord } from "../../store/cell/request-log-list.ts";
import type { CustomerNumber, Instant } from "../../words/brand.ts";

/** What was asked under a key, as far as it is kept. */
export type AskedBefore = {
  readonly endpoint: "consume" | "events";
  readonly customerNumber: CustomerNumber;
  /** Of a customer who was erased since, neither id nor metadata can be compared. */
  readonly isErased: boolean;
  readonly subject: string;
  readonly quantity: number;
  /** JSON. */
  readonly metadata: string | null;
  /** Of an event that came without one: null. */
  readonly timestamp: Instant | null;
};

/** The fields in which a refused request differed from the one that the key was used for. */
export function differingFields(asked: AskedBefore, sent: LogRecord): string[] {
  if (sent.endpoint !== asked.endpoint) return ["endpoint"];
  if (sent.refused === null) return [];
  const { quantity, metadataHash, timestamp } = sent.refused;
  const { isErased } = asked;
  const isEvent = asked.endpoint === "events";
  const differing = [
    ...(!isErased && sent.customerNumber !== asked.customerNumber ? ["customerId"] : []),
    ...(sent.subject !== asked.subject ? [isEvent ? "event" : "feature"] : []),
    ...(quantity !== asked.quantity ? ["quantity"] : []),
    ...(!isErased && metadataHash !== hashOf(asked.metadata) ? ["metadata"] : []),
    ...(isEvent && timestamp !== asked.timestamp ? ["timestamp"] : []),
  ];
  // An event whose timestamp was the very moment of its recording looks as if it had come without one.
  return differing.length === 0 && isEvent && !isErased ? ["timestamp"] : differing;
}

function hashOf(metadata: string | null): string | null {
  if (metadata === null) return null;
  const parsed = parseMetadata(JSON.parse(metadata));
  return parsed.kind === "metadata" ? shortHash(parsed.metadata.canonical) : null;
}
