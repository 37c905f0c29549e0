import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { blockWallet } from "../../store/cell/wallets.ts";
import { archivedPlan, unassignablePlan } from "../catalog/problems.ts";
import type { Context } from "../context.ts";
import { nullable, planKeyField, readTime, strictObject, timeOf } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { walletTransaction } from "../wallet-transaction.ts";
import { type AssignPlanOutcome, assignPlan, endPlan } from "./assign-plan.ts";
import { Customer } from "./describe-customer.ts";
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

const asOfField = timeOf(
  "Time of the billing event behind this call. Events may arrive in any order: a call with an older `asOf` than the latest one " +
    "returns `unchanged`. If times are equal, a cancellation wins: after a call has ended or shortened the plan, a call with the " +
    "same `asOf` that starts or extends it returns `unchanged`. Calls without `asOf` always apply.",
  "2026-11-15T08:30:00Z",
);

const AssignmentBody = strictObject({
  plan: planKeyField,
  anchor: Type.Optional(
    nullable(
      timeOf(
        "Start of the periods. Default: now. Fixed while the plan runs: another value returns 409 `anchor_fixed`.",
        "2026-11-15T00:00:00Z",
      ),
    ),
  ),
  endsAt: Type.Optional(
    nullable(
      timeOf(
        "Null for no end. If omitted, the current end stays. An end earlier than the current one returns 409 `would_shorten`, unless `shorten`.",
        "2026-12-15T00:00:00Z",
      ),
    ),
  ),
  shorten: Type.Optional(
    Type.Boolean({
      description:
        "Allows an earlier `endsAt` for the active plan. To cancel at the end of the period, send both.",
    }),
  ),
  asOf: Type.Optional(nullable(asOfField)),
});

/** Assigns and ends plans, and blocks and erases customers. */
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
      "Safe to repeat: an active plan continues. A later `endsAt` extends it; an earlier one needs `shorten` and is rejected " +
      "otherwise. Another plan starts now: the rest of the old allowance expires, and purchased credits stay. Creates the customer " +
      "if it does not exist.",
    params: customerParams,
    body: AssignmentBody,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: ["unknown_key", "ends_in_the_past", "timestamp_out_of_range", "would_shorten", "anchor_fixed"],
    handle: async (call) => {
      const { plan, anchor, endsAt, shorten = false, asOf } = call.body;
      const cell = cellOf(scopeOf(call).cell);
      const outcome = await assignPlan(cell, contextOf(call), {
        customerId: customerIdOf(call),
        plan,
        anchor: readTime("anchor", anchor) ?? null,
        endsAt: readTime("endsAt", endsAt),
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

function refuseAssignment(
  outcome: Exclude<AssignPlanOutcome, { kind: "changed" | "unchanged" | "plan_not_found" }>,
  plan: string,
): Problem {
  switch (outcome.kind) {
    case "plan_archived":
      return archivedPlan(plan);
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", { detail: "`endsAt` must be in the future." });
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
        detail: `The periods of the plan \`${plan}\` start at ${anchor}. Omit \`anchor\` to keep it.`,
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
      "Ends the plan now. Safe to repeat. The rest of the allowance expires, purchased credits stay, and the environment's default " +
      "plan takes over if there is one. With `asOf`, a missing customer is created to store it, and the outcome is " +
      "`no_assignment`: an older billing event that arrives later then assigns no plan.",
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

function blocking({ cellOf }: ManageParts): Operation {
  return operation({
    method: "PUT",
    path: `${CUSTOMER_PATH}/block`,
    access,
    id: "blockCustomer",
    noun: NOUN,
    summary: "Block or unblock a customer",
    description:
      "A blocked customer is denied everything from the next request on, but keeps plan and credits.",
    params: customerParams,
    body: strictObject({ blocked: Type.Boolean({ examples: [true] }) }),
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
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
      "Permanently erases the ID, name, email, billing reference and metadata, the metadata of all charges, denials and events, notes " +
      "and references on credits, and the text of idempotency keys. Amounts stay, under a number that identifies no person. The ID is " +
      "free immediately: later requests under it belong to a new customer. If the customer has usage events, all idempotency keys are " +
      "searched, which can take minutes. If the call is interrupted, Purser finishes the erasure within minutes.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["erased"]) }),
    handle: async (call) => {
      const { kind: outcome } = await eraseCustomer(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome };
    },
  });
}

type BlockOutcome = { kind: "changed" | "unchanged" | "customer_not_found" };

/** A blocked customer is denied everything but keeps plan and credits. */
export function blockCustomer(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId; readonly isBlocked: boolean },
): Promise<BlockOutcome> {
  return walletTransaction<BlockOutcome>(cell, context, input.customerId, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open === null) return { kind: "customer_not_found" };
    const { isBlocked } = open.wallet;
    if (isBlocked === input.isBlocked) return { kind: "unchanged" };
    await blockWallet(tx, open, input.isBlocked);
    const audit = {
      action: input.isBlocked ? "customer.blocked" : "customer.unblocked",
      subject: "customer",
      before: { isBlocked },
      after: { isBlocked: input.isBlocked },
    };
    await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
    return { kind: "changed" };
  });
}
