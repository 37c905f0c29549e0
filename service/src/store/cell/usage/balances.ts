import { bigints } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { CustomerNumber, Instant, PoolId } from "../../../primitives/brand.ts";

// Looks up each entry separately. In a join, the planner may read all entries of the customer, because most customers have few.
const READ_TIMES = statement(
  "usage_balances.read_times",
  `
  select n.sequence, (extract(epoch from e.at) * 1000)::bigint
  from unnest($2::bigint[]) as n (sequence)
  cross join lateral (
    select coalesce(l.effective_at, l.recorded_at) as at
    from cell.ledger as l
    where l.customer_number = $1
      and l.sequence = n.sequence
    limit 1
  ) as e`,
);

/** When these entries of a customer took effect. The times never decrease from entry to entry. */
export async function readEntryTimes(
  tx: Tx,
  customer: CustomerNumber,
  sequences: readonly number[],
): Promise<Map<number, Instant>> {
  const { rows } = await tx.run(READ_TIMES, [customer, bigints(sequences)]);
  return new Map(rows.map(([sequence, at]) => [readInteger(sequence), readInstant(at)]));
}

const READ = statement(
  "usage_balances.read",
  `
  select n.sequence, e.balance_after - e.amount
  from (
    select n.sequence, lead(n.sequence) over (order by n.sequence) as next
    from unnest($2::bigint[]) as n (sequence)
  ) as n
  cross join lateral (
    select l.balance_after, l.amount
    from cell.ledger as l
    where l.customer_number = $1
      and l.sequence > n.sequence
      and (n.next is null or l.sequence <= n.next)
      and l.pool_id = $3
    order by l.sequence
    limit 1
  ) as e`,
);

/**
 * The pool's balance after each of these entries, read from the pool's next entry, because the entry itself may be in a detached
 * month. An entry is missing from the result if the pool has no later entry up to the next of these entries.
 */
export async function readBalances(
  tx: Tx,
  customer: CustomerNumber,
  pool: PoolId,
  sequences: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await tx.run(READ, [customer, bigints(sequences), pool]);
  return new Map(rows.map(([sequence, balance]) => [readInteger(sequence), readInteger(balance)]));
}
