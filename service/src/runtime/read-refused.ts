import { QUANTITY_DEFAULT } from "../entitlement/consumption.ts";
import { shortHash } from "../entitlement/fingerprint.ts";
import { parseMetadata } from "../entitlement/metadata.ts";
import type { Refused } from "../store/cell/request-log.ts";
import { parseTimestamp } from "../words/timestamp.ts";

/** What a fingerprint covers, of a body that was read in full before its key was refused. */
export function readRefused(body: Readonly<Record<string, unknown>>): Refused {
  const { quantity, metadata, timestamp } = body;
  const parsed = typeof metadata === "object" && metadata !== null ? parseMetadata(metadata) : null;
  const time = typeof timestamp === "string" ? parseTimestamp(timestamp) : null;
  return {
    quantity: typeof quantity === "number" ? quantity : QUANTITY_DEFAULT,
    metadataHash: parsed?.kind === "metadata" ? shortHash(parsed.metadata.canonical) : null,
    timestamp: time?.kind === "instant" ? time.at : null,
  };
}
