import type { EntryKind } from "../../entitlement/entry.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { requestIdOf } from "../../primitives/consume-id.ts";
import { nameHold } from "../../primitives/hold-id.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import {
  type EntryRun,
  type ExportedEntry,
  type LedgerOwner,
  listExportedEntries,
  listLedgerOwners,
} from "../../store/cell/export-rows.ts";
import { listKeyUses } from "../../store/cell/key-records.ts";
import { findLastBefore } from "../../store/cell/ledger-balances.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import {
  type Column,
  type ExportJob,
  type Position,
  type Positioned,
  ROWS_MAX,
  readNumbers,
  type Source,
} from "./source.ts";

type Row = ExportedEntry & {
  readonly names: CatalogNames;
  readonly key: string | null;
  /** Start of the exported range. A reversal of an earlier charge is exported without that charge's ID. */
  readonly from: Instant;
};

const nameRequest = ({ owner, place }: Row, charge: { sequence: number; recordedAt: Instant }): string =>
  publicId("con", requestIdOf({ ...charge, customerNumber: owner.customerNumber, place }));

const column = (name: string, about: string, of: Column<Row>["of"]): Column<Row> => ({ name, about, of });

const CUSTOMER = column(
  "customerId",
  "customer ID; empty if the customer was erased",
  ({ owner }) => owner.customerId,
);
const POOL = column("pool", "pool key", (row) => row.names.pool(row.pool));
const BALANCE_AFTER = column(
  "balanceAfter",
  "balance of the pool after this row",
  ({ balanceAfter }) => balanceAfter,
);
const FEATURE = column("feature", "feature key", ({ feature, names }) =>
  feature === null ? null : names.feature(feature),
);
const QUANTITY = column("quantity", "quantity charged or reversed", ({ quantity }) => quantity);
const RECORDED = column("recordedAt", "when the row was recorded", (row) => formatTimestamp(row.recordedAt));
const PLAN = column("plan", "key of the customer's plan at that time", ({ planVersion, names }) =>
  planVersion === null ? null : names.plan(planVersion).key,
);
const VERSION = column("planVersion", "plan version", ({ planVersion, names }) =>
  planVersion === null ? null : names.plan(planVersion).version,
);
const METADATA = column("metadata", "metadata as JSON", ({ metadata }) =>
  metadata === null ? null : { json: metadata },
);

const MEMBER = column("memberId", "`memberId` of the request", ({ memberId }) => memberId);

const OVERRIDES = column(
  "overrides",
  "`number` of the customer's overrides that applied to the feature; empty if only the plan's terms applied",
  ({ overrides }) => overrides,
);

const HOLD = column(
  "holdId",
  "ID of the hold that made the charge when the hold ended; for a reversal, of the hold that made the reversed charge",
  ({ hold, owner }) => (hold === null ? null : nameHold({ ...hold, customerNumber: owner.customerNumber })),
);

const UNCOVERED = column(
  "uncovered",
  "part of the price that neither credits nor overage covered; for a reversal, how much of that part was reversed",
  ({ uncovered }) => uncovered,
);

const OVERAGE = column(
  "overage",
  "part of the price that was charged as overage; for a reversal, how much of that part was reversed",
  ({ overage }) => overage,
);

const ITEM = column(
  "item",
  "index in the request's `items`; empty if the request has only one charge",
  ({ place }) => place?.index ?? null,
);

export const chargeSource: Source<Row> = {
  kind: "charges",
  about: "Exports charges, grouped by customer and oldest first.",
  columns: [
    column("consumeId", "consume ID; the same for all items of a request", (row) => nameRequest(row, row)),
    CUSTOMER,
    FEATURE,
    { ...QUANTITY, about: "quantity charged" },
    // Avoids -0 for a free charge.
    column("credits", "credits charged", ({ amount }) => 0 - amount),
    POOL,
    BALANCE_AFTER,
    RECORDED,
    PLAN,
    VERSION,
    column("idempotencyKey", "idempotency key in the request", ({ key }) => key),
    column("reversedQuantity", "quantity reversed so far", (row) => row.reversedQuantity),
    column("reversedCredits", "credits reversed so far", ({ reversedCredits }) => reversedCredits),
    METADATA,
    ITEM,
    MEMBER,
    OVERRIDES,
    HOLD,
    UNCOVERED,
    OVERAGE,
  ],
  readPosition: (values) => readNumbers(values),
  pages: (job, after) => readPages(job, after, "consume"),
};

