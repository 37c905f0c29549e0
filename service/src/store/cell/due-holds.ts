import type { Catalog } from "../../entitlement/catalog.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers, texts } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { type Parameter, type Statement, statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { ownClock } from "../../primitives/clocks-agree.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { type CustomerName, customerKey } from "./customers.ts";
import { HOLD } from "./holds.ts";
import type { FoundWallet, WalletName } from "./wallets.ts";

// A decision needs the holds that have ended by its time. They are read after the wallets were locked, in a statement of their own,
// because a statement that waits for a lock sees other tables as they were before.

/** How far ahead of this process's clock a lane reads, in case the decision is a little later. */
const MARGIN_MS = 60_000;

// The limits keep the planner from reading whole tables, which it does without statistics; a customer has at most 1,000 open holds.
function listStatement(name: string, customers: string, until: string): Statement {
  return statement(
    name,
    `
  select
    n.position::integer,
    ${HOLD.columns.join(",\n    ")}
  from ${customers}
  cross join lateral (
    select p.environment_id, p.customer_number, p.change_number
    from cell.open_holds as p
    where p.environment_id = n.environment_id
      and p.customer_number = n.customer_number
      and p.expires_at <= ${until}
    order by p.expires_at
    limit 1000
  ) as o
  cross join lateral (
    select c.hold_number, c.opened_at, c.expires_at, c.member_id, c.state
    from cell.hold_changes as c
    where c.environment_id = o.environment_id
      and c.customer_number = o.customer_number
      and c.number = o.change_number
    limit 1
  ) as h`,
  );
}

// Without a time: those that end within a minute, so that a view a moment later has them too.
const LIST_DUE = listStatement(
  "holds.list_due",
  "unnest($1::integer[], $2::bigint[]) with ordinality as n (environment_id, customer_number, position)",
  "coalesce($3::timestamptz, clock_timestamp() + interval '1 minute')",
);

const LIST_DUE_OF = listStatement(
  "holds.list_due_of",
  `(
    select i.position, c.environment_id, c.number as customer_number
    from unnest($1::integer[], $2::text[]) with ordinality as i (environment_id, customer_id, position)
    join cell.customers as c on c.environment_id = i.environment_id and c.customer_id = i.customer_id
  ) as n`,
  "$3::timestamptz",
);

async function list(
  tx: Tx,
  statement: Statement,
  names: readonly Pick<WalletName, "environmentId">[],
  [customers, until]: readonly [Parameter, Instant | null],
): Promise<Hold[][]> {
  const environments = integers(names.map(({ environmentId }) => environmentId));
  const time = until === null ? null : formatTimestamp(until);
  const { rows } = await tx.run(statement, [environments, customers, time]);
  const found: Hold[][] = names.map(() => []);
  for (const row of rows) found[readInteger(row[0]) - 1]?.push(HOLD.readAt(row, 1));
  return found;
}

/** The holds of each customer that end by `until`. */
function listDue(tx: Tx, names: readonly WalletName[], until: Instant | null): Promise<Hold[][]> {
  return list(tx, LIST_DUE, names, [bigints(names.map(({ customerNumber }) => customerNumber)), until]);
}

/** Holds by customer, as far as `until`. */
export type EarlyHolds = { readonly until: Instant; readonly holds: ReadonlyMap<string, readonly Hold[]> };

/**
 * Reads due holds in the round trip that locks the wallets, before the time of the decision and the customers' numbers are known. If
 * the decision turns out to be later than this process's clock suggests, `addDueHolds` reads again.
 */
export async function listDueEarly(tx: Tx, names: readonly CustomerName[]): Promise<EarlyHolds> {
  const until = brandAs<Instant>(ownClock() + MARGIN_MS);
  const found = await list(tx, LIST_DUE_OF, names, [texts(names.map(({ customerId }) => customerId)), until]);
  return { until, holds: new Map(names.map((name, index) => [customerKey(name), found[index] ?? []])) };
}

/** What the time of a decision depends on, besides the wallet. */
type Present = { readonly clock: Instant; readonly catalogs: readonly Pick<Catalog, "changedAt">[] };

/** Adds the holds that are due to locked wallets. Customers without holds cost nothing. */
export async function addDueHolds(
  tx: Tx,
  wallets: readonly FoundWallet[],
  present: Present,
  early: EarlyHolds | null = null,
): Promise<readonly FoundWallet[]> {
  const holders = wallets.filter(({ mayHold }) => mayHold);
  if (holders.length === 0) return wallets;
  const latest = latestDecision(holders, present);
  const isEarly = early !== null && early.until >= latest;
  const due = isEarly
    ? holders.map((holder) => early.holds.get(customerKey(holder)))
    : await listDue(tx, holders, latest);
  const until = isEarly ? early.until : latest;
  const holds = new Map(holders.map((holder, index) => [holder, due[index] ?? []]));
  return wallets.map((found): FoundWallet => {
    const { readWallet } = found;
    const known = holds.get(found);
    if (readWallet === null || known === undefined) return found;
    return { ...found, readWallet: () => ({ ...readWallet(), holds: known, holdsUntil: until }) };
  });
}

/** No decision about these wallets is dated later than this. */
export function latestDecision(
  wallets: readonly Pick<FoundWallet, "decidedAt">[],
  { clock, catalogs }: Present,
): Instant {
  const decided = wallets.map(({ decidedAt }) => decidedAt ?? clock);
  return brandAs<Instant>(Math.max(clock, ...decided, ...catalogs.map(({ changedAt }) => changedAt)));
}

/** Adds the holds that end by `until`, or those that are due now to wallets that are only looked at. */
export async function viewDueHolds<T extends { readonly wallet: Wallet }>(
  tx: Tx,
  rows: readonly T[],
  nameOf: (row: T) => WalletName,
  until: Instant | null = null,
): Promise<T[]> {
  const holders = rows.filter(({ wallet }) => wallet.openHolds > 0);
  if (holders.length === 0) return [...rows];
  const due = await listDue(tx, holders.map(nameOf), until);
  const holds = new Map(holders.map((holder, index) => [holder, due[index] ?? []]));
  return rows.map((row) => {
    const known = holds.get(row);
    if (known === undefined) return row;
    const holdsUntil = until ?? Number.POSITIVE_INFINITY;
    return { ...row, wallet: { ...row.wallet, holds: known, holdsUntil } };
  });
}
