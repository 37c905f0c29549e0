import { type TObject, type TObjectOptions, type TProperties, type TSchema, Type } from "typebox";
import { describe } from "../edge/errors.ts";
import { type FieldError, Problem } from "../edge/problem.ts";
import type { Instant } from "../primitives/brand.ts";
import { formatTimestamp, parseTimestamp } from "../primitives/timestamp.ts";

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** An object that rejects unknown fields. */
export function strictObject<P extends TProperties>(properties: P, options?: TObjectOptions): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export const shownMember = nullable(
  Type.String({
    description:
      "The `memberId` of the request. Null if the request had none, or if the customer was erased.",
    examples: ["user_7"],
  }),
);

export const shownCustomerName = nullable(
  Type.String({
    description: "The customer's current name. Null if the customer has no name, is unknown or was erased.",
    examples: ["Acme GmbH"],
  }),
);

export const shownOverrides = nullable(
  Type.Integer({
    description:
      "The `number` of the customer's overrides that applied to the feature. Null if only the plan's terms applied.",
    examples: [2],
  }),
);

/** Input: RFC 3339 with `Z` or an offset. Output: UTC with milliseconds. */
export const timeField = Type.String({ format: "date-time", examples: ["2026-11-15T08:30:00.000Z"] });

export function timeOf(description: string, example = "2026-11-15T08:30:00.000Z") {
  return Type.String({ format: "date-time", description, examples: [example] });
}

export function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : formatTimestamp(at);
}

/** Key of a plan, feature, pool or event. */
export const keyField = Type.String({
  minLength: 1,
  maxLength: 120,
  pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$",
  examples: ["image.generate"],
});

export const planKeyField = Type.String({ ...keyField, examples: ["pro"] });
export const poolKeyField = Type.String({ ...keyField, examples: ["credits"] });

export const nameField = Type.String({ minLength: 1, maxLength: 120, examples: ["Image rendering"] });

export const actorField = Type.Object({
  kind: Type.Enum(["member", "token", "api_key", "command", "system"]),
  id: nullable(Type.String({ examples: ["3"] })),
  name: nullable(
    Type.String({
      description: "The current name. For a removed member, the name at removal.",
      examples: ["Ada Lovelace"],
    }),
  ),
});

export const createdByField = nullable({ ...actorField, description: "Null if unknown." });

/** Parses a time from a validated string field. Undefined and null are returned unchanged. */
export function readTime<T extends string | null | undefined>(
  field: string,
  text: T,
): Instant | Exclude<T, string> {
  if (typeof text !== "string") return text as Exclude<T, string>;
  const parsed = parseTimestamp(text);
  if (parsed.kind === "instant") return parsed.at;
  const message =
    parsed.kind === "no_offset" ? "has no UTC offset (append Z if it is in UTC)" : "is not an RFC 3339 time";
  throw invalidField({ field, code: "wrong_form", message });
}

export function invalidField(error: FieldError): Problem {
  return new Problem("invalid_request", { detail: describe([error]), errors: [error] });
}

const OVERLAP_SECONDS_MAX = 604_800;

/** How long an old secret stays valid after a rotation. */
export const overlapSecondsField = (description: string) =>
  Type.Integer({ minimum: 0, maximum: OVERLAP_SECONDS_MAX, description, examples: [86_400] });
