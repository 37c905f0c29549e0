import type { Moved, MovedOverage } from "../../entitlement/roll-forward.ts";
import { bigints } from "../../postgres/binary-array.ts";
import { readBigInt } from "../../postgres/column.ts";
import {
  boolean,
  column,
  derive,
  describeRow,
  id,
  integer,
  listRows,
  orNull,
  type RowOf,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { viewDueHolds } from "./due-holds.ts";
import { entryKindOf } from "./ledger.ts";
import { recordedSince } from "./ledger-balances.ts";
import { grantKindOf } from "./wallet-state.ts";
import { WALLET } from "./wallets.ts";

const OWNED = describeRow({ customerNumber: id<CustomerNumber>("w.customer_number"), wallet: WALLET });

export type OwnedWallet = RowOf<typeof OWNED>;

const LIST_WALLETS = statement(
  "months.list_wallets",
  `
  select ${OWNED.list}
  from cell.wallets as w
  where w.environment_id = $1
    and w.customer_number > $2
  order by w.customer_number
  limit $3`,
);

/** Ordered by customer number, after `after`. Entries up to a wallet's sequence never change, so they can be read later. */
export async function listMonthWallets(
  tx: Tx,
  environmentId: EnvironmentId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<OwnedWallet[]> {
  const owned = await listRows(tx, LIST_WALLETS, [environmentId, after, limit], OWNED);
  return viewDueHolds(tx, owned, ({ customerNumber }) => ({ environmentId, customerNumber }));
}

const SUM = describeRow({
  pool: id<PoolId>("s.pool_id"),
  /** Null for a sum of overage. */
  grantKind: orNull(derive(integer("s.grant_kind"), grantKindOf)),
  entryKind: derive(integer("s.kind"), entryKindOf),
  isAfter: boolean("s.is_after"),
  amount: column(readBigInt, "s.amount"),
});

// "offset 0" makes the planner read one run for each customer, and then one grant for each sum. Otherwise it may scan the whole ledger.
const SUM_RUNS = statement(
  "months.sum_runs",
  `
  with entries as materialized (
    select r.customer_number, l.*
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (customer_number, after, until)
    cross join lateral (
      select pool_id, kind, parts, overage, coalesce(effective_at, recorded_at) >= $5::timestamptz as is_after
      from cell.ledger
      where environment_id = $6
        and customer_number = r.customer_number
        and sequence > r.after
        and sequence <= r.until
        and recorded_at >= ${recordedSince({ environment: "$6", from: "$4" })}
        and coalesce(effective_at, recorded_at) >= $4::timestamptz
      offset 0
    ) as l
  ),
  moved as (
    select
      e.customer_number,
      split_part(p.part, ':', 1)::integer as number,
      e.pool_id,
      e.kind,
      e.is_after,
      sum(split_part(p.part, ':', 2)::bigint) as amount
    from entries as e
    cross join lateral unnest(string_to_array(e.parts, ',')) as p (part)
    group by 1, 2, 3, 4, 5
  ),
  sums as (
    select m.pool_id, g.kind as grant_kind, m.kind, m.is_after, sum(m.amount) as amount
    from moved as m
    cross join lateral (
      select kind
      from cell.grants
      where environment_id = $6
        and customer_number = m.customer_number
        and number = m.number
      offset 0
    ) as g
    group by 1, 2, 3, 4
    union all
    select pool_id, null, kind, is_after, sum(overage)
    from entries
    where overage is not null
      and not is_after
    group by 1, 3, 4
  )
  select ${SUM.list}
  from sums as s`,
);

export type MovedRun = {
  readonly customerNumber: CustomerNumber;
  readonly after: number;
  readonly until: number;
};

/** Sums the amounts that the entries of these runs moved since `from`, and their overage before `until`. */
export async function sumMoved(
  tx: Tx,
  environmentId: EnvironmentId,
  runs: readonly MovedRun[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<{ readonly moved: readonly Moved[]; readonly overage: readonly MovedOverage[] }> {
  const sums = await listRows(
    tx,
    SUM_RUNS,
    [
      bigints(runs.map(({ customerNumber }) => customerNumber)),
      bigints(runs.map(({ after }) => after)),
      bigints(runs.map((run) => run.until)),
      formatTimestamp(from),
      formatTimestamp(until),
      environmentId,
    ],
    SUM,
  );
  return {
    moved: sums.flatMap(({ grantKind, ...sum }) => (grantKind === null ? [] : [{ ...sum, grantKind }])),
    overage: sums
      .filter(({ grantKind }) => grantKind === null)
      .map(({ pool, entryKind, amount }) => ({ pool, entryKind, overage: amount })),
  };
}
