import { type Static, Type } from "typebox";
import type { ProblemCode } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { priceField } from "../customers/list-grants.ts";
import { keyField, nullable, readTime, strictObject, timeOf } from "../fields.ts";
import type { AddCreditsInput, AddCreditsOutcome } from "./add-credits.ts";

/** `erased:` and a hash replaces an erased reference, so callers cannot use that prefix. */
export const referenceField = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^(?!erased:)",
  description:
    "Makes the call safe to repeat, for example a payment id. It identifies one grant of the environment permanently: the same " +
    "reference again adds nothing, even with another expiry or price.",
  examples: ["pi_3MtwBwLkdIwHu7ix"],
});

export const noteField = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: "Shown in the dashboard.",
  examples: ["For the outage of 3 November"],
});

export const CreditsBody = strictObject({
  credits: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [500] }),
  kind: Type.Enum(["purchase", "manual", "promotion"], {
    description: "Of credits with the same expiry, free ones are spent before purchased ones.",
  }),
  pool: Type.Optional(keyField),
  expiresAt: Type.Optional(
    nullable(timeOf("Omitted or null: the credits never expire.", "2027-11-15T00:00:00Z")),
  ),
  reference: Type.Optional(nullable(referenceField)),
  price: Type.Optional(nullable(priceField)),
  note: Type.Optional(nullable(noteField)),
});

/** Default pool of every environment. */
const POOL = "credits";

export function readCredits(customerId: CustomerId, body: Static<typeof CreditsBody>): AddCreditsInput {
  const { credits, kind, pool, expiresAt, reference, price, note } = body;
  return {
    customerId,
    credits,
    kind,
    pool: pool ?? POOL,
    expiresAt: readTime("expiresAt", expiresAt) ?? null,
    reference: reference ?? null,
    price: price == null ? null : { ...price, currency: price.currency.toUpperCase() },
    note: note ?? null,
  };
}

export type CreditsRefusal = { readonly code: ProblemCode; readonly detail: string };

export const BALANCE_TOO_LARGE = {
  code: "balance_too_large",
  detail: "The balance would exceed the largest supported number.",
} as const satisfies CreditsRefusal;

/** Why credits cannot be added. Shared by the call and its preview. */
export function explainRefusal(
  kind: Exclude<AddCreditsOutcome["kind"], "added" | "already_added">,
  { pool }: AddCreditsInput,
): CreditsRefusal {
  switch (kind) {
    case "pool_not_found":
      return { code: "unknown_key", detail: `There is no pool \`${pool}\` in this environment.` };
    case "expires_in_the_past":
      return { code: "ends_in_the_past", detail: "`expiresAt` must be in the future." };
    case "reference_reused":
      return {
        code: "reference_reused",
        detail: "This reference was used for another customer, amount, kind or pool. Nothing was added.",
      };
    case "too_many_grants":
      return {
        code: "too_many_grants",
        detail:
          "The customer has 50 open grants. Only credits with the kind and expiry of an open grant can be added.",
      };
    case "balance_too_large":
      return BALANCE_TOO_LARGE;
    default:
      return assertNever(kind);
  }
}
