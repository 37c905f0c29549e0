import { hashKey } from "../../entitlement/key-hash.ts";
import { fingerprintEvent } from "../../entitlement/usage-event.ts";
import type { ApiKey } from "../../store/control/api-keys.ts";
import { brandAs, type IdempotencyKey } from "../../words/brand.ts";
import type { Lanes } from "../commit/lanes.ts";
import type { Outcome } from "../commit/request.ts";
import { readEvent } from "./read-event.ts";
import type { EventBody } from "./schema.ts";

/** `POST /v1/events`: from a validated body to a durable outcome. */
export function recordEvent(
  lanes: Lanes,
  caller: { key: ApiKey; requestId: string },
  body: EventBody,
): Promise<Outcome> {
  const event = readEvent(body);
  const { projectId, environmentId, metadataLimits } = caller.key;
  const keyed =
    body.idempotencyKey === undefined
      ? null
      : {
          projectId,
          key: brandAs<IdempotencyKey>(body.idempotencyKey),
          keyHash: hashKey(body.idempotencyKey),
          fingerprint: fingerprintEvent(event),
        };
  return lanes.submit({
    endpoint: "events",
    projectId,
    environmentId,
    customerId: event.customerId,
    requestId: caller.requestId,
    keyed,
    event,
    metadataLimits,
  });
}
