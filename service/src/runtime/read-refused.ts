import { canonicalItems, QUANTITY_DEFAULT } from "../entitlement/consumption.ts";
import { shortHash } from "../entitlement/fingerprint.ts";
import { hashMember } from "../entitlement/key-hash.ts";
import { parseMetadata } from "../entitlement/metadata.ts";
import { parseTimestamp } from "../primitives/timestamp.ts";
import type { LoggedEndpoint, Refused } from "../store/cell/request-log.ts";
import { toItem } from "./consume/route.ts";
import type { QuestionBody } from "./consume/schema.ts";
import { readDuration } from "./holds/open-route.ts";

/** Reads the fields that a fingerprint covers, so that the request log can explain a reused key. Expects a valid body. */
export function readRefused(endpoint: LoggedEndpoint, body: Readonly<Record<string, unknown>>): Refused {
  const { quantity, idempotencyKey, memberId, metadata, timestamp } = body;
  const question = body as QuestionBody;
  const parsed = typeof metadata === "object" && metadata !== null ? parseMetadata(metadata) : null;
  const time = typeof timestamp === "string" ? parseTimestamp(timestamp) : null;
  return {
    quantity: typeof quantity === "number" ? quantity : QUANTITY_DEFAULT,
    items: question.items === undefined ? null : canonicalItems(question.items.map(toItem)),
    memberHash: typeof memberId === "string" ? hashMember(String(idempotencyKey), memberId) : null,
    metadataHash: parsed?.kind === "metadata" ? shortHash(parsed.metadata.canonical) : null,
    timestamp: time?.kind === "instant" ? time.at : null,
    ...(endpoint === "holds" ? { hold: readDuration(body) } : {}),
  };
}
