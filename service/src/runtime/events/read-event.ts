import { hashKey } from "../../entitlement/key-hash.ts";
import { fingerprintEvent, type UsageEvent } from "../../entitlement/usage-event.ts";
import {
  brandAs,
  type CustomerId,
  type EventKey,
  type IdempotencyKey,
  type Quantity,
} from "../../primitives/brand.ts";
import type { EventRequest } from "../commit/request.ts";
import { checkTexts, readMemberId, readMetadata, readTime, refuseIfAny } from "../read-fields.ts";
import type { Asking } from "../runtime-route.ts";
import type { EventBody } from "./schema.ts";

/** Turns a validated body into a request for a lane. */
export function toEventRequest({ key, requestId, span }: Asking, body: EventBody): EventRequest {
  const event = readEvent(body);
  const { projectId, environmentId, metadataLimits } = key;
  const keyed =
    body.idempotencyKey === undefined
      ? null
      : {
          projectId,
          key: brandAs<IdempotencyKey>(body.idempotencyKey),
          keyHash: hashKey(body.idempotencyKey),
          fingerprint: fingerprintEvent(event),
        };
  return {
    endpoint: "events",
    projectId,
    environmentId,
    customerId: event.customerId,
    requestId,
    span,
    keyed,
    event,
    metadataLimits,
  };
}

/** Reads a validated body, and also checks what the JSON schema cannot express. */
export function readEvent(body: EventBody): UsageEvent {
  const errors = checkTexts(body, ["customerId", "event"]);
  const memberId = readMemberId(body.memberId, errors);
  const metadata = readMetadata(body.metadata, errors);
  const timestamp = readTime("timestamp", body.timestamp, errors);
  refuseIfAny(errors);
  return {
    customerId: brandAs<CustomerId>(body.customerId),
    event: brandAs<EventKey>(body.event),
    quantity: brandAs<Quantity>(body.quantity),
    memberId,
    metadata,
    timestamp,
  };
}
