import { type Static, Type } from "typebox";
import type { ProblemCode } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { priceField } from "../customers/list-grants.ts";
import { keyField, nullable, readTime } from "../fields.ts";
import type { AddCreditsInput, AddCreditsOutcome } from "./add-credits.ts";

/** Of a payment, or of whatever else a caller wants done once. One that was erased is kept as `erased:` and its hash. */
export const referenceField = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^(?!erased:)",
  description:
    "A payment's id, say. The same one again adds nothing, whatever expiry or price comes with it: it names one grant of the environment, for ever.",
  examples: ["pi_3MtwBwLkdIwHu7ix"],
});

export const noteField = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: "For people.",
  examples: ["For the outage of 3 November"],
});

export const CreditsBody = Type.Object(
  {
    credits: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [500] }),
    kind: Type.Enum(["purchase", "manual", "promotion"], {
      description: "Given before bought: of credits that expire together, purchased ones are spent last.",
    }),
    pool: Type.Optional(keyField),
    expiresAt: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description: "Usable before this moment. Left out or null: for ever.",
          examples: ["2027-11-15T00:00:00Z"],
        }),
      ),
    ),
    reference: Type.Optional(nullable(referenceField)),
    price: Type.Optional(nullable(priceField)),
    note: Type.Optional(nullable(noteField)),
  },
  { additionalProperties: false },
);

/** An environment starts with it, and most never need another. */
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

/** Also of a reversal. */
export const BALANCE_TOO_LARGE = {
  code: "balance_too_large",
  detail: "The balance would become larger than can be counted.",
} as const satisfies CreditsRefusal;

/** Why credits are not added, for the one who tries as for the one who asks beforehand. */
export function explainRefusal(
  kind: Exclude<AddCreditsOutcome["kind"], "added" | "already_added">,
  { pool }: AddCreditsInput,
): CreditsRefusal {
  switch (kind) {
    case "pool_not_found":
      return { code: "unknown_key", detail: `There is no pool \`${pool}\` in this environment.` };
    case "expires_in_the_past":
      return { code: "ends_in_the_past", detail: "`expiresAt` must lie in the future." };
    case "reference_reused":
      return {
        code: "reference_reused",
        detail: "This reference was used for another customer, amount, kind or pool. Nothing was added.",
      };
    case "too_many_grants":
      return {
        code: "too_many_grants",
        detail:
          "The customer has 50 open grants. Credits of a kind and expiry that one of them has are added to it; others must wait.",
      };
    case "balance_too_large":
      return BALANCE_TOO_LARGE;
    default:
      return assertNever(kind);
  }
}
