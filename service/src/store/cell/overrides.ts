import type { NewOverrides } from "../../entitlement/entry.ts";
import { bigints, integers, texts, timestamps } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { derive, describeRow, instant, integer, listRows, orNull, text } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { readTerms, writeTerms } from "./overrides-state.ts";
import { findReadable, type Run } from "./verify-ledger.ts";
import type { WalletName } from "./wallets.ts";

export type OverridesRow = WalletName & { readonly overrides: NewOverrides };

const INSERT = statement(
  "overrides.insert",
  `
  insert into cell.overrides (
    environment_id, customer_number, number, effective_at, recorded_at, ends_at, terms
  )
  select
    o.environment_id, o.customer_number, o.number, o.effective_at, $1::timestamptz, o.ends_at, o.terms
  from unnest($2::integer[], $3::bigint[], $4::integer[], $5::timestamptz[], $6::timestamptz[], $7::text[])
    as o (environment_id, customer_number, number, effective_at, ends_at, terms)`,
);

export function insertOverrides(tx: Tx, rows: readonly OverridesRow[], recordedAt: Instant): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(recordedAt),
    integers(rows.map((row) => row.environmentId)),
    bigints(rows.map((row) => row.customerNumber)),
    integers(rows.map(({ overrides }) => overrides.number)),
    timestamps(rows.map(({ overrides }) => overrides.effectiveAt)),
    timestamps(rows.map(({ overrides }) => overrides.endsAt)),
    texts(rows.map(({ overrides }) => JSON.stringify(writeTerms(overrides)))),
  ]);
}

/** Columns of `cell.overrides as o`. */
const ROW = describeRow({
  number: integer("o.number"),
  effectiveAt: instant("o.effective_at"),
  endsAt: orNull(instant("o.ends_at")),
  terms: text("o.terms"),
});

const OVERRIDES = derive(
  ROW,
  ({ terms, ...row }): NewOverrides => ({ ...row, ...readTerms(JSON.parse(terms)) }),
);

const LIST = statement(
  "overrides.list",
  `
  select ${ROW.list}
  from cell.overrides as o
  where o.environment_id = $1
    and o.customer_number = $2
    and o.number = any($3::integer[])
  order by o.number`,
);

/** Finds the overrides with these numbers. */
export async function listOverrides(
  tx: Tx,
  name: WalletName,
  numbers: readonly number[],
): Promise<NewOverrides[]> {
  if (numbers.length === 0) return [];
  return listRows(tx, LIST, [name.environmentId, name.customerNumber, numbers], OVERRIDES);
}

const LIST_PAGE = statement(
  "overrides.list_page",
  `
  select ${ROW.list}
  from cell.overrides as o
  where o.environment_id = $1
    and o.customer_number = $2
    and o.number < $3
  order by o.number desc
  limit $4`,
);

/** Lists a customer's overrides, newest first. */
export function listOverridesPage(
  tx: Tx,
  name: WalletName,
  page: { readonly before: number; readonly limit: number },
): Promise<NewOverrides[]> {
  const parameters = [name.environmentId, name.customerNumber, page.before, page.limit];
  return listRows(tx, LIST_PAGE, parameters, OVERRIDES);
}

const LIST_RUNS = statement(
  "verify.list_overrides",
  `
  select
    n.position::integer,
    ${ROW.list}
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.overrides as o
    on o.environment_id = n.environment_id
    and o.customer_number = n.customer_number
    and o.number > n.after
    and o.number <= n.until
  order by n.position, o.number`,
);

/** Lists the overrides of each run, ordered by number. Omits unreadable rows. */
export async function listOverridesOfRuns(
  tx: Tx,
  runs: readonly Run[],
): Promise<(readonly NewOverrides[])[]> {
  const { rows } = await tx.run(LIST_RUNS, [
    integers(runs.map(({ environmentId }) => environmentId)),
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    integers(runs.map(({ after }) => after)),
    integers(runs.map(({ until }) => until)),
  ]);
  const found: NewOverrides[][] = runs.map(() => []);
  for (const row of rows) {
    const overrides = findReadable(() => OVERRIDES.readAt(row, 1));
    if (overrides !== null) found[readInteger(row[0]) - 1]?.push(overrides);
  }
  return found;
}
