import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { ASSIGNMENT_CHANGES, listAssignmentRecords } from "../../store/cell/assignments.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { nullable, readTime, strictObject, timeField, timeOf, timeOrNull } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import { type Operation, operation, scopeOf } from "../operation.ts";
import { decodeCursor, pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { CatalogNames, PlanName } from "./catalog-names.ts";
import { Denial, listDenials } from "./list-denials.ts";
import { Grant, listGrants } from "./list-grants.ts";
import { BroughtForward, ENTRY_KINDS, LedgerEntry, listLedger } from "./list-ledger.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "./operations.ts";
import { Proof, proveWallet } from "./prove-wallet.ts";

const NOUN = "Customers";
const access = { role: "viewer", in: "environment" } as const;
const query = strictObject(pageQuery);

/** Reads a customer's history, which never changes, except that erasing the customer removes personal data. */
export function customerRecordOperations(parts: ManageParts): Operation[] {
  return [ledger(parts), proof(parts), grants(parts), planChanges(parts), denials(parts)];
}

function ledger({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/ledger`,
    access,
    id: "listLedger",
    noun: NOUN,
    summary: "List a customer's ledger",
    description:
      "Lists every change to the balance, newest first. All amounts in a pool add up to its balance plus held credits. Expiries and " +
      "allowances that fell due after the last request are written with the customer's next request.\n\n" +
      "Entries older than the workspace's history window are hidden. If the ledger of a month was taken offline (detached), all entries " +
      "up to the end of that month are also hidden. `broughtForward` contains the sum of the hidden entries. With a filter, a page can " +
      "contain fewer than `limit` items, or none. Continue as long as the response has a `nextCursor`.",
    params: customerParams,
    query: strictObject({
      ...pageQuery,
      kind: Type.Optional(Type.Enum([...ENTRY_KINDS])),
      feature: Type.Optional(
        Type.String({
          maxLength: 120,
          description: "Only charges and reversals for this feature.",
          examples: ["image.generate"],
        }),
      ),
      from: Type.Optional(timeOf("Only entries that took effect at or after this time.")),
      to: Type.Optional(timeOf("Only entries that took effect before this time.")),
    }),
    answer: Type.Object({
      ...pageOf(LedgerEntry).properties,
      ...windowAnswer,
      broughtForward: Type.Array(BroughtForward, {
        description:
          "The balance of each pool before the oldest listed entry. Set on the last page if older entries are hidden or you send " +
          "`from`. Empty if you filter by kind or feature.",
      }),
    }),
    handle: async (call) => {
      const scope = scopeOf(call);
      const { kind = null, feature = null, cursor, limit } = call.query;
      const since = await historyStartOf(control, call);
      const page = { before: readIdCursor(cursor), since, limit: readLimit(limit) };
      const [from, to] = [readTime("from", call.query.from) ?? null, readTime("to", call.query.to) ?? null];
      const filter = { kind, feature, from, to };
      const found = await listLedger(cellOf(scope), scope, customerIdOf(call), filter, page);
      if (found === null) throw customerNotFound();
      const { entries, next, broughtForward } = found;
      return { ...toPage(entries, next), ...describeWindow(since), broughtForward: [...broughtForward] };
    },
  });
}

function proof({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/proof`,
    access,
    id: "proveWallet",
    noun: NOUN,
    summary: "Check a customer's balance against the ledger",
    description:
      "Compares the sum of the customer's ledger with the wallet in one snapshot, so concurrent charges do not affect the result. Also " +
      "checks that entry numbers have no gaps and that each balance follows from the previous balance. The check takes about half a " +
      "second for 100,000 entries and does not block charges. After 4 seconds, it fails with `overloaded`. In that case, run " +
      "`purser verify`, which also checks prices, limits and individual grants.",
    params: customerParams,
    answer: Proof,
    codes: ["ledger_detached"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const since = await historyStartOf(control, call);
      const name = { environmentId, customerId: customerIdOf(call) };
      const found = await proveWallet(cellOf(scopeOf(call)), name, since);
      if (found === null) throw customerNotFound();
      return found;
    },
  });
}

