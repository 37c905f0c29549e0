import { readInteger, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

// Entries are numbered without a gap, and what a wallet notices is never before what it noticed last: their own times
// only ever grow with their numbers. So halving finds the place in some twenty look-ups, where a walk would read a month. What
// one counts for whose month is detached, who asks must know.
const FIND_LAST_BEFORE = statement(
  "ledger.find_last_before",
  `
  with recursive halves (low, high) as (
    select 0::bigint, $3::bigint
    union all
    select
      case when coalesce(e.is_before, $5) then h.middle else h.low end,
      case when coalesce(e.is_before, $5) then h.high else h.middle - 1 end
    from (
      select low, high, (low + high + 1) / 2 as middle
      from halves
      where low < high
    ) as h
    left join lateral (
      select coalesce(e.effective_at, e.recorded_at) < $4::timestamptz as is_before
      from cell.ledger as e
      where e.environment_id = $1
        and e.customer_number = $2
        and e.sequence = h.middle
    ) as e on true
  )
  select low
  from halves
  order by high - low
  limit 1`,
);

/**
 * The number of the last entry before this moment, up to `last`; 0 where there is none. Where months are detached and all of them
 * are before it, `isWholeSince` is to be said; else it may be an earlier entry.
 */
export async function findLastBefore(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { last, at, isWholeSince }: { readonly last: number; readonly at: Instant; readonly isWholeSince: boolean },
): Promise<number> {
  const parameters = [environmentId, customerNumber, last, formatTimestamp(at), isWholeSince];
  const { rows } = await tx.run(FIND_LAST_BEFORE, parameters);
  return readInteger(rows[0]?.[0]);
}

// By the first entry since, not by the last before, whose month may be detached. Whose pools had no grant until then had no entry
// either, and are not looked for.
const LIST_BALANCES = statement(
  "ledger.list_balances",
  `
  select p.pool_id, e.balance_after - e.amount
  from (
    select distinct g.pool_id
    from cell.grants as g
    where g.environment_id = $1
      and g.customer_number = $2
      and g.effective_at < $4::timestamptz
  ) as p
  left join lateral (
    select l.balance_after, l.amount
    from cell.ledger as l
    where l.environment_id = $1
      and l.customer_number = $2
      and l.sequence > $3
      and coalesce(l.effective_at, l.recorded_at) >= $4::timestamptz
      and l.pool_id = p.pool_id
    order by l.customer_number, l.sequence
    limit 1
  ) as e on true
  order by p.pool_id`,
);

/** Null: nothing moved since, so that it is what the wallet has. */
export type PoolBalance = { readonly pool: PoolId; readonly balance: number | null };

/** What was in each pool at a moment. `after` is an entry before it, the nearer the better. */
export async function listBalances(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { after, at }: { readonly after: number; readonly at: Instant },
): Promise<PoolBalance[]> {
  const { rows } = await tx.run(LIST_BALANCES, [environmentId, customerNumber, after, formatTimestamp(at)]);
  return rows.map(([pool, balance]) => ({
    pool: brandAs<PoolId>(readInteger(pool)),
    balance: readNullable(balance, readInteger),
  }));
}
