import type { GrantKind } from "../../../entitlement/wallet.ts";
import { integers } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../../words/brand.ts";
import { grantKindOf } from "../wallet-state.ts";
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

/** How a grant came about. */
export type GrantDetails = {
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly expiresAt: Instant | null;
  readonly reference: string | null;
};

const LIST = statement(
  "explain.list_grants",
  `
  select g.number, g.pool_id, g.kind, (extract(epoch from g.expires_at) * 1000)::bigint, g.reference
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = any($3::integer[])
  order by g.expires_at nulls last, g.number`,
);

/** Those that end first come first. */
export async function listGrantDetails(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  numbers: readonly number[],
): Promise<GrantDetails[]> {
  const { rows } = await tx.run(LIST, [environmentId, customerNumber, integers(numbers)]);
  return rows.map((row) => ({
    number: readInteger(row[0]),
    pool: brandAs<PoolId>(readInteger(row[1])),
    kind: grantKindOf(readInteger(row[2])),
    expiresAt: readNullable(row[3], readInstant),
    reference: readNullable(row[4], readText),
  }));
}
