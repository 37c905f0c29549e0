import { describe } from "../../edge/errors.ts";
import { type FieldError, Problem } from "../../edge/problem.ts";
import { isStorableText, type Metadata, parseMetadata } from "../../entitlement/metadata.ts";
import type { UsageEvent } from "../../entitlement/usage-event.ts";
import { assertNever } from "../../words/assert.ts";
import { brandAs, type CustomerId, type EventKey, type Instant, type Quantity } from "../../words/brand.ts";
import { parseTimestamp } from "../../words/timestamp.ts";
import type { EventBody } from "./schema.ts";

/** From a body that fits its schema to an event; refuses what a schema cannot describe. */
export function readEvent(body: EventBody): UsageEvent {
  const errors: FieldError[] = [];
  for (const field of ["customerId", "event"] as const) {
    if (isStorableText(body[field])) continue;
    errors.push({ field, code: "wrong_form", message: "must not hold a NUL or half of a surrogate pair" });
  }
  const metadata = readMetadata(body.metadata, errors);
  const timestamp = readTimestamp(body.timestamp, errors);
  if (errors.length > 0) throw new Problem("invalid_request", { detail: describe(errors), errors });
  return {
    customerId: brandAs<CustomerId>(body.customerId),
    event: brandAs<EventKey>(body.event),
    quantity: brandAs<Quantity>(body.quantity),
    metadata,
    timestamp,
  };
}

function readMetadata(value: object | undefined, errors: FieldError[]): Metadata | null {
  if (value === undefined) return null;
  const parsed = parseMetadata(value);
  switch (parsed.kind) {
    case "metadata":
      return parsed.metadata;
    case "none":
      return null;
    case "unusable":
      errors.push({ field: "metadata", code: "wrong_form", message: parsed.problem });
      return null;
    default:
      return assertNever(parsed);
  }
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
