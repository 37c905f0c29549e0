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

const MOVED = describeRow({
  pool: id<PoolId>("e.pool_id"),
  grantKind: derive(integer("g.kind"), grantKindOf),
  entryKind: derive(integer("e.kind"), entryKindOf),
  isAfter: boolean("e.happened_at >= $5::timestamptz"),
  amount: column(readBigInt, "sum(split_part(p.part, ':', 2)::bigint)"),
});

// The limit keeps the planner from scanning the whole ledger instead of reading one run for each customer.
const ENTRIES_OF_RUNS = `
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (customer_number, after, until)
  cross join lateral (
    select l.pool_id, l.kind, l.parts, l.overage, coalesce(l.effective_at, l.recorded_at) as happened_at
    from cell.ledger as l
    where l.environment_id = $6
      and l.customer_number = r.customer_number
      and l.sequence > r.after
      and l.sequence <= r.until
      and l.recorded_at >= ${recordedSince({ environment: "$6", from: "$4" })}
      and coalesce(l.effective_at, l.recorded_at) >= $4::timestamptz
    order by l.customer_number, l.sequence
    limit $7
  ) as e`;

const SUM_MOVED = statement(
  "months.sum_moved",
  `
  select ${MOVED.list}
  ${ENTRIES_OF_RUNS}
  cross join lateral unnest(string_to_array(e.parts, ',')) as p (part)
  join cell.grants as g
    on g.environment_id = $6
    and g.customer_number = r.customer_number
    and g.number = split_part(p.part, ':', 1)::integer
  group by 1, 2, 3, 4`,
);

export type MovedRun = {
  readonly customerNumber: CustomerNumber;
  readonly after: number;
  readonly until: number;
};

const OVERAGE = describeRow({
  pool: id<PoolId>("e.pool_id"),
  entryKind: derive(integer("e.kind"), entryKindOf),
  overage: column(readBigInt, "sum(e.overage)"),
});

const SUM_OVERAGE = statement(
  "months.sum_overage",
  `
  select ${OVERAGE.list}
  ${ENTRIES_OF_RUNS}
  where e.overage is not null
    and e.happened_at < $5::timestamptz
  group by 1, 2`,
);

/** Sums the amounts that the entries of these runs moved since `from`, and their overage before `until`. */
export async function sumMoved(
  tx: Tx,
  environmentId: EnvironmentId,
  runs: readonly MovedRun[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<{ readonly moved: readonly Moved[]; readonly overage: readonly MovedOverage[] }> {
  const parameters = [
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    bigints(runs.map(({ after }) => after)),
    bigints(runs.map((run) => run.until)),
    formatTimestamp(from),
    formatTimestamp(until),
    environmentId,
    Math.max(...runs.map((run) => run.until - run.after)),
  ];
  return {
    moved: await listRows(tx, { ...SUM_MOVED, name: "" }, parameters, MOVED),
    overage: await listRows(tx, { ...SUM_OVERAGE, name: "" }, parameters, OVERAGE),
  };
}
