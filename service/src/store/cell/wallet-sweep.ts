import { bigints, integers } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { describeRow, id, type RowOf } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId } from "../../primitives/brand.ts";
import { viewDueHolds } from "./due-holds.ts";
import { HAS_OPEN_HOLDS } from "./wallet-state.ts";
import { WALLET, type WalletName } from "./wallets.ts";

const SWEPT = describeRow({
  environmentId: id<EnvironmentId>("w.environment_id"),
  customerNumber: id<CustomerNumber>("w.customer_number"),
  wallet: WALLET,
});

export type SweptWallet = RowOf<typeof SWEPT>;

const LIST = statement(
  "wallets.list_next",
  `
  select ${SWEPT.list}
  from (
    select environment_id, customer_number, sequence, decided_at, is_blocked, state, balance
    from cell.wallets
    where (environment_id, customer_number) > ($1::integer, $2::bigint)
    order by environment_id, customer_number
    limit $3
  ) as w
  where w.balance > 0 or (${HAS_OPEN_HOLDS})`,
);

const FIND_LAST = statement(
  "wallets.find_last_of_next",
  `
  select environment_id, customer_number
  from cell.wallets
  where (environment_id, customer_number) > ($1::integer, $2::bigint)
  order by environment_id, customer_number
  offset $3 - 1
  limit 1`,
);

type After = { readonly environmentId: number; readonly customerNumber: number };

/**
 * Reads the next `limit` wallets without locks. Returns the wallets with credits or holds, the number of unreadable wallets, and the
 * position of the last wallet. `last` is null at the end of the table.
 */
export async function listNextWallets(
  tx: Tx,
  after: After,
  limit: number,
): Promise<{ readonly wallets: SweptWallet[]; readonly unreadable: number; readonly last: After | null }> {
  const parameters = [after.environmentId, after.customerNumber, limit];
  const found = await tx.run(LIST, parameters);
  const [end] = (await tx.run(FIND_LAST, parameters)).rows;
  const readable = found.rows.flatMap(readIfPossible);
  return {
    wallets: await viewDueHolds(tx, readable, (wallet) => wallet),
    unreadable: found.rows.length - readable.length,
    last:
      end === undefined ? null : { environmentId: readInteger(end[0]), customerNumber: readInteger(end[1]) },
  };
}

const LOCK = statement(
  "wallets.lock_swept",
  `
  select ${SWEPT.list}
  from unnest($1::integer[], $2::bigint[]) as n (environment_id, customer_number)
  cross join lateral (
    select environment_id, customer_number, sequence, decided_at, is_blocked, state
    from cell.wallets as q
    where q.environment_id = n.environment_id
      and q.customer_number = n.customer_number
    for update skip locked
  ) as w`,
);

/** Locks and rereads the wallets that no other transaction has locked, without their holds. */
export async function lockSweptWallets(tx: Tx, names: readonly WalletName[]): Promise<SweptWallet[]> {
  const { rows } = await tx.run(LOCK, [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
  ]);
  return rows.flatMap(readIfPossible);
}

/** Skips a wallet that is damaged, or that a later release wrote in a form unknown to this release. */
function readIfPossible(row: readonly unknown[]): SweptWallet[] {
  try {
    return [SWEPT.read(row)];
  } catch {
    return [];
  }
}
