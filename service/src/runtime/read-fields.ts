import { describe } from "../edge/errors.ts";
import { type FieldError, Problem } from "../edge/problem.ts";
import { type Metadata, parseMetadata } from "../entitlement/metadata.ts";
import { assertNever } from "../primitives/assert.ts";
import { brandAs, type MemberId } from "../primitives/brand.ts";
import { isStorableText, UNSTORABLE_TEXT } from "../primitives/storable-text.ts";

/** Finds errors in string fields that the JSON schema cannot express. */
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

export function refuseIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new Problem("invalid_request", { detail: describe(errors), errors });
}
