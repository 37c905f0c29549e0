import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { WalletName } from "./wallets.ts";

// Entries are numbered without a gap, and what a wallet notices is never before what it noticed last: their own times
// only ever grow with their numbers. So halving finds the place in some twenty look-ups, where a walk would read a month.
const FIND_LAST_BEFORE = statement(
  "ledger.find_last_before",
  `
  with recursive halves (low, high) as (
    select 0::bigint, $3::bigint
    union all
    select
      case when e.is_before then h.middle else h.low end,
      case when e.is_before then h.high else h.middle - 1 end
    from (
      select low, high, (low + high + 1) / 2 as middle
      from halves
      where low < high
    ) as h
    cross join lateral (
      select coalesce(e.effective_at, e.recorded_at) < $4::timestamptz as is_before
      from cell.ledger as e
      where e.environment_id = $1
        and e.customer_number = $2
        and e.sequence = h.middle
    ) as e
  )
  select low
  from halves
  order by high - low
  limit 1`,
);

/** The number of the last entry before this moment, up to `last`; 0 where there is none. */
export async function findLastBefore(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { last, at }: { readonly last: number; readonly at: Instant },
): Promise<number> {
  const { rows } = await tx.run(FIND_LAST_BEFORE, [environmentId, customerNumber, last, formatTimestamp(at)]);
  return readInteger(rows[0]?.[0]);
}

// Whose pools had no grant until then had no entry either, and are not looked for.
const LIST_BALANCES = statement(
  "ledger.list_balances",
  `
  select p.pool_id, e.balance_after
  from (
    select distinct g.pool_id
    from cell.grants as g
    where g.environment_id = $1
      and g.customer_number = $2
      and g.effective_at < $4::timestamptz
  ) as p
  cross join lateral (
    select l.balance_after
    from cell.ledger as l
    where l.environment_id = $1
      and l.customer_number = $2
      and l.sequence <= $3
      and l.pool_id = p.pool_id
    order by l.customer_number desc, l.sequence desc
    limit 1
  ) as e
  order by p.pool_id`,
);

export type PoolBalance = { readonly pool: PoolId; readonly balance: number };

/** What all entries up to this one, which lie before `at`, came to in each pool. */
export async function listBalances(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { upTo, at }: { readonly upTo: number; readonly at: Instant },
): Promise<PoolBalance[]> {
  const { rows } = await tx.run(LIST_BALANCES, [environmentId, customerNumber, upTo, formatTimestamp(at)]);
  return rows.map(([pool, balance]) => ({
    pool: brandAs<PoolId>(readInteger(pool)),
    balance: readInteger(balance),
  }));
}
