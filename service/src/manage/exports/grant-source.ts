import { single } from "../../postgres/transaction.ts";
import type { Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { type ExportedGrant, listExportedGrants } from "../../store/cell/grant-list.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import {
  type ExportJob,
  type Position,
  type Positioned,
  ROWS_MAX,
  readNumbers,
  type Source,
} from "./source.ts";

type Row = ExportedGrant & { readonly names: CatalogNames };

const time = (at: Instant | null): string | null => (at === null ? null : formatTimestamp(at));

/** Of the column. */
const GRANT_NUMBER_MAX = 2 ** 31 - 1;

/** Credits as they were given: how much of them is left is no fact of a moment. */
export const grantSource: Source<Row> = {
  kind: "grants",
  about: "Credits that were given, customer by customer, the oldest first.",
  columns: [
    { name: "customerId", about: "whose; empty once erased", of: ({ customerId }) => customerId },
    { name: "grant", about: "counted within the customer's grants", of: ({ number }) => number },
    { name: "kind", about: "`allowance`, `purchase`, `manual` or `promotion`", of: ({ kind }) => kind },
    { name: "pool", about: "the pool's key", of: ({ pool, names }) => names.pool(pool) },
    { name: "credits", about: "what was given", of: ({ credits }) => credits },
    { name: "effectiveAt", about: "when it was given", of: ({ effectiveAt }) => time(effectiveAt) },
    { name: "recordedAt", about: "when it was recorded", of: ({ recordedAt }) => time(recordedAt) },
    { name: "expiresAt", about: "its end, if it has one", of: ({ expiresAt }) => time(expiresAt) },
    { name: "revokedAt", about: "when its rest was taken back", of: ({ revokedAt }) => time(revokedAt) },
    { name: "reference", about: "a payment's id, say", of: ({ reference }) => reference },
    { name: "priceAmount", about: "paid, in the smallest unit", of: ({ price }) => price?.amount ?? null },
    { name: "priceCurrency", about: "ISO 4217", of: ({ price }) => price?.currency ?? null },
    { name: "note", about: "what was said about it", of: ({ note }) => note },
  ],
  readPosition: (values) => readNumbers(values, GRANT_NUMBER_MAX),
  pages: readPages,
};

async function* readPages(
  job: ExportJob,
  start: Position | null,
): AsyncGenerator<readonly Positioned<Row>[]> {
  const { cell, environmentId } = job;
  const [customerNumber, number] = start ?? [0, 0];
  let after = { customerNumber, number: Number(number) };
  for (;;) {
    const page = await single(cell, async (tx) => {
      const grants = await listExportedGrants(tx, environmentId, { after, limit: ROWS_MAX });
      const names = new CatalogNames(await loadCatalog(tx, environmentId));
      return grants.map((grant) => ({ ...grant, names }));
    });
    const rows = page.filter((grant) => isMeant(grant, job)).map((grant) => asOf(grant, job));
    yield rows.map((row) => ({ row, position: [row.customerNumber, row.number] }));
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_MAX) return;
    after = last;
  }
}

function isMeant({ effectiveAt, recordedAt }: ExportedGrant, { from, to, asOf }: ExportJob): boolean {
  return effectiveAt >= from && effectiveAt < to && recordedAt < asOf;
}

/** A revocation is the one thing that is ever written on a grant. */
function asOf(row: Row, { asOf }: ExportJob): Row {
  return row.revokedAt !== null && row.revokedAt >= asOf ? { ...row, revokedAt: null } : row;
}
