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
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams, readChanged } from "./operations.ts";

const NOUN = "Customers";
const access = { role: "operator", in: "environment" } as const;

const asOfField = timeOf(
  "Time of the billing event that caused this call. With `asOf`, events can arrive in any order:\n\n" +
    "- If a newer event was already applied, the call returns `unchanged`.\n" +
    "- If two events have the same time, a cancellation takes precedence. After a call has ended or shortened the plan, a call with " +
    "the same `asOf` that starts or extends the plan returns `unchanged`.\n" +
    "- If `endsAt` or `startsAt` has passed when the event arrives, the plan ends or starts immediately.\n\n" +
    "Calls without `asOf` always apply.",
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
        "Time from which periods are counted. Default: the start of the plan. While the plan is active, a different value returns " +
          "409 `anchor_fixed`.",
        "2026-11-15T00:00:00Z",
      ),
    ),
  ),
  startsAt: planTimeOf(
    "Default: now.\n\n" +
      "- A time in the future schedules the plan as the pending change, which replaces any earlier pending change. The current plan " +
      "continues until that time.\n" +
      "- A time in the past starts the plan now, with periods counted from that time.\n" +
      "- `period_end` is the customer's `plan.periodEndsAt`. If the new plan would also renew at that time, the new plan keeps the " +
      "current `anchor`. With `asOf`, send a time instead.",
  ),
  endsAt: planTimeOf(
    "End date of the plan.\n\n" +
      "- Null: no end date.\n" +
      "- Omitted: an active plan keeps its end date, and a scheduled plan gets none.\n" +
      "- A time before the current end date returns 409 `would_shorten`, unless `shorten` is true.\n" +
      "- `period_end` is the customer's `plan.periodEndsAt`. The customer must already have the plan. With `asOf`, send a time instead.",
  ),
  shorten: Type.Optional(
    Type.Boolean({
      description:
        "Allows an earlier `endsAt` for the active plan. To cancel at the end of the period, also send `endsAt: period_end`.",
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
      "Starts the plan now or at `startsAt`. Creates the customer if it does not exist. Safe to repeat.\n\n" +
      "- If the customer already has the plan, the plan continues. A later `endsAt` extends the plan. An earlier `endsAt` requires " +
      "`shorten`.\n" +
      "- When another plan starts, the remaining allowance of the old plan expires. Purchased credits are kept.\n" +
      "- A customer has at most one pending change. A call that changes the current plan drops the pending change. A call that matches " +
      "the current plan keeps the pending change, unless the call has a newer `asOf`.",
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
      const cell = cellOf(scopeOf(call));
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
      return { outcome: outcome.kind, customer: await readChanged(cellOf, call) };
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
          "`period_end` needs a plan with an allowance that renews. With `startsAt`, this is the current plan; with `endsAt`, the plan " +
          "you name.",
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
      "Ends the plan now and drops the pending change. The remaining allowance expires, and purchased credits are kept. If the " +
      "environment has a default plan, the customer moves to the default plan. Safe to repeat.\n\n" +
      "If you send `asOf` and the customer does not exist, Purser creates the customer to store the time, and the outcome is " +
      "`no_assignment`. An older billing event that arrives later then does not assign a plan.",
    params: customerParams,
    query: strictObject({ asOf: Type.Optional(asOfField) }),
    answer: Type.Object({ outcome: Type.Enum(["ended", "no_assignment", "unchanged"]), customer: Customer }),
    codes: ["timestamp_out_of_range"],
    handle: async (call) => {
      const { kind: outcome } = await endPlan(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        asOf: readTime("asOf", call.query.asOf) ?? null,
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      if (outcome === "as_of_out_of_range") throw asOfOutOfRange();
      return { outcome, customer: await readChanged(cellOf, call) };
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
      const { kind: outcome } = await dropNextPlan(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readChanged(cellOf, call) };
    },
  });
}
