import type { HoldDuration } from "../../entitlement/consumption.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { parseMetadata } from "../../entitlement/metadata.ts";
import type { CustomerNumber, Instant } from "../../primitives/brand.ts";
import type { Endpoint } from "../../store/cell/keyed-requests.ts";
import type { LogRecord } from "../../store/cell/request-log-list.ts";

/** The original request that used a key. */
export type AskedBefore = {
  readonly endpoint: Endpoint;
  readonly customerNumber: CustomerNumber;
  /** After an erasure, the customer ID, the member and the metadata cannot be compared. */
  readonly isErased: boolean;
  readonly subject: string;
  readonly quantity: number;
  /** In canonical form. Null for a request without items. */
  readonly items: string | null;
  readonly memberHash: string | null;
  /** As JSON. Null if the request had no metadata. */
  readonly metadata: string | null;
  /** Set only for a hold that was opened. The duration of a denied hold is not stored. */
  readonly duration: HoldDuration | null;
  /** Null if the event was sent without a timestamp. */
  readonly timestamp: Instant | null;
};

/** Lists the fields in which a rejected request differs from the original one. */
export function differingFields(asked: AskedBefore, sent: LogRecord): string[] {
  if (sent.endpoint !== asked.endpoint) return ["endpoint"];
  if (sent.refused === null) return [];
  const { quantity, memberHash = null, metadataHash, timestamp, hold } = sent.refused;
  const { isErased } = asked;
  const isEvent = asked.endpoint === "events";
  // Log entries written before 0.2 have neither items nor members.
  const items = sent.refused.items ?? null;
  const isSingle = items === null && asked.items === null;
  const isReversal = asked.endpoint === "consume/reverse";
  const isUnnamed = isReversal && sent.subject === null;
  const differing = [
    ...(!isErased && sent.customerNumber !== asked.customerNumber ? ["customerId"] : []),
    ...(isSingle && !isUnnamed && sent.subject !== asked.subject ? [isEvent ? "event" : "feature"] : []),
    ...(isSingle && quantity !== asked.quantity ? ["quantity"] : []),
    ...(items !== asked.items ? ["items"] : []),
    ...(!isErased && memberHash !== asked.memberHash ? ["memberId"] : []),
    ...(!isErased && metadataHash !== hashOf(asked.metadata) ? ["metadata"] : []),
    ...(isEvent && timestamp !== asked.timestamp ? ["timestamp"] : []),
    ...(asked.duration !== null && hold?.expiresInMs !== asked.duration.expiresInMs
      ? ["expiresInSeconds"]
      : []),
    ...(asked.duration !== null && hold?.onExpiry !== asked.duration.onExpiry ? ["onExpiry"] : []),
  ];
  // All logged fields match, so the charge differs. The charge ID is in the path, which is not logged.
  if (isReversal && differing.length === 0) return ["consumeId"];
  // All other fields match, so the timestamp differs. A timestamp equal to the recording time looks like a missing timestamp.
  return differing.length === 0 && isEvent && !isErased ? ["timestamp"] : differing;
}

function hashOf(metadata: string | null): string | null {
  if (metadata === null) return null;
  const parsed = parseMetadata(JSON.parse(metadata));
  return parsed.kind === "metadata" ? shortHash(parsed.metadata.canonical) : null;
}