export const ledgerSource: Source<Row> = {
  kind: "ledger",
  about:
    "Exports every change to a balance, grouped by customer and oldest first. If the history window or `from` hides earlier entries, " +
    "`balanceAfter - amount` in a customer's first row for a pool is the balance brought forward.",
  columns: [
    CUSTOMER,
    column("sequence", "entry number, unique in the customer's ledger", ({ sequence }) => sequence),
    column("kind", "`grant`, `consume`, `expire`, `revoke` or `reverse`", ({ kind }) => kind),
    POOL,
    column("amount", "change to the balance", ({ amount }) => amount),
    BALANCE_AFTER,
    column("effectiveAt", "when the change took effect", ({ effectiveAt }) => formatTimestamp(effectiveAt)),
    RECORDED,
    FEATURE,
    QUANTITY,
    PLAN,
    VERSION,
    column("consumeId", "consume ID; set only for charges", (row) =>
      row.kind === "consume" ? nameRequest(row, row) : null,
    ),
    column(
      "reverses",
      "for a reversal, the `consumeId` of the charge; empty if the charge is before the exported range",
      (row) =>
        row.reverses === null || row.reverses.recordedAt < row.from ? null : nameRequest(row, row.reverses),
    ),
    column("parts", "changed grants and amounts as JSON", ({ parts }) => ({
      json: JSON.stringify(parts),
    })),
    METADATA,
    ITEM,
    MEMBER,
    OVERRIDES,
    HOLD,
    UNCOVERED,
    OVERAGE,
  ],
  readPosition: (values) => readNumbers(values),
  pages: (job, after) => readPages(job, after, null),
};

async function* readPages(
  job: ExportJob,
  start: Position | null,
  kind: EntryKind | null,
): AsyncGenerator<readonly Positioned<Row>[]> {
  const { cell, environmentId, projectId, from } = job;
  for await (const runs of entryRuns(job, start)) {
    if (runs.length === 0) yield [];
    else
      yield await single(cell, async (tx) => {
        const entries = await listExportedEntries(tx, job, { runs, kind });
        if (entries.length === 0) return [];
        // Read after the entries, so that everything they refer to exists.
        const names = new CatalogNames(await loadCatalog(tx, environmentId));
        const hashes = kind === null ? [] : entries.flatMap(({ keyHash }) => keyHash ?? []);
        const keys = await listKeyUses(tx, { projectId, environmentId }, hashes);
        return entries.map((entry) => {
          const key = entry.keyHash === null ? null : (keys.get(entry.keyHash)?.key ?? null);
          const position = [entry.owner.customerNumber, entry.sequence] as const;
          return { row: { ...entry, names, key, from }, position };
        });
      });
  }
}

const OWNERS_MAX = 500;

/**
 * Splits an environment's ledgers into lists of runs. One statement reads all runs in a list. May yield an empty list, so that the
 * export can be stopped while it skips customers.
 */
export async function* entryRuns(
  { cell, environmentId, from }: { cell: Pool; environmentId: EnvironmentId; from: Instant },
  start: Position | null,
): AsyncGenerator<readonly EntryRun[]> {
  const [firstOwner, firstEntry] = start ?? [0, 0];
  let runs: EntryRun[] = [];
  let room = ROWS_MAX;
  for (let next: number | null = firstOwner; next !== null; ) {
    const page: LedgerOwner[] = await single(cell, (tx) =>
      listLedgerOwners(tx, environmentId, { from: next ?? 0, limit: OWNERS_MAX }),
    );
    for (const owner of page) {
      const done = owner.customerNumber === firstOwner ? Number(firstEntry) : 0;
      let after = Math.max(done, await skipTo(cell, { environmentId, owner, from }));
      while (after < owner.sequence) {
        const until = Math.min(owner.sequence, after + room);
        runs.push({ owner, after, until });
        room -= until - after;
        after = until;
        if (room > 0) continue;
        yield runs;
        runs = [];
        room = ROWS_MAX;
      }
    }
    yield [];
    const last = page.at(-1);
    next = last === undefined || page.length < OWNERS_MAX ? null : last.customerNumber + 1;
  }
  if (runs.length > 0) yield runs;
}

/** Finds the last entry before the exported range, so that a long ledger is not read from its beginning. */
async function skipTo(
  cell: Pool,
  { environmentId, owner, from }: { environmentId: EnvironmentId; owner: LedgerOwner; from: Instant },
): Promise<number> {
  if (from === 0 || owner.sequence <= ROWS_MAX) return 0;
  const { customerNumber, sequence: last } = owner;
  return single(cell, (tx) =>
    findLastBefore(tx, { environmentId, customerNumber }, { last, at: from, isWholeSince: false }),
  );
}
