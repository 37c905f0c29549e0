import type { FieldError } from "../../edge/problem.ts";
import type { UsageEvent } from "../../entitlement/usage-event.ts";
import { assertNever } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerId,
  type EventKey,
  type Instant,
  type Quantity,
} from "../../primitives/brand.ts";
import { parseTimestamp } from "../../primitives/timestamp.ts";
import { checkTexts, readMemberId, readMetadata, refuseIfAny } from "../read-fields.ts";
import type { EventBody } from "./schema.ts";

/** Reads a validated body, and also checks what the JSON schema cannot express. */
export function readEvent(body: EventBody): UsageEvent {
  const errors = checkTexts(body, ["customerId", "event"]);
  const memberId = readMemberId(body.memberId, errors);
  const metadata = readMetadata(body.metadata, errors);
  const timestamp = readTimestamp(body.timestamp, errors);
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

function readTimestamp(text: string | undefined, errors: FieldError[]): Instant | null {
  if (text === undefined) return null;
  const parsed = parseTimestamp(text);
  switch (parsed.kind) {
    case "instant":
      return parsed.at;
    case "no_offset":
      errors.push({
        field: "timestamp",
        code: "wrong_form",
        message: "has no offset: append Z if it is in UTC",
      });
      return null;
    case "not_a_timestamp":
      errors.push({
        field: "timestamp",
        code: "wrong_form",
        message: "must be an RFC 3339 time such as 2026-11-14T10:00:00Z",
      });
      return null;
    default:
      return assertNever(parsed);
  }
}
