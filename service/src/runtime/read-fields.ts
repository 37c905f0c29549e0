import { describe } from "../edge/errors.ts";
import { type FieldError, Problem } from "../edge/problem.ts";
import { type Metadata, parseMetadata } from "../entitlement/metadata.ts";
import { assertNever } from "../primitives/assert.ts";
import { brandAs, type Instant, type MemberId } from "../primitives/brand.ts";
import { isStorableText, UNSTORABLE_TEXT } from "../primitives/storable-text.ts";
import { parseTimestamp } from "../primitives/timestamp.ts";

/** Finds strings that PostgreSQL cannot store. The JSON schema cannot express this check. */
export function checkTexts<F extends string>(
  body: Readonly<Record<F, string>>,
  fields: readonly F[],
): FieldError[] {
  return fields
    .filter((field) => !isStorableText(body[field]))
    .map((field) => ({
      field,
      code: "wrong_form",
      message: UNSTORABLE_TEXT,
    }));
}

export function readMemberId(memberId: string | undefined, errors: FieldError[]): MemberId | null {
  if (memberId === undefined) return null;
  errors.push(...checkTexts({ memberId }, ["memberId"]));
  return brandAs<MemberId>(memberId);
}

export function readMetadata(value: object | undefined, errors: FieldError[]): Metadata | null {
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

export function readTime(field: string, text: string | undefined, errors: FieldError[]): Instant | null {
  if (text === undefined) return null;
  const parsed = parseTimestamp(text);
  switch (parsed.kind) {
    case "instant":
      return parsed.at;
    case "no_offset":
      errors.push({
        field,
        code: "wrong_form",
        message: "has no UTC offset: append Z if it is in UTC",
      });
      return null;
    case "not_a_timestamp":
      errors.push({
        field,
        code: "wrong_form",
        message: "must be an RFC 3339 time such as 2026-11-14T10:00:00Z",
      });
      return null;
    default:
      return assertNever(parsed);
  }
}

export function refuseIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new Problem("invalid_request", { detail: describe(errors), errors });
}
