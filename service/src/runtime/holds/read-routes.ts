import { Problem } from "../../edge/problem.ts";
import { viewHolds } from "../../entitlement/view-hold.ts";
import type { Pool } from "../../postgres/pool.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type CustomerNumber } from "../../primitives/brand.ts";
import { HOLD_NUMBER_MAX, nameHold, parseHoldId } from "../../primitives/hold-id.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomers, findLiveCustomerId } from "../../store/cell/customers.ts";
import { findHoldRecord, type HoldRecord, listHoldRecords } from "../../store/cell/hold-list.ts";
import { checkTexts, refuseIfAny } from "../read-fields.ts";
import { type Answer, toProblem } from "../reply.ts";
import { type Caller, runtimeRoute } from "../runtime-route.ts";
import { customerParams, HoldPage, holdParams, holdsQuery, ShownHold } from "./schema.ts";

type CellOf = (caller: Pick<Caller, "cell" | "projectId">) => Pool;

const LIMIT_DEFAULT = 50;
const DAY_MS = 86_400_000;

/** Returns a hold, and how it ended. */
export function readHoldRoute(cellOf: CellOf) {
  return runtimeRoute({
    path: "/v1/holds/{holdId}",
    scope: "consume",
    operationId: "readHold",
    summary: "Read a hold",
    description: "Returns what the hold sets aside, and how it ended.",
    params: holdParams,
    answer: { description: "The hold.", ...ShownHold },
    codes: ["hold_not_found"],
    handle: ({ key }, { params: { holdId } }) =>
      read(cellOf, key, async (tx) => {
        const { environmentId } = key;
        const id = parseHoldId(holdId);
        if (id === null) throw toProblem({ kind: "hold_not_found" });
        const { customerNumber } = id;
        const customerId = await findLiveCustomerId(tx, { environmentId, customerNumber });
        const record = await findHoldRecord(tx, { environmentId, ...id });
        if (customerId === null || record?.hold.openedAt !== id.openedAt)
          throw toProblem({ kind: "hold_not_found" });
        const [view] = await viewShown(tx, key, { customerNumber, records: [record] });
        if (view === undefined) throw toProblem({ kind: "hold_not_found" });
        return { ...view, customerId };
      }),
  });
}

/** A customer's holds, newest first. */
export function listHoldsRoute(cellOf: CellOf) {
  return runtimeRoute({
    path: "/v1/customers/{customerId}/holds",
    scope: "consume",
    operationId: "listHolds",
    summary: "List a customer's holds",
    description:
      "Lists all holds or only open holds, newest first. The list is empty for an unknown customer. Holds opened before the workspace's " +
      "history window are shown only while they are open, so a page can have fewer than `limit` items. Continue as long as the " +
      "response has a `nextCursor`.",
    params: customerParams,
    query: holdsQuery,
    answer: { description: "A page of holds.", ...HoldPage },
    codes: [],
    handle: ({ key }, { params, query: { status, limit, cursor } }) =>
      read(cellOf, key, async (tx) => {
        const { environmentId } = key;
        refuseIfAny(checkTexts(params, ["customerId"]));
        const size = limit === undefined ? LIMIT_DEFAULT : Number(limit);
        const before = cursor === undefined ? HOLD_NUMBER_MAX : readCursor(cursor);
        const customerId = brandAs<CustomerId>(params.customerId);
        const [customer] = await findCustomers(tx, [{ environmentId, customerId }]);
        if (customer === undefined) return { items: [], nextCursor: null };
        const customerNumber = brandAs<CustomerNumber>(customer.number);
        const page = { before, limit: size + 1, isOpen: status === "open" };
        const found = await listHoldRecords(tx, { environmentId, customerNumber }, page);
        const records = found.slice(0, size);
        const last = records.at(-1)?.hold;
        const isLast = found.length <= size || last === undefined;
        return {
          items: await viewShown(tx, key, { customerNumber, records }),
          nextCursor: isLast ? null : nameHold({ ...last, customerNumber }),
        };
      }),
  });
}

function readCursor(cursor: string): number {
  const id = parseHoldId(cursor);
  if (id !== null) return id.number;
  const message = "is not a cursor from this list";
  throw new Problem("invalid_request", {
    detail: `\`cursor\` ${message}.`,
    errors: [{ field: "cursor", code: "wrong_form", message }],
  });
}

/** Returns the holds that are open or within the workspace's history window. */
async function viewShown(
  tx: Tx,
  { environmentId, historyDaysMax }: Caller,
  { customerNumber, records }: { customerNumber: CustomerNumber; records: readonly HoldRecord[] },
) {
  if (records.length === 0) return [];
  const catalog = await loadCatalog(tx, environmentId);
  const now = await readClock(tx);
  const since = historyDaysMax === null ? null : now - historyDaysMax * DAY_MS;
  return viewHolds(records, { catalog, customerNumber, now, since });
}

/** Reads on a pool connection, because lanes are only for decisions. */
async function read(cellOf: CellOf, caller: Caller, work: (tx: Tx) => Promise<object>): Promise<Answer> {
  try {
    const found = await single(cellOf(caller), work);
    return { text: JSON.stringify(found), isReplay: false, reason: null };
  } catch (error) {
    const trouble = findDatabaseTrouble(error);
    if (trouble === null) throw error;
    throw toProblem({ kind: trouble === "busy" ? "overloaded" : "unavailable" });
  }
}
