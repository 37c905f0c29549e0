import type { Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers } from "../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId } from "../../primitives/brand.ts";
import { decodeWalletState } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

export type SweptWallet = WalletName & { readonly wallet: Wallet };

const COLUMNS = `
    w.environment_id,
    w.customer_number,
    w.sequence,
    (extract(epoch from w.decided_at) * 1000)::bigint,
    w.is_blocked,
    w.state`;

const LIST = statement(
  "wallets.list_next",
  `
  select ${COLUMNS}
  from (
    select environment_id, customer_number, sequence, decided_at, is_blocked, state, balance
    from cell.wallets
    where (environment_id, customer_number) > ($1::integer, $2::bigint)
    order by environment_id, customer_number
    limit $3
  ) as w
  where w.balance > 0`,
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
 * Of the next so many wallets those with credits, unlocked; how many of them could not be read; and where they end. Null: there
 * are no more.
 */
export async function listNextWallets(
  tx: Tx,
  after: After,
  limit: number,
): Promise<{ readonly wallets: SweptWallet[]; readonly unreadable: number; readonly last: After | null }> {
  const parameters = [after.environmentId, after.customerNumber, limit];
  const found = await tx.run(LIST, parameters);
  const [end] = (await tx.run(FIND_LAST, parameters)).rows;
  const wallets = found.rows.flatMap(readIfPossible);
  return {
    wallets,
    unreadable: found.rows.length - wallets.length,
    last:
      end === undefined ? null : { environmentId: readInteger(end[0]), customerNumber: readInteger(end[1]) },
  };
}

const LOCK = statement(
  "wallets.lock_swept",
  `
  select ${COLUMNS}
  from unnest($1::integer[], $2::bigint[]) as n (environment_id, customer_number)
  cross join lateral (
    select environment_id, customer_number, sequence, decided_at, is_blocked, state
    from cell.wallets as q
    where q.environment_id = n.environment_id
      and q.customer_number = n.customer_number
    for update skip locked
  ) as w`,
);

/** Those that nobody else holds, as they are now. */
export async function lockSweptWallets(tx: Tx, names: readonly WalletName[]): Promise<SweptWallet[]> {
  const { rows } = await tx.run(LOCK, [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
  ]);
  return rows.flatMap(readIfPossible);
}

/** One that a later release wrote, in a form that this one does not know, is left to that release; one that is damaged to people. */
function readIfPossible(row: readonly unknown[]): SweptWallet[] {
  try {
    return [toWallet(row)];
  } catch {
    return [];
  }
}

function toWallet(row: readonly unknown[]): SweptWallet {
  const [environmentId, customerNumber, sequence, decidedAt, isBlocked, state] = row;
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(customerNumber)),
    wallet: decodeWalletState(readText(state), {
      sequence: readInteger(sequence),
      decidedAt: readInstant(decidedAt),
      isBlocked: readBoolean(isBlocked),
    }),
  };
}
