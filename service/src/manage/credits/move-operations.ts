import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { noteField } from "../../edge/request-fields.ts";
import { assertNever } from "../../primitives/assert.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "../customers/operations.ts";
import { invalidField, nullable, shownCustomerName, strictObject, timeField, timeOrNull } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { explainRefusal, referenceField } from "./add-credits.ts";
import { type MoveInput, type MoveOutcome, type MoveRefusal, moveGrant, previewMove } from "./move-grant.ts";

const NOUN = "Credits";
const access = { role: "operator", in: "environment" } as const;

const moveParams = Type.Object({
  ...customerParams.properties,
  grant: Type.String({ pattern: "^\\d{1,9}$", description: "The grant's number.", examples: ["7"] }),
});

const MoveBody = strictObject({
  to: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "The customer who receives the credits. Must exist in this environment.",
    examples: ["customer_43"],
  }),
  reference: Type.Optional(
    nullable({
      ...referenceField,
      description:
        "The reference of the new grant. Default: the original grant's reference with a suffix such as `-moved`, or null if the " +
        "original grant has no reference.",
      examples: ["pi_3MtwBwLkdIwHu7ix-moved"],
    }),
  ),
  note: Type.Optional(nullable(noteField)),
});

const creditsField = Type.Integer({ description: "Credits that moved.", examples: [380] });
const SPENT = "Credits of the grant that were spent before the move. They do not move.";
const spentField = Type.Integer({ description: SPENT, examples: [120] });
const heldField = Type.Integer({
  description:
    "Credits of the grant that open holds set aside. They do not move. When the holds end, these credits are spent or revoked.",
  examples: [0],
});
const newReference = nullable(
  Type.String({ description: "The new grant's reference.", examples: ["pi_3MtwBwLkdIwHu7ix-moved"] }),
);

const party = {
  customerId: Type.String({ examples: ["customer_42"] }),
  grant: Type.Integer({ description: "Grant number, unique per customer.", examples: [7] }),
};

const Party = Type.Object({
  ...party,
  balanceBefore: Type.Integer({ examples: [380] }),
  balanceAfter: Type.Integer({ examples: [0] }),
});

export const MovePreview = Type.Object({
  outcome: Type.Enum(["moved", "already_moved", "refused"]),
  refusal: nullable(
    Type.Object(
      {
        code: Type.String({ examples: ["nothing_to_move"] }),
        detail: Type.String({ examples: ["All credits of this grant are spent."] }),
      },
      { description: "The error that the move would return." },
    ),
  ),
  credits: creditsField,
  spent: nullable({ ...spentField, description: `${SPENT} Null if the grant has expired or was revoked.` }),
  held: heldField,
  kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
  pool: Type.String({ examples: ["credits"] }),
  granted: Type.Integer({ description: "Credits of the grant when it was created.", examples: [500] }),
  recordedAt: timeField,
  expiresAt: nullable(timeField),
  reference: newReference,
  from: Type.Object({ ...Party.properties, customerName: shownCustomerName }),
  to: Type.Object({ ...Party.properties, grant: nullable(party.grant), customerName: shownCustomerName }),
});

type MovePreview = Static<typeof MovePreview>;

/** Moves credits that were added to the wrong customer. */
export function moveOperations(parts: ManageParts): Operation[] {
  return [moving(parts), previewing(parts)];
}

