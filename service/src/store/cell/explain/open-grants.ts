import { integers } from "../../../postgres/binary-array.ts";
import { readInteger } from "../../../postgres/column.ts";
import { describeRow, listRows, orNull, type RowOf, text } from "../../../postgres/row.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { GRANT } from "../grants.ts";
import type { WalletName } from "../wallets.ts";

const SUM_PARTS = statement(
  "explain.sum_parts",
  `
  with run as materialized (
    select l.parts
    from cell.ledger as l
    where l.environment_id = $1
      and l.customer_number = $2
      and l.sequence > $3
      and l.sequence <= $4
  )
  select null, count(*)
  from run
  union all
  (
    select split_part(p.part, ':', 1)::integer, sum(split_part(p.part, ':', 2)::bigint)
    from run
    cross join lateral unnest(string_to_array(run.parts, ',')) as p (part)
    group by 1
  )`,
);

/**
 * What the entries after one and up to another moved into each grant, less what they took. Null: not all of them are there, as a
 * month is detached. Numbers have no gap, so that they count entries.
 */
export async function sumParts(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<Map<number, number> | null> {
  const { rows } = await tx.run(SUM_PARTS, [environmentId, customerNumber, after, until]);
  const [entries] = rows.filter(([grant]) => grant === null);
  if (readInteger(entries?.[1]) < until - after) return null;
  const sums = rows.filter(([grant]) => grant !== null);
  return new Map(sums.map(([grant, sum]) => [readInteger(grant), readInteger(sum)]));
}

const { number, pool, kind, expiresAt } = GRANT;
const DETAILS = describeRow({ number, pool, kind, expiresAt, reference: orNull(text("g.reference")) });

/** How a grant came about. */
export type GrantDetails = RowOf<typeof DETAILS>;

const LIST = statement(
  "explain.list_grants",
  `
  select ${DETAILS.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = any($3::integer[])
  order by g.expires_at nulls last, g.number`,
);

/** Those that end first come first. */
export function listGrantDetails(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  numbers: readonly number[],
): Promise<GrantDetails[]> {
  return listRows(tx, LIST, [environmentId, customerNumber, integers(numbers)], DETAILS);
}
