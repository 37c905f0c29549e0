import type { Moved } from "../../entitlement/roll-forward.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { bigints } from "../../postgres/binary-array.ts";
import { readBigInt, readBoolean, readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { entryKindOf } from "./ledger.ts";
import { recordedSince } from "./recorded-since.ts";
import { decodeWalletState, grantKindOf } from "./wallet-state.ts";

export type OwnedWallet = { readonly customerNumber: CustomerNumber; readonly wallet: Wallet };

const LIST_WALLETS = statement(
  "months.list_wallets",
  `
  select
    w.customer_number,
    w.sequence,
    (extract(epoch from w.decided_at) * 1000)::bigint,
    w.is_blocked,
    w.state
  from cell.wallets as w
  where w.environment_id = $1
    and w.customer_number > $2
  order by w.customer_number
  limit $3`,
);

/** By the customers' numbers, after this one. Entries up to a wallet's sequence can be read afterwards: they stay. */
export async function listMonthWallets(
  tx: Tx,
  environmentId: EnvironmentId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<OwnedWallet[]> {
  const { rows } = await tx.run(LIST_WALLETS, [environmentId, after, limit]);
  return rows.map(([number, sequence, decidedAt, isBlocked, state]) => ({
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    wallet: decodeWalletState(readText(state), {
      sequence: readInteger(sequence),
      decidedAt: readInstant(decidedAt),
      isBlocked: readBoolean(isBlocked),
    }),
  }));
}

// The limit keeps the planner from reading the whole ledger once instead of a run of each customer.
const SUM_MOVED = statement(
  "months.sum_moved",
  `
  select
    e.pool_id,
    g.kind,
    e.kind,
    e.happened_at >= $5::timestamptz,
    sum(split_part(p.part, ':', 2)::bigint)
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (customer_number, after, until)
  cross join lateral (
    select l.pool_id, l.kind, l.parts, coalesce(l.effective_at, l.recorded_at) as happened_at
    from cell.ledger as l
    where l.environment_id = $6
      and l.customer_number = r.customer_number
      and l.sequence > r.after
      and l.sequence <= r.until
      and l.recorded_at >= ${recordedSince({ environment: "$6", from: "$4" })}
      and coalesce(l.effective_at, l.recorded_at) >= $4::timestamptz
    order by l.customer_number, l.sequence
    limit $7
  ) as e
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

/** What the entries of these runs moved, from the range's beginning on. */
export async function sumMoved(
  tx: Tx,
  environmentId: EnvironmentId,
  runs: readonly MovedRun[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<Moved[]> {
  const { rows } = await tx.run({ ...SUM_MOVED, name: "" }, [
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    bigints(runs.map(({ after }) => after)),
    bigints(runs.map((run) => run.until)),
    formatTimestamp(from),
    formatTimestamp(until),
    environmentId,
    Math.max(...runs.map((run) => run.until - run.after)),
  ]);
  return rows.map(([pool, grantKind, entryKind, isAfter, amount]) => ({
    pool: brandAs<PoolId>(readInteger(pool)),
    grantKind: grantKindOf(readInteger(grantKind)),
    entryKind: entryKindOf(readInteger(entryKind)),
    isAfter: readBoolean(isAfter),
    amount: readBigInt(amount),
  }));
}
