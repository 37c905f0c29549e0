import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { keyField, nullable, readTime } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type AssignPlanOutcome, assignPlan } from "./assign-plan.ts";
import { blockCustomer } from "./block-customer.ts";
import { Customer } from "./describe-customer.ts";
import { endPlan } from "./end-plan.ts";
import { eraseCustomer } from "./erase-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readOrNotFound,
} from "./operations.ts";

const NOUN = "Customers";
const access = { role: "operator", in: "environment" } as const;

const asOfField = Type.String({
  format: "date-time",
  description:
    "When the billing event happened that this call is about. The latest is kept: a call with an older one answers `unchanged`, " +
    "so that events may arrive in any order. Of the same time a cancellation wins: once a call has ended or shortened the plan, " +
    "one with the same `asOf` that starts or extends it answers `unchanged`. Calls without it always count.",
  examples: ["2026-11-15T08:30:00Z"],
});

const AssignmentBody = Type.Object(
  {
    plan: keyField,
    anchor: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description:
            "Where periods are counted from; by default now. Fixed once the plan runs: another one is 409 `anchor_fixed`.",
          examples: ["2026-11-15T00:00:00Z"],
        }),
      ),
    ),
    endsAt: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description:
            "Null: no end. Left out: an end that is already set stays. Earlier than that: 409 `would_shorten`, unless `shorten`.",
          examples: ["2026-12-15T00:00:00Z"],
        }),
      ),
    ),
    shorten: Type.Optional(
      Type.Boolean({
        description:
          "Allows an earlier `endsAt` on the active plan. To cancel at the period's end, send both.",
      }),
    ),
    asOf: Type.Optional(nullable(asOfField)),
  },
  { additionalProperties: false },
);

/** What is done to a customer, but for credits. */
export function customerVerbOperations(parts: ManageParts): Operation[] {
  return [assigning(parts), ending(parts), blocking(parts), erasing(parts)];
}

function assigning({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/plan`,
    access,
    id: "assignPlan",
    noun: NOUN,
    summary: "Assign a plan",
    description:
      "Safe to repeat: the plan that is active already goes on. A later `endsAt` extends it, an earlier one ends it earlier if " +
      "`shorten` is true, and is refused otherwise. Another plan starts now; what is left of the old allowance ends, and " +
      "purchased credits stay. A customer who does not exist is created.",
    params: customerParams,
    body: AssignmentBody,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: ["unknown_key", "ends_in_the_past", "timestamp_out_of_range", "would_shorten", "anchor_fixed"],
    handle: async (call) => {
      const { plan, anchor, endsAt, shorten = false, asOf } = call.body;
      const outcome = await assignPlan(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        plan,
        anchor: readTime("anchor", anchor) ?? null,
        endsAt: readTime("endsAt", endsAt),
        shorten,
        asOf: readTime("asOf", asOf) ?? null,
      });
      if (outcome.kind !== "changed" && outcome.kind !== "unchanged") throw refuseAssignment(outcome, plan);
      return { outcome: outcome.kind, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

function refuseAssignment(
  outcome: Exclude<AssignPlanOutcome, { kind: "changed" } | { kind: "unchanged" }>,
  plan: string,
): Problem {
  switch (outcome.kind) {
    case "plan_not_found":
      return new Problem("unknown_key", { detail: `There is no plan \`${plan}\` in this environment.` });
    case "plan_archived":
      return new Problem("unknown_key", {
        detail: `The plan \`${plan}\` is archived, and no longer assigned.`,
      });
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", { detail: "`endsAt` must lie in the future." });
    case "as_of_out_of_range":
      return asOfOutOfRange();
    case "would_shorten": {
      const end = outcome.endsAt === null ? "has no end" : `ends at ${formatTimestamp(outcome.endsAt)}`;
      return new Problem("would_shorten", {
        detail: `The plan \`${plan}\` ${end}. To end it earlier, send \`shorten: true\`.`,
        extra: outcome.endsAt === null ? {} : { endsAt: formatTimestamp(outcome.endsAt) },
      });
    }
    case "anchor_fixed": {
      const anchor = formatTimestamp(outcome.anchor);
      return new Problem("anchor_fixed", {
        detail: `The periods of the plan \`${plan}\` are counted from ${anchor}. Leave \`anchor\` out to keep it.`,
        extra: { anchor },
      });
    }
    default:
      return assertNever(outcome);
  }
}

function asOfOutOfRange(): Problem {
  return new Problem("timestamp_out_of_range", { detail: "`asOf` must not lie more than 5 minutes ahead." });
}

function ending({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: `${CUSTOMER_PATH}/plan`,
    access,
    id: "endPlan",
    noun: NOUN,
    summary: "End a customer's plan",
    description:
      "Now, and safe to repeat. What is left of the allowance ends, purchased credits stay, and the environment's default plan " +
      "takes over if there is one. With `asOf`, a customer who does not exist is created to keep it, and the outcome is " +
      "`no_assignment`: an older billing event that arrives later then gives no plan.",
    params: customerParams,
    query: Type.Object({ asOf: Type.Optional(asOfField) }, { additionalProperties: false }),
    answer: Type.Object({ outcome: Type.Enum(["ended", "no_assignment", "unchanged"]), customer: Customer }),
    codes: ["timestamp_out_of_range"],
    handle: async (call) => {
      const { kind: outcome } = await endPlan(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        asOf: readTime("asOf", call.query.asOf) ?? null,
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      if (outcome === "as_of_out_of_range") throw asOfOutOfRange();
      return { outcome, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

function blocking({ cellOf }: ManageParts): Operation {
  return operation({
    method: "PUT",
    path: `${CUSTOMER_PATH}/block`,
    access,
    id: "blockCustomer",
    noun: NOUN,
    summary: "Block or unblock a customer",
    description:
      "Who is blocked is denied everything from the next request on, and keeps all that is theirs.",
    params: customerParams,
    body: Type.Object({ blocked: Type.Boolean({ examples: [true] }) }, { additionalProperties: false }),
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: [],
    handle: async (call) => {
      const { kind: outcome } = await blockCustomer(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        isBlocked: call.body.blocked,
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

function erasing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: CUSTOMER_PATH,
    access: { role: "admin", in: "environment" },
    id: "eraseCustomer",
    noun: NOUN,
    summary: "Erase a customer",
    description:
      "Permanently erases the id, name, email, billing reference and metadata, the metadata of all charges, denials and events, notes " +
      "and references of credits, and the text of idempotency keys. Amounts stay, under a number that identifies no person. The id is " +
      "free at once: later requests under it belong to a new customer. If the customer has usage events, all idempotency keys are " +
      "searched, which can take minutes. If the call fails or its answer is lost, repeat it: it resumes.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["erased"]) }),
    codes: [],
    handle: async (call) => {
      const { kind: outcome } = await eraseCustomer(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome };
    },
  });
}
