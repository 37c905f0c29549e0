import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { PlanTime } from "../../entitlement/assign-plan.ts";
import { assertNever } from "../../primitives/assert.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { archivedPlan, unassignablePlan } from "../catalog/problems.ts";
import { invalidField, nullable, planKeyField, readTime, strictObject, timeOf } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type AssignPlanOutcome, assignPlan, dropNextPlan, endPlan } from "./assign-plan.ts";
import { Customer } from "./describe-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readOrNotFound,
} from "./operations.ts";

const NOUN = "Customers";
const access = { role: "operator", in: "environment" } as const;

const asOfField = timeOf(
  "Time of the billing event that caused this call. Events may arrive in any order: a call with an older `asOf` than the latest one " +
    "returns `unchanged`. If times are equal, a cancellation wins: after a call has ended or shortened the plan, a call with the " +
    "same `asOf` that starts or extends it returns `unchanged`. An `endsAt` or `startsAt` that has passed since `asOf` ends or " +
    "starts the plan now. Calls without `asOf` always apply.",
  "2026-11-15T08:30:00Z",
);

const PERIOD_END = "period_end";

function planTimeOf(description: string) {
  const time = timeOf("A time.", "2026-12-15T00:00:00Z");
  return Type.Optional(Type.Union([time, Type.Literal(PERIOD_END), Type.Null()], { description }));
}

const AssignmentBody = strictObject({
  plan: planKeyField,
  anchor: Type.Optional(
    nullable(
      timeOf(
        "Start of the periods. Default: the start of the plan. Fixed while the plan is active: another value returns 409 `anchor_fixed`.",
        "2026-11-15T00:00:00Z",
      ),
    ),
  ),
  startsAt: planTimeOf(
    "Default: now. A plan that starts in the future is the pending change: it replaces an earlier one, and the current plan " +
      "continues until then. `period_end` is the end of the current period of the active plan's longest allowance, or of that plan " +
      "if it ends sooner; if the new plan renews then too, its `anchor` is that of the current plan. A time in the past means now, " +
      "with periods counted from it. With `asOf`, send a time.",
  ),
  endsAt: planTimeOf(
    "Null for no end. If omitted, the current end is kept, and a scheduled plan has no end. An end earlier than the current one " +
      "returns 409 `would_shorten`, unless `shorten` is true. `period_end` is the end of the current period of the longest " +
      "allowance, or the current end if that is sooner; the customer must have the plan. With `asOf`, send a time.",
  ),
  shorten: Type.Optional(
    Type.Boolean({
      description:
        "Allows an earlier `endsAt` for the active plan. To cancel at the end of the period, send it with `endsAt: period_end`.",
    }),
  ),
  asOf: Type.Optional(nullable(asOfField)),
});

/** Assigns and ends plans, and drops pending changes. */
export function customerPlanOperations(parts: ManageParts): Operation[] {
  return [assigning(parts), ending(parts), dropping(parts)];
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
      "Safe to repeat: an active plan continues. A later `endsAt` extends it; an earlier one needs `shorten` and is rejected " +
      "otherwise. Another plan starts now, or at `startsAt`: the rest of the old allowance expires then, and purchased credits " +
      "are kept. A customer has at most one pending change; a call that changes the current plan drops it, and so does a newer " +
      "`asOf`. Assigning the current plan again keeps it. Creates the customer if it does not exist.",
    params: customerParams,
    body: AssignmentBody,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: [
      "unknown_key",
      "no_running_period",
      "ends_in_the_past",
      "timestamp_out_of_range",
      "would_shorten",
      "anchor_fixed",
      "upgrade_unfinished",
    ],
    handle: async (call) => {
      const { plan, anchor, startsAt, endsAt, shorten = false, asOf } = call.body;
      if (asOf != null) refusePeriodEnd({ startsAt, endsAt });
      const cell = cellOf(scopeOf(call).cell);
      const outcome = await assignPlan(cell, contextOf(call), {
        customerId: customerIdOf(call),
        plan,
        anchor: readTime("anchor", anchor) ?? null,
        startsAt: readPlanTime("startsAt", startsAt) ?? null,
        endsAt: readPlanTime("endsAt", endsAt),
        shorten,
        asOf: readTime("asOf", asOf) ?? null,
      });
      if (outcome.kind === "plan_not_found")
        throw await unassignablePlan(cell, scopeOf(call).environmentId, plan);
      if (outcome.kind !== "changed" && outcome.kind !== "unchanged") throw refuseAssignment(outcome, plan);
      return { outcome: outcome.kind, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

/** Rejects `period_end` for a billing event, which may arrive in a later period. The billing system can send the exact time. */
function refusePeriodEnd(times: Readonly<Record<string, string | null | undefined>>): void {
  const field = Object.keys(times).find((name) => times[name] === PERIOD_END);
  if (field === undefined) return;
  const message = "cannot be `period_end` together with `asOf`: send the time that the billing system shows";
  throw invalidField({ field, code: "wrong_form", message });
}

function readPlanTime<T extends string | null | undefined>(
  field: string,
  text: T,
): PlanTime | Exclude<T, string> {
  return text === PERIOD_END ? PERIOD_END : readTime(field, text);
}

function refuseAssignment(
  outcome: Exclude<AssignPlanOutcome, { kind: "changed" | "unchanged" | "plan_not_found" }>,
  plan: string,
): Problem {
  switch (outcome.kind) {
    case "plan_archived":
      return archivedPlan(plan);
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", {
        detail: "`endsAt` must be in the future, and after `startsAt`.",
      });
    case "no_running_period":
      return new Problem("no_running_period", {
        detail:
          "`period_end` needs a plan with an allowance that renews. With `startsAt`, this is the current plan; with `endsAt`, the plan you name.",
      });
    case "as_of_out_of_range":
      return asOfOutOfRange();
    case "would_shorten": {
      const end = outcome.endsAt === null ? "has no end" : `ends at ${formatTimestamp(outcome.endsAt)}`;
      return new Problem("would_shorten", {
        detail: `The \`${plan}\` plan ${end}. To end it earlier, send \`shorten: true\`.`,
        extra: outcome.endsAt === null ? {} : { endsAt: formatTimestamp(outcome.endsAt) },
      });
    }
    case "anchor_fixed": {
      const anchor = formatTimestamp(outcome.anchor);
      return new Problem("anchor_fixed", {
        detail: `The periods of the \`${plan}\` plan start at ${anchor}. Omit \`anchor\` to keep it.`,
        extra: { anchor },
      });
    }
    default:
      return assertNever(outcome);
  }
}

function asOfOutOfRange(): Problem {
  return new Problem("timestamp_out_of_range", {
    detail: "`asOf` must not be more than 5 minutes in the future.",
  });
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
      "Ends the plan now, and drops the pending change. Safe to repeat. The rest of the allowance expires, purchased credits are " +
      "kept, and the environment's default plan takes over if there is one. With `asOf`, a missing customer is created to store " +
      "it, and the outcome is `no_assignment`: an older billing event that arrives later then assigns no plan.",
    params: customerParams,
    query: strictObject({ asOf: Type.Optional(asOfField) }),
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

function dropping({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: `${CUSTOMER_PATH}/plan/next`,
    access,
    id: "dropNextPlan",
    noun: NOUN,
    summary: "Drop a pending plan change",
    description: "The current plan does not change. Safe to repeat.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    handle: async (call) => {
      const { kind: outcome } = await dropNextPlan(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readOrNotFound(cellOf, call) };
    },
  });
}
