import type { Wallet } from "../../entitlement/wallet.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { type Statement, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import type { CustomerName } from "./customers.ts";
import { decodeWalletState } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** A wallet with facts read at the same instant. Entries up to its sequence never change, so they can be read later. */
export type WalletRow = WalletName & {
  readonly readAt: Instant;
  /** Null if the wallet has no customer. */
  readonly customerId: CustomerId | null;
  /** Null if this release cannot read the wallet. */
  readonly wallet: Wallet | null;
  readonly balance: number;
  /** Whether the ledger has entries beyond the wallet's sequence. */
  readonly hasLaterEntries: boolean;
  /** Number of the last grant, or 0 if there is none. */
  readonly lastGrant: number;
  /** Number of the last overrides, or 0 if there are none. */
  readonly lastOverrides: number;
  /** Number of the last change of a hold, or 0 if there is none. */
  readonly lastHoldChange: number;
  /** Number of holds that are listed as open. Negative if one of them differs from its last change. */
  readonly openHolds: number;
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
    ), 0),
    coalesce((
      select max(o.number)
      from cell.overrides as o
      where o.environment_id = w.environment_id
        and o.customer_number = w.customer_number
    ), 0),
    coalesce((
      select max(h.number)
      from cell.hold_changes as h
      where h.environment_id = w.environment_id
        and h.customer_number = w.customer_number
    ), 0),
    (
      select
        case
          when bool_or((h.number, h.expires_at) is distinct from (o.change_number, o.expires_at)) then 0 - count(*)
          else count(*)
        end
      from cell.open_holds as o
      left join lateral (
        select c.number, c.expires_at
        from cell.hold_changes as c
        where c.environment_id = o.environment_id
          and c.customer_number = o.customer_number
          and c.hold_number = o.number
        order by c.number desc
        limit 1
      ) as h on true
      where o.environment_id = w.environment_id
        and o.customer_number = w.customer_number
    )`;

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

/** Finds a customer's wallet. Null if there is no such customer. */
export async function findWalletRow(
  tx: Tx,
  { environmentId, customerId }: CustomerName,
): Promise<WalletRow | null> {
  const { rows } = await tx.run(FIND, [environmentId, customerId]);
  return rows[0] === undefined ? null : readRow(rows[0]);
}

function readRow([environmentId, customerNumber, readAt, customerId, ...row]: readonly unknown[]): WalletRow {
  const [sequence, decidedAt, isBlocked, state, balance, hasLaterEntries, lastGrant, ...last] = row;
  const [lastOverrides, lastHoldChange, openHolds] = last;
  return {
    ...readName(environmentId, customerNumber),
    readAt: readInstant(readAt),
    customerId: readNullable(customerId, (id) => brandAs<CustomerId>(readText(id))),
    wallet: findWallet(readText(state), { sequence, decidedAt, isBlocked }),
    // The sum of two full pools exceeds 2^53 - 1, so it is rounded here in the same way as when it was written.
    balance: Number(balance),
    hasLaterEntries: readBoolean(hasLaterEntries),
    lastGrant: Number(lastGrant),
    lastOverrides: Number(lastOverrides),
    lastHoldChange: Number(lastHoldChange),
    openHolds: Number(openHolds),
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

// A scan of the wallets misses the rows of customers without a wallet, so the other tables are scanned for their owners.

/** A customer with rows in a table. */
export type Owner = WalletName & { readonly hasWallet: boolean };

const OWNERS = `
  select o.environment_id, o.customer_number, w.customer_number is not null
  from owners as o
  left join cell.wallets as w on w.environment_id = o.environment_id and w.customer_number = o.customer_number`;

const CUSTOMERS = statement(
  "verify.list_customers",
  `
  with owners as (
    select environment_id, number as customer_number
    from cell.customers
    where (environment_id, number) > ($1, $2)
    order by environment_id, number
    limit $3
  )
  ${OWNERS}
  order by o.environment_id, o.customer_number`,
);

const GRANTS = ownersStatement("verify.list_grant_owners", "grants");
const OVERRIDES = ownersStatement("verify.list_overrides_owners", "overrides");
const HOLDS = ownersStatement("verify.list_hold_owners", "hold_changes");

function ownersStatement(name: string, table: string): Statement {
  return statement(
    name,
    `
    with owners as (
      select distinct g.environment_id, g.customer_number
      from (
        select environment_id, customer_number
        from cell.${table}
        where (environment_id, customer_number) > ($1, $2)
        order by environment_id, customer_number
        limit $3
      ) as g
    )
    ${OWNERS}
    order by o.environment_id, o.customer_number`,
  );
}

// Ordered by customer, like the primary key. The environment is taken from the customer's first entry.
const LEDGER = statement(
  "verify.list_ledger_owners",
  `
  with owners as (
    select first.environment_id, n.customer_number
    from (
      select distinct e.customer_number
      from (
        select customer_number
        from cell.ledger
        where customer_number > $1
        order by customer_number
        limit $2
      ) as e
    ) as n
    cross join lateral (
      select environment_id
      from cell.ledger
      where customer_number = n.customer_number
      limit 1
    ) as first
  )
  ${OWNERS}
  order by o.customer_number`,
);

export const SCANNED_TABLES = ["customers", "ledger", "grants", "overrides", "holds"] as const;
export type ScannedTable = (typeof SCANNED_TABLES)[number];

const LIST_OWNERS = {
  customers: CUSTOMERS,
  ledger: LEDGER,
  grants: GRANTS,
  overrides: OVERRIDES,
  holds: HOLDS,
} as const satisfies Record<ScannedTable, Statement>;

/** The customers in a table's next `rowsMax` rows. Reads only the index. */
export async function listOwners(
  tx: Tx,
  table: ScannedTable,
  after: WalletName,
  rowsMax: number,
): Promise<Owner[]> {
  const { environmentId, customerNumber } = after;
  const key = table === "ledger" ? [customerNumber] : [environmentId, customerNumber];
  const { rows } = await tx.run(LIST_OWNERS[table], [...key, rowsMax]);
  return rows.map(([environment, number, hasWallet]) => ({
    ...readName(environment, number),
    hasWallet: readBoolean(hasWallet),
  }));
}

export function readName(environmentId: unknown, customerNumber: unknown): WalletName {
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: brandAs<CustomerNumber>(readInteger(customerNumber)),
  };
}

/** Where a scan starts. */
export const BEFORE_ALL: WalletName = {
  environmentId: brandAs<EnvironmentId>(-(2 ** 31)),
  customerNumber: brandAs<CustomerNumber>(Number.MIN_SAFE_INTEGER),
};
