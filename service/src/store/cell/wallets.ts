import type { Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers, texts, timestamps } from "../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { MARK } from "../../postgres/own-backend.ts";
import { boolean, derive, describeRow, instant, integer, text } from "../../postgres/row.ts";
import type { Session } from "../../postgres/session.ts";
import { type Parameter, type Rows, type Statement, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import type { CustomerName } from "./customers.ts";
import { decodeHolds, HOLD_COLUMNS } from "./hold-state.ts";
import {
  decodeWalletState,
  EMPTY_WALLET_STATE,
  encodeWalletState,
  HAS_OPEN_HOLDS,
  holdsUntilIn,
} from "./wallet-state.ts";

export type WalletName = { readonly environmentId: EnvironmentId; readonly customerNumber: CustomerNumber };

/** Columns of `cell.wallets as w`. */
export const WALLET = derive(
  describeRow({
    sequence: integer("w.sequence"),
    decidedAt: instant("w.decided_at"),
    isBlocked: boolean("w.is_blocked"),
    state: text("w.state"),
  }),
  ({ state, ...row }) => decodeWalletState(state, row),
);

/**
 * A customer's wallet. `readWallet` is null if another transaction has locked the wallet or the wallet is missing. It is missing if the
 * customer was created by a release without wallets, or will be created by this batch. Wallets are decoded one by one, so that a wallet
 * written by a later release fails only that customer's request.
 */
export type FoundWallet = CustomerName &
  WalletName & {
    readonly readWallet: (() => Wallet) | null;
    readonly isMissing: boolean;
    /** No open hold ends by this time. A decision at a later time must first read the holds. */
    readonly holdsUntil: number;
    readonly decidedAt: Instant | null;
  };

const LOCK_FREE = lockStatement("wallets.lock_free", "for update skip locked");
const LOCK = lockStatement("wallets.lock", "for update");
const READ = lockStatement("wallets.read", "");

function lockStatement(name: string, lock: string): Statement {
  return statement(
    name,
    `
    select
      n.position,
      c.number,
      w.sequence,
      w.decided_at,
      w.is_blocked,
      w.state,
      case
        when w.state is null then not exists (
          select
          from cell.wallets as e
          where e.environment_id = c.environment_id
            and e.customer_number = c.number
        )
        else false
      end
    from unnest($1::integer[], $2::text[]) with ordinality as n (environment_id, customer_id, position)
    join cell.customers as c on c.environment_id = n.environment_id and c.customer_id = n.customer_id
    left join lateral (
      select
        w.sequence,
        (extract(epoch from w.decided_at) * 1000)::bigint as decided_at,
        w.is_blocked,
        w.state
      from cell.wallets as w
      where w.environment_id = c.environment_id
        and w.customer_number = c.number
      ${lock}
    ) as w on true`,
  );
}

/**
 * Locks the wallets that no other transaction has locked. The other wallets are returned without `readWallet`. If lanes waited instead, two
 * processes with the same customers would block each other. They would handle 155 instead of 423 batches per second.
 */
export function lockFreeWallets(tx: Tx, names: readonly CustomerName[]): Promise<FoundWallet[]> {
  return find(tx, LOCK_FREE, names);
}

/** Locks all of these wallets, and waits for each lock. Names must be sorted. */
export function lockWallets(tx: Tx, names: readonly CustomerName[]): Promise<FoundWallet[]> {
  return find(tx, LOCK, names);
}

/** Reads wallets without locking them. */
export function readWallets(tx: Tx, names: readonly CustomerName[]): Promise<FoundWallet[]> {
  return find(tx, READ, names);
}

/** Everything a check depends on. `readWallet` is null if there is no wallet. */
export type CheckFacts = {
  readonly now: Instant;
  readonly revisions: ReadonlyMap<EnvironmentId, string>;
  readonly wallets: readonly { readonly name: CustomerName; readonly readWallet: (() => Wallet) | null }[];
};

const READ_FOR_CHECK = statement(
  "wallets.read_for_check",
  `
  select
    n.position,
    w.sequence,
    (extract(epoch from w.decided_at) * 1000)::bigint,
    w.is_blocked,
    w.state,
    g.revision::text,
    case n.position when 1 then (extract(epoch from clock_timestamp()) * 1000)::bigint end,
    case n.position when 1 then ${MARK} end,
    case
      when ${HAS_OPEN_HOLDS} then (
        select coalesce(json_agg(json_build_array(${HOLD_COLUMNS})), '[]')::text
        from cell.open_holds as o
        -- The limit keeps the planner from reading the whole table.
        cross join lateral (
          select c.hold_number, c.opened_at, c.expires_at, c.member_id, c.state
          from cell.hold_changes as c
          where c.environment_id = o.environment_id
            and c.customer_number = o.customer_number
            and c.number = o.change_number
          limit 1
        ) as h
        where o.environment_id = w.environment_id
          and o.customer_number = w.customer_number
          and o.expires_at <= clock_timestamp() + interval '1 minute'
      )
    end
  from unnest($1::integer[], $2::text[], $3::integer[])
    with ordinality as n (environment_id, customer_id, catalog_of, position)
  left join cell.catalogs as g on g.environment_id = n.catalog_of
  left join cell.customers as c on c.environment_id = n.environment_id and c.customer_id = n.customer_id
  left join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number`,
);

/**
 * Reads wallets, catalog revisions and the clock in one statement, because there are no locks to wait for first. The statement runs
 * without `begin`, so it verifies by itself that the session's own backend responded.
 */
export async function readForCheck(session: Session, names: readonly CustomerName[]): Promise<CheckFacts> {
  // Reads the revision of each environment once. The ID 0 matches no environment.
  const seen = new Set<EnvironmentId>();
  const catalogsOf = names.map(({ environmentId }) => {
    if (seen.has(environmentId)) return 0;
    seen.add(environmentId);
    return environmentId;
  });
  const { rows } = await session.run(READ_FOR_CHECK, [...namesToParameters(names), integers(catalogsOf)]);
  const revisions = new Map<EnvironmentId, string>();
  let now: Instant | null = null;
  const wallets = rows.map((row) => {
    const [position, sequence, decidedAt, isBlocked, state, revision, clock, mark, holds] = row;
    const name = names[readInteger(position) - 1];
    assert(name !== undefined, "a row belongs to a requested name");
    if (clock !== null) {
      session.refuseOther(mark);
      now = readInstant(clock);
    }
    if (revision !== null) revisions.set(name.environmentId, readText(revision));
    if (state === null) return { name, readWallet: null };
    const readWallet = walletReader(sequence, decidedAt, isBlocked, state);
    return { name, readWallet: holds === null ? readWallet : holdsReader(readWallet, readText(holds)) };
  });
  assert(now !== null, "the first row has the clock");
  return { now, revisions, wallets };
}

function namesToParameters(names: readonly CustomerName[]): Parameter[] {
  return [
    integers(names.map(({ environmentId }) => environmentId)),
    texts(names.map(({ customerId }) => customerId)),
  ];
}

/** A check does not need holds that end more than a minute from now, because they are not due yet. */
function holdsReader(readWallet: () => Wallet, holds: string): () => Wallet {
  return () => ({ ...readWallet(), holds: decodeHolds(holds), holdsUntil: Number.POSITIVE_INFINITY });
}

function walletReader(
  sequence: unknown,
  decidedAt: unknown,
  isBlocked: unknown,
  state: unknown,
): () => Wallet {
  return () =>
    decodeWalletState(readText(state), {
      sequence: readInteger(sequence),
      decidedAt: readInstant(decidedAt),
      isBlocked: readBoolean(isBlocked),
    });
}

async function find(tx: Tx, lock: Statement, names: readonly CustomerName[]): Promise<FoundWallet[]> {
  const { rows } = await tx.run(lock, namesToParameters(names));
  const found: FoundWallet[] = [];
  for (const [position, number, sequence, decidedAt, isBlocked, state, isMissing] of rows) {
    const name = names[readInteger(position) - 1];
    if (name === undefined) continue;
    const { environmentId, customerId } = name;
    const customerNumber = brandAs<CustomerNumber>(readInteger(number));
    found.push({
      environmentId,
      customerId,
      customerNumber,
      readWallet: state === null ? null : walletReader(sequence, decidedAt, isBlocked, state),
      isMissing: readBoolean(isMissing),
      holdsUntil: state === null ? Number.POSITIVE_INFINITY : holdsUntilIn(readText(state)),
      decidedAt: readNullable(decidedAt, readInstant),
    });
  }
  return found;
}

const INSERT_EMPTY = statement(
  "wallets.insert_empty",
  `
  insert into cell.wallets (environment_id, customer_number, sequence, decided_at, balance, is_blocked, state)
  select w.environment_id, w.customer_number, 0, clock_timestamp(), 0, false, '${EMPTY_WALLET_STATE}'
  from unnest($1::integer[], $2::bigint[]) as w (environment_id, customer_number)`,
);

/** If another process has created one of these wallets in the meantime, the statement must fail, so that the batch reruns. */
export function insertEmptyWallets(tx: Tx, names: readonly WalletName[]): Promise<Rows> {
  return tx.run(INSERT_EMPTY, [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
  ]);
}

export type ChangedWallet = WalletName & { readonly wallet: Wallet };

const UPDATE = statement(
  "wallets.update",
  `
  update cell.wallets as w
  set
    sequence = n.sequence,
    decided_at = n.decided_at,
    balance = n.balance,
    state = n.state
  from unnest($1::integer[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::bigint[], $6::text[])
    as n (environment_id, customer_number, sequence, decided_at, balance, state)
  where w.environment_id = n.environment_id
    and w.customer_number = n.customer_number`,
);

/** Updates wallets. The transaction must hold their locks. */
export function updateWallets(tx: Tx, wallets: readonly ChangedWallet[]): Promise<Rows> {
  return tx.run(UPDATE, [
    integers(wallets.map(({ environmentId }) => environmentId)),
    bigints(wallets.map(({ customerNumber }) => customerNumber)),
    bigints(wallets.map(({ wallet }) => wallet.sequence)),
    timestamps(wallets.map(({ wallet }) => wallet.decidedAt)),
    bigints(wallets.map(({ wallet }) => totalOf(wallet))),
    texts(wallets.map(({ wallet }) => encodeWalletState(wallet))),
  ]);
}

const BLOCK = statement(
  "wallets.block",
  `
  update cell.wallets
  set is_blocked = $3
  where environment_id = $1
    and customer_number = $2`,
);

export function blockWallet(tx: Tx, name: WalletName, isBlocked: boolean): Promise<Rows> {
  return tx.run(BLOCK, [name.environmentId, name.customerNumber, isBlocked]);
}

/** The value of the `balance` column: the credits of all pools, whether they can be spent or are held. */
export function totalOf({ grants, held }: Pick<Wallet, "grants" | "held">): number {
  let total = 0;
  for (const { remaining } of grants) total += remaining;
  for (const { credits } of held) total += credits;
  return total;
}
