import type { UsageEvent } from "../../entitlement/usage-event.ts";
import { brandAs, type CustomerId, type EventKey, type Quantity } from "../../primitives/brand.ts";
import { checkTexts, readMemberId, readMetadata, readTime, refuseIfAny } from "../read-fields.ts";
import type { EventBody } from "./schema.ts";

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