function grants({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/grants`,
    access,
    id: "listGrants",
    noun: NOUN,
    summary: "List a customer's grants",
    description:
      "Lists grants, newest first, with the remaining credits of each grant. Grants older than the workspace's history window are listed " +
      "only if they have credits left. A page can therefore contain fewer than `limit` items. Continue as long as the response has a " +
      "`nextCursor`.",
    params: customerParams,
    query,
    answer: Type.Object({ ...pageOf(Grant).properties, ...windowAnswer }),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { cursor, limit } = call.query;
      const since = await historyStartOf(control, call);
      const page = { before: readIdCursor(cursor), since, limit: readLimit(limit) };
      const found = await listGrants(cellOf(scopeOf(call)), environmentId, customerIdOf(call), page);
      if (found === null) throw customerNotFound();
      return { ...toPage(found.grants, found.next), ...describeWindow(since) };
    },
  });
}

function planChanges({ cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/plans`,
    access,
    id: "listPlanChanges",
    noun: NOUN,
    summary: "List a customer's plan history",
    description: "Lists all plan changes, newest first.",
    params: customerParams,
    query,
    answer: pageOf(PlanChange),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { cursor, limit } = call.query;
      const page = { before: readIdCursor(cursor), limit: readLimit(limit) };
      const found = await listPlanChanges(cellOf(scopeOf(call)), environmentId, customerIdOf(call), page);
      if (found === null) throw customerNotFound();
      return toPage(found.changes, found.next);
    },
  });
}

function denials({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/denials`,
    access,
    id: "listDenials",
    noun: NOUN,
    summary: "List a customer's denials",
    description:
      "Lists denials, newest first, back to the start of the workspace's history window. Each denial includes the cost, balance and " +
      "limit at the time of the denial.",
    params: customerParams,
    query,
    answer: Type.Object({ ...pageOf(Denial).properties, ...windowAnswer }),
    handle: async (call) => {
      const scope = scopeOf(call);
      const { cursor, limit } = call.query;
      const [before = null] = decodeCursor(cursor, ["string"]) ?? [];
      const since = await historyStartOf(control, call);
      const page = { before, since, limit: readLimit(limit) };
      const found = await listDenials(cellOf(scope), scope, customerIdOf(call), page);
      if (found === null) throw customerNotFound();
      return { ...toPage(found.denials, found.next), ...describeWindow(since) };
    },
  });
}

export const PlanChange = Type.Object({
  change: Type.Enum([...ASSIGNMENT_CHANGES], {
    description:
      "`scheduled`: a pending change was set or replaced, and the new plan starts at `effectiveAt`. `unscheduled`: the pending change " +
      "was dropped.",
  }),
  plan: PlanName,
  isDefault: Type.Boolean({
    description: "True for the environment's default plan, false for an assigned plan.",
  }),
  anchor: timeField,
  endsAt: nullable(timeField),
  effectiveAt: timeField,
  recordedAt: timeField,
});

type PlanChange = Static<typeof PlanChange>;

type PlanChangePage = { readonly changes: readonly PlanChange[]; readonly next: number | null };

/** Lists plan changes with an ID below `before`, newest first. Null if the customer does not exist. */
function listPlanChanges(
  cell: Pool,
  environmentId: EnvironmentId,
  customerId: CustomerId,
  page: { readonly before: number | null; readonly limit: number },
): Promise<PlanChangePage | null> {
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const names = new CatalogNames(await loadCatalog(tx, environmentId));
    const found = await listAssignmentRecords(
      tx,
      { environmentId, customerNumber: customer.customerNumber },
      { before: page.before ?? Number.MAX_SAFE_INTEGER, limit: page.limit + 1 },
    );
    const shown = found.slice(0, page.limit);
    const changes = shown.map(
      ({ change, planVersion, isDefault, anchor, endsAt, effectiveAt, recordedAt }): PlanChange => ({
        change,
        plan: names.plan(planVersion),
        isDefault,
        anchor: formatTimestamp(anchor),
        endsAt: timeOrNull(endsAt),
        effectiveAt: formatTimestamp(effectiveAt),
        recordedAt: formatTimestamp(recordedAt),
      }),
    );
    return { changes, next: found.length > page.limit ? (shown.at(-1)?.id ?? null) : null };
  });
}
