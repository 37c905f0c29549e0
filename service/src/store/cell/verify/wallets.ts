import type { Wallet } from "../../../entitlement/wallet.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerId, type Instant } from "../../../primitives/brand.ts";
import type { CustomerName } from "../customers.ts";
import { decodeWalletState } from "../wallet-state.ts";
import type { WalletName } from "../wallets.ts";
import { readName } from "./walk.ts";

/** A wallet with what else was true at the same instant. Entries up to its sequence can be read at leisure: they stay. */
export type WalletRow = WalletName & {
  readonly readAt: Instant;
  /** Null: the wallet is of nobody. */
  readonly customerId: CustomerId | null;
  /** Null: it is in no form that this release can read. */
  readonly wallet: Wallet | null;
  readonly balance: number;
  /** Whether there are entries that the wallet does not know of. */
  readonly hasLaterEntries: boolean;
  /** The last one's number; 0 where there is none. */
  readonly lastGrant: number;
};

const COLUMNS = `
    w.environment_id,
    w.customer_number,
    (extract(epoch from statement_timestamp()) * 1000)::bigint,
    c.customer_id,
    w.sequence,
    (extract(epoch from w.decided_at) * 1000)::bigint,
    w.is_blocked,
    w.state,
    w.balance,
    exists (
      select
      from cell.ledger as e
      where e.customer_number = w.customer_number
        and e.sequence > w.sequence
    ),
    coalesce((
      select max(g.number)
      from cell.grants as g
      where g.environment_id = w.environment_id
        and g.customer_number = w.customer_number
    ), 0)`;

const LIST = statement(
  "verify.list_wallets",
  `
  select ${COLUMNS}
  from cell.wallets as w
  left join cell.customers as c on c.environment_id = w.environment_id and c.number = w.customer_number
  where (w.environment_id, w.customer_number) > ($1, $2)
  order by w.environment_id, w.customer_number
  limit $3`,
);

export async function listWallets(tx: Tx, after: WalletName, rowsMax: number): Promise<WalletRow[]> {
  const { rows } = await tx.run(LIST, [after.environmentId, after.customerNumber, rowsMax]);
  return rows.map(readRow);
}

const FIND = statement(
  "verify.find_wallet",
  `
  select ${COLUMNS}
  from cell.customers as c
  join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
  where c.environment_id = $1
    and c.customer_id = $2
    and c.erased_at is null`,
);

/** Null: there is no such customer. */
export async function findWalletRow(
  tx: Tx,
  { environmentId, customerId }: CustomerName,
): Promise<WalletRow | null> {
  const { rows } = await tx.run(FIND, [environmentId, customerId]);
  return rows[0] === undefined ? null : readRow(rows[0]);
}

function readRow([environmentId, customerNumber, readAt, customerId, ...row]: readonly unknown[]): WalletRow {
  const [sequence, decidedAt, isBlocked, state, balance, hasLaterEntries, lastGrant] = row;
  return {
    ...readName(environmentId, customerNumber),
    readAt: readInstant(readAt),
    customerId: readNullable(customerId, (id) => brandAs<CustomerId>(readText(id))),
    wallet: findWallet(readText(state), { sequence, decidedAt, isBlocked }),
    // Two full pools make more than an integer can be sure of: rounded as the sum that was written.
    balance: Number(balance),
    hasLaterEntries: readBoolean(hasLaterEntries),
    lastGrant: Number(lastGrant),
  };
}

function findWallet(
  state: string,
  row: { readonly sequence: unknown; readonly decidedAt: unknown; readonly isBlocked: unknown },
): Wallet | null {
  try {
    return decodeWalletState(state, {
      sequence: readInteger(row.sequence),
      decidedAt: readInstant(row.decidedAt),
      isBlocked: readBoolean(row.isBlocked),
    });
  } catch {
    return null;
  }
}
