import { readInteger, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

// Sequences have no gaps, and effective times never decrease as the sequence rises. So a binary search needs only about twenty lookups,
// whereas a scan would read a whole month. If $5 is true, entries in detached months count as before $4.
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
 * Finds the sequence of the last entry effective before `at` and at most `last`. Returns 0 if there is none. Pass `isWholeSince` only if
 * all detached months are before `at`. If `isWholeSince` is false, the result may be an earlier entry.
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

// Uses each pool's first entry at or after $4, because the month of the last entry before $4 may be detached. A pool without a grant before
// $4 has no earlier entries either, and is left out.
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

/** A pool's balance at a past time. Null if the pool has no later entry, so that its balance has not changed. */
export type PoolBalance = { readonly pool: PoolId; readonly balance: number | null };

/** Returns the balance of each pool at the time `at`. The search starts after sequence `after`, whose entry is before `at`. */
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

/**
 * SQL for the earliest `recorded_at` among entries effective at or after `from`, so that older partitions are pruned. An entry is recorded
 * when it takes effect or later, except after a failover to a server whose clock is behind. A partial index finds these exceptions.
 */
export function recordedSince({ environment, from }: { environment: string; from: string }): string {
  return `(
        select least(${from}::timestamptz, min(a.recorded_at))
        from cell.ledger as a
        where a.environment_id = ${environment}
          and a.effective_at >= ${from}::timestamptz
          and a.effective_at > a.recorded_at
      )`;
}

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
 * Sums the changes to each grant by entries with a sequence above `after` and at most `until`. Null if entries are missing because their
 * month is detached.
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
