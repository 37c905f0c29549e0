import { type Static, Type } from "typebox";
import { HoldView } from "../../edge/hold-fields.ts";
import { Problem } from "../../edge/problem.ts";
import { viewHolds } from "../../entitlement/view-hold.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { HOLD_NUMBER_MAX } from "../../primitives/hold-id.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { listHoldRecords } from "../../store/cell/hold-list.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "../customers/operations.ts";
import { strictObject } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import { pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { releaseHold } from "./release-hold.ts";

const NOUN = "Holds";
const holdParam = Type.String({
  maxLength: 64,
  description: "The hold's ID.",
  examples: ["hld_06fd5n0r000000000a00000001"],
});

/** Lists a customer's holds, and lets operators release them. */
export function holdOperations(parts: ManageParts): Operation[] {
  return [listing(parts), releasing(parts)];
}

function listing({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/holds`,
    access: { role: "viewer", in: "environment" },
    id: "listCustomerHolds",
    noun: NOUN,
    summary: "List a customer's holds",
    description:
      "A hold sets aside credits for work whose cost is not known yet. Holds are listed newest first, with their outcome. Holds opened " +
      "before the start of the workspace's history window are listed only while they are open.",
    params: customerParams,
    query: strictObject({
      ...pageQuery,
      status: Type.Optional(Type.Enum(["open"], { description: "Only open holds." })),
    }),
    answer: Type.Object({ ...pageOf(HoldView).properties, ...windowAnswer }),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { status, cursor, limit } = call.query;
      const since = await historyStartOf(control, call);
      const page = {
        before: readIdCursor(cursor) ?? HOLD_NUMBER_MAX,
        limit: readLimit(limit),
        isOpen: status === "open",
        since,
      };
      const found = await listHolds(cellOf(scopeOf(call)), environmentId, customerIdOf(call), page);
      if (found === null) throw customerNotFound();
      return { ...toPage(found.holds, found.next), ...describeWindow(since) };
    },
  });
}

type Page = {
  readonly before: number;
  readonly limit: number;
  readonly isOpen: boolean;
  readonly since: Instant | null;
};

type Found = { readonly holds: Static<typeof HoldView>[]; readonly next: number | null };

/** Lists a customer's holds, newest first. Null if the customer does not exist. */
function listHolds(
  cell: Pool,
  environmentId: EnvironmentId,
  customerId: CustomerId,
  { before, limit, isOpen, since }: Page,
): Promise<Found | null> {
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const { customerNumber } = customer;
    // A forged cursor must not exceed the column's range.
    const start = Math.max(1, Math.min(before, HOLD_NUMBER_MAX));
    const name = { environmentId, customerNumber };
    const records = await listHoldRecords(tx, name, { before: start, limit: limit + 1, isOpen });
    const shown = records.slice(0, limit);
    const catalog = await loadCatalog(tx, environmentId);
    const now = await readClock(tx);
    const holds = viewHolds(shown, { catalog, customerNumber, now, since });
    return { holds, next: records.length > limit ? (shown.at(-1)?.hold.number ?? null) : null };
  });
}

const DETAILS = {
  hold_not_found: "This customer has no hold with this ID.",
  hold_settled: "The hold is already settled. Nothing was changed.",
  hold_released: "The hold is already released. Nothing was changed.",
  hold_expired: "The hold has expired. Nothing was changed.",
} as const;

function releasing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/holds/:holdId/release`,
    access: { role: "operator", in: "environment" },
    id: "releaseCustomerHold",
    noun: NOUN,
    summary: "Release a hold manually",
    description:
      "Frees the credits and overage of an open hold, for example after the process that opened the hold has crashed. A later attempt " +
      "to settle the hold is rejected with `hold_released`, so the work is not charged.",
    params: Type.Object({ ...customerParams.properties, holdId: holdParam }),
    body: strictObject({}),
    answer: Type.Object({
      outcome: Type.Enum(["released"]),
      credits: Type.Integer({ description: "Credits that the hold had set aside.", examples: [20] }),
      overageCredits: Type.Integer({ description: "Overage that the hold had set aside.", examples: [0] }),
    }),
    codes: ["hold_not_found", "hold_settled", "hold_released", "hold_expired"],
    handle: async (call) => {
      const { holdId } = call.params;
      const outcome = await releaseHold(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        holdId,
      });
      if (outcome.kind === "released") {
        const { kind, credits, overageCredits } = outcome;
        return { outcome: kind, credits, overageCredits };
      }
      if (outcome.kind === "customer_not_found") throw customerNotFound();
      throw new Problem(outcome.kind, { detail: DETAILS[outcome.kind] });
    },
  });
}
