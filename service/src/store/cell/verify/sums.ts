import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type PoolId } from "../../../primitives/brand.ts";
import type { WalletName } from "../wallets.ts";

/** What one customer's ledger comes to in one pool. */
export type LedgerSum = {
  readonly pool: PoolId;
  readonly entries: number;
  /** Beyond what an integer can be sure of it is rounded: no sound ledger gets there. */
  readonly sum: number;
  /** What the last entry says. */
  readonly balanceAfter: number;
  /** How many entries are out of their place, or whose balance does not follow from those before. */
  readonly misfits: number;
};

// An entry of another environment is none of the wallet's, and leaves a gap.
const SUM = statement(
  "verify.sum_ledger",
  `
  select
    e.pool_id,
    count(*),
    sum(e.amount),
    sum(e.balance_after) filter (where e.is_last),
    count(*) filter (where e.sequence <> e.place or e.balance_after <> e.running)
  from (
    select
      pool_id,
      sequence,
      amount,
      balance_after,
      row_number() over (order by sequence, recorded_at) as place,
      sum(amount) over (in_pool rows unbounded preceding) as running,
      lead(sequence) over in_pool is null as is_last
    from cell.ledger
    where environment_id = $1
      and customer_number = $2
    window in_pool as (partition by pool_id order by sequence, recorded_at)
  ) as e
  group by e.pool_id
  order by e.pool_id`,
);

/** Reads every entry of the customer. */
export async function sumLedger(tx: Tx, name: WalletName): Promise<LedgerSum[]> {
  const { rows } = await tx.run(SUM, [name.environmentId, name.customerNumber]);
  return rows.map(([pool, entries, sum, balanceAfter, misfits]) => ({
    pool: brandAs<PoolId>(readInteger(pool)),
    entries: readInteger(entries),
    sum: Number(sum),
    balanceAfter: Number(balanceAfter),
    misfits: readInteger(misfits),
  }));
}
