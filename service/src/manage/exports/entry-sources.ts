import type { EntryKind } from "../../entitlement/entry.ts";
import { single } from "../../postgres/transaction.ts";
import type { Instant } from "../../primitives/brand.ts";
import { consumeId } from "../../primitives/consume-id.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { type ExportedEntry, listExportedEntries } from "../../store/cell/export/entries.ts";
import { listKeyTexts } from "../../store/cell/keyed-requests.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import type { Column } from "./column.ts";
import { entryRuns } from "./entry-runs.ts";
import { type ExportJob, type Position, type Positioned, readNumbers, type Source } from "./source.ts";

type Row = ExportedEntry & {
  readonly names: CatalogNames;
  readonly key: string | null;
  /** The export's beginning: what lies before it is not named. */
  readonly from: Instant;
};

const nameConsume = ({ owner }: Row, consume: { sequence: number; recordedAt: Instant }): string =>
  publicId("con", consumeId({ customerNumber: owner.customerNumber, ...consume }));

const column = (name: string, about: string, of: Column<Row>["of"]): Column<Row> => ({ name, about, of });

const CUSTOMER = column("customerId", "whose; empty once erased", ({ owner }) => owner.customerId);
const POOL = column("pool", "the pool's key", (row) => row.names.pool(row.pool));
const BALANCE_AFTER = column("balanceAfter", "of the pool", ({ balanceAfter }) => balanceAfter);
const FEATURE = column("feature", "the feature's key", ({ feature, names }) =>
  feature === null ? null : names.feature(feature),
);
const QUANTITY = column(
  "quantity",
  "of a charge, or of what was reversed of one",
  ({ quantity }) => quantity,
);
const RECORDED = column("recordedAt", "when it was recorded", (row) => formatTimestamp(row.recordedAt));
const PLAN = column("plan", "the plan's key at that moment", ({ planVersion, names }) =>
  planVersion === null ? null : names.plan(planVersion).key,
);
const VERSION = column("planVersion", "the plan's version", ({ planVersion, names }) =>
  planVersion === null ? null : names.plan(planVersion).version,
);
const METADATA = column("metadata", "what the caller said about it, as JSON", ({ metadata }) =>
  metadata === null ? null : { json: metadata },
);

export const chargeSource: Source<Row> = {
  kind: "charges",
  about: "Charges, customer by customer, the oldest first.",
  columns: [
    column("consumeId", "the charge's id", (row) => nameConsume(row, row)),
    CUSTOMER,
    FEATURE,
    { ...QUANTITY, about: "how much it was for" },
    // Not -0, where nothing was charged.
    column("credits", "what was charged", ({ amount }) => 0 - amount),
    POOL,
    BALANCE_AFTER,
    RECORDED,
    PLAN,
    VERSION,
    column("idempotencyKey", "what it was asked under", ({ key }) => key),
    column("reversedQuantity", "how much of it was reversed so far", (row) => row.reversedQuantity),
    column("reversedCredits", "the credits of that", ({ reversedCredits }) => reversedCredits),
    METADATA,
  ],
  readPosition: (values) => readNumbers(values),
  pages: (job, after) => readPages(job, after, "consume"),
};

export const ledgerSource: Source<Row> = {
  kind: "ledger",
  about:
    "Every change of a balance, customer by customer, the oldest first. Where the history window or `from` hides what came before, the " +
    "balance brought forward is `balanceAfter - amount` of a customer's first row of a pool.",
  columns: [
    CUSTOMER,
    column("sequence", "counted within the customer's ledger", ({ sequence }) => sequence),
    column("kind", "`grant`, `consume`, `expire`, `revoke` or `reverse`", ({ kind }) => kind),
    POOL,
    column("amount", "what it added to the balance, or took from it", ({ amount }) => amount),
    BALANCE_AFTER,
    column("effectiveAt", "when it happened", ({ effectiveAt }) => formatTimestamp(effectiveAt)),
    RECORDED,
    FEATURE,
    QUANTITY,
    PLAN,
    VERSION,
    column("consumeId", "of a charge", (row) => (row.kind === "consume" ? nameConsume(row, row) : null)),
    column("reverses", "of a reversal: the charge's `consumeId`, unless it lies before the export", (row) =>
      row.reverses === null || row.reverses.recordedAt < row.from ? null : nameConsume(row, row.reverses),
    ),
    column(
      "parts",
      "which grants gave or took how much, as JSON: `grant` is the customer's",
      ({ parts }) => ({
        json: JSON.stringify(parts),
      }),
    ),
    METADATA,
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
        // After the entries, so that everything which they name is there.
        const names = new CatalogNames(await loadCatalog(tx, environmentId));
        const hashes = kind === null ? [] : entries.flatMap(({ keyHash }) => keyHash ?? []);
        const keys = await listKeyTexts(tx, { projectId, environmentId }, hashes);
        return entries.map((entry) => {
          const key = entry.keyHash === null ? null : (keys.get(entry.keyHash) ?? null);
          const position = [entry.owner.customerNumber, entry.sequence] as const;
          return { row: { ...entry, names, key, from }, position };
        });
      });
  }
}
