import { single } from "../../postgres/transaction.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { type ExportedGrant, listExportedGrants } from "../../store/cell/export-rows.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { timeOrNull } from "../fields.ts";
import {
  type ExportJob,
  type Position,
  type Positioned,
  ROWS_MAX,
  readNumbers,
  type Source,
} from "./source.ts";

type Row = ExportedGrant & { readonly names: CatalogNames };

/** Largest grant number that the database column can hold. */
const GRANT_NUMBER_MAX = 2 ** 31 - 1;

/** Grants as they were created. The remaining credits are not exported, because they change over time. */
export const grantSource: Source<Row> = {
  kind: "grants",
  about: "Exports grants, grouped by customer and oldest first.",
  columns: [
    {
      name: "customerId",
      about: "customer ID; empty if the customer was erased",
      of: ({ customerId }) => customerId,
    },
    { name: "grant", about: "grant number, unique per customer", of: ({ number }) => number },
    { name: "kind", about: "`allowance`, `purchase`, `manual` or `promotion`", of: ({ kind }) => kind },
    { name: "pool", about: "pool key", of: ({ pool, names }) => names.pool(pool) },
    { name: "credits", about: "granted credits", of: ({ credits }) => credits },
    {
      name: "effectiveAt",
      about: "when the credits were granted",
      of: ({ effectiveAt }) => timeOrNull(effectiveAt),
    },
    {
      name: "recordedAt",
      about: "when the grant was recorded",
      of: ({ recordedAt }) => timeOrNull(recordedAt),
    },
    {
      name: "expiresAt",
      about: "when the credits expire; empty if never",
      of: ({ expiresAt }) => timeOrNull(expiresAt),
    },
    {
      name: "revokedAt",
      about: "when the grant was revoked; empty if it was not",
      of: ({ revokedAt }) => timeOrNull(revokedAt),
    },
    { name: "reference", about: "reference, for example a payment ID", of: ({ reference }) => reference },
    {
      name: "priceAmount",
      about: "price in the smallest currency unit, such as cents",
      of: ({ price }) => price?.amount ?? null,
    },
    { name: "priceCurrency", about: "ISO 4217 currency code", of: ({ price }) => price?.currency ?? null },
    { name: "note", about: "note", of: ({ note }) => note },
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

/** Hides a revocation made after the export started. Revocation is the only change ever made to a grant. */
function asOf(row: Row, { asOf }: ExportJob): Row {
  return row.revokedAt !== null && row.revokedAt >= asOf ? { ...row, revokedAt: null } : row;
}