function moving({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/grants/:grant/move`,
    access,
    id: "moveGrant",
    noun: NOUN,
    summary: "Move a grant to another customer",
    description:
      "Moves credits that were added to the wrong customer. In one transaction, revokes the remaining credits of the grant and adds " +
      "them to the other customer, with the same kind, pool and expiry.\n\n" +
      "- Credits that are spent or held do not move.\n" +
      "- Allowances cannot be moved.\n" +
      "- The price stays on the original grant.\n" +
      "- Safe to repeat: a grant moves only once.",
    params: moveParams,
    body: MoveBody,
    answer: Type.Object({
      outcome: Type.Enum(["moved", "already_moved"]),
      credits: creditsField,
      spent: spentField,
      held: heldField,
      reference: newReference,
      from: Party,
      to: Party,
    }),
    codes: [
      "unknown_key",
      "nothing_to_move",
      "grant_not_movable",
      "reference_reused",
      "too_many_grants",
      "balance_too_large",
    ],
    handle: async (call) => {
      const input = readMove(customerIdOf(call), call.params.grant, call.body);
      const outcome = await moveGrant(cellOf(scopeOf(call)), contextOf(call), input);
      if (!isMoved(outcome)) throw toProblem(outcome, input);
      const { kind, credits, spent, held, reference, from, to, toGrant } = outcome;
      return {
        ...{ outcome: kind, credits, spent, held, reference },
        from: { customerId: input.from, grant: input.grant, ...from },
        to: { customerId: input.to, grant: toGrant, ...to },
      };
    },
  });
}

function previewing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/grants/:grant/move/preview`,
    access,
    id: "previewMove",
    noun: NOUN,
    summary: "Preview moving a grant",
    description:
      "Returns what `move` would do with the same body. Writes nothing. The response shows the credits that would move, the credits " +
      "that are spent or held, and both balances before and after.",
    params: moveParams,
    body: MoveBody,
    answer: MovePreview,
    codes: ["unknown_key"],
    handle: async (call) => {
      const input = readMove(customerIdOf(call), call.params.grant, call.body);
      const { outcome, parties } = await previewMove(cellOf(scopeOf(call)), scopeOf(call), input);
      if (parties === null) {
        if (isMoved(outcome)) throw new Error("a move has two customers");
        throw toProblem(outcome, input);
      }
      const { grant, pool } = parties;
      const still = (balance: number) => ({ balanceBefore: balance, balanceAfter: balance });
      const moved = isMoved(outcome) ? outcome : null;
      const refusal = isMoved(outcome) ? null : toProblem(outcome, input);
      return {
        outcome: moved?.kind ?? ("refused" as const),
        refusal: refusal === null ? null : { code: refusal.code, detail: refusal.details.detail },
        ...countLeft(outcome, grant.credits),
        ...{ kind: grant.kind, pool, granted: grant.credits, reference: moved?.reference ?? null },
        ...{ recordedAt: formatTimestamp(grant.recordedAt), expiresAt: timeOrNull(grant.expiresAt) },
        from: {
          ...{ customerId: input.from, grant: input.grant, customerName: parties.from.name },
          ...(moved?.from ?? still(parties.from.balance)),
        },
        to: {
          ...{ customerId: input.to, grant: moved?.toGrant ?? null, customerName: parties.to.name },
          ...(moved?.to ?? still(parties.to.balance)),
        },
      };
    },
  });
}

function readMove(from: CustomerId, grant: string, body: Static<typeof MoveBody>): MoveInput {
  const { to, reference = null, note = null } = body;
  if (to === from) throw invalidField({ field: "to", code: "invalid", message: "must be another customer" });
  return { from, grant: Number(grant), to: brandAs<CustomerId>(to), reference, note };
}

function isMoved(outcome: MoveOutcome): outcome is Exclude<MoveOutcome, MoveRefusal> {
  return outcome.kind === "moved" || outcome.kind === "already_moved";
}

function countLeft(outcome: MoveOutcome, granted: number): Pick<MovePreview, "credits" | "spent" | "held"> {
  if (isMoved(outcome)) return { credits: outcome.credits, spent: outcome.spent, held: outcome.held };
  if (outcome.kind !== "nothing_left" || !("spent" in outcome)) return { credits: 0, spent: null, held: 0 };
  return { credits: 0, spent: granted - outcome.held, held: outcome.held };
}

/** Explains why a grant cannot be moved. The move and the preview share this function. */
function toProblem(outcome: MoveRefusal, { to }: MoveInput): Problem {
  switch (outcome.kind) {
    case "customer_not_found":
      return customerNotFound();
    case "grant_not_found":
      return new Problem("not_found", { detail: "This customer has no such grant." });
    case "to_not_found":
      return new Problem("unknown_key", { detail: `There is no customer \`${to}\` in this environment.` });
    case "allowance":
      return new Problem("grant_not_movable", {
        detail: "Allowances belong to the customer's plan and cannot be moved to another customer.",
      });
    case "moved_elsewhere": {
      const whom = outcome.to === null ? "a customer who was erased" : `customer \`${outcome.to}\``;
      const extra = outcome.to === null ? {} : { extra: { movedTo: outcome.to } };
      return new Problem("nothing_to_move", { detail: `This grant was already moved to ${whom}.`, ...extra });
    }
    case "nothing_left":
      return new Problem("nothing_to_move", { detail: NOTHING_LEFT[outcome.why] });
    case "reference_reused":
      return new Problem("reference_reused", {
        detail: `The reference \`${outcome.reference}\` is already used. Send another \`reference\` for the new grant.`,
      });
    case "expires_in_the_past":
      return new Problem("nothing_to_move", { detail: NOTHING_LEFT.expired });
    case "too_many_grants":
    case "balance_too_large": {
      const { code, detail } = explainRefusal(outcome.kind);
      return new Problem(code, { detail });
    }
    default:
      return assertNever(outcome);
  }
}

const NOTHING_LEFT = {
  spent: "All credits of this grant are spent. Nothing is left to move.",
  held: "The remaining credits of this grant are held. They can move after the hold is released.",
  expired: "The credits of this grant have expired. Nothing is left to move.",
  revoked: "This grant was revoked. Nothing is left to move.",
} as const;
