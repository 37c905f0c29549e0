import type { Catalog } from "../../entitlement/catalog.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { HOLD } from "./holds.ts";
import type { FoundWallet, WalletName } from "./wallets.ts";

// A decision needs the holds that have expired by the time of the decision. A wallet stores `holdsUntil`. No open hold expires by then, so
// holds are read only after that time. They are read after the wallets are locked, in a separate statement, because a statement
// that waits for a lock sees other tables as they were before the wait.

/** Also reads holds that expire within a minute after the decision, so that decisions in this minute need no read. */
const AHEAD_MS = 60_000;

// If no time is given, lists the holds that expire within a minute, so that a view shortly afterward includes them. Without the limits and
// without statistics, the planner would read whole tables. A customer has at most 1,000 open holds.
const LIST_DUE = statement(
  "holds.list_due",
  `
  select
    n.position::integer,
    ${HOLD.columns.join(",\n    ")}
  from unnest($1::integer[], $2::bigint[]) with ordinality as n (environment_id, customer_number, position)
  cross join lateral (
    select p.environment_id, p.customer_number, p.change_number
    from cell.open_holds as p
    where p.environment_id = n.environment_id
      and p.customer_number = n.customer_number
      and p.expires_at <= coalesce($3::timestamptz, clock_timestamp() + interval '1 minute')
    order by p.number
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

/** Lists each customer's open holds that expire at or before `until`. */
async function listDue(tx: Tx, names: readonly WalletName[], until: Instant | null): Promise<Hold[][]> {
  const { rows } = await tx.run(LIST_DUE, [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
    until === null ? null : formatTimestamp(until),
  ]);
  const found: Hold[][] = names.map(() => []);
  for (const row of rows) found[readInteger(row[0]) - 1]?.push(HOLD.readAt(row, 1));
  return found;
}

/** The clock and catalogs, which determine the time of a decision together with the wallet. */
type Present = { readonly clock: Instant; readonly catalogs: readonly Pick<Catalog, "changedAt">[] };

/** Reads the due holds of locked wallets whose `holdsUntil` has passed. Other wallets need no read. */
export async function addDueHolds(
  tx: Tx,
  wallets: readonly FoundWallet[],
  present: Present,
): Promise<readonly FoundWallet[]> {
  const latest = latestDecision(wallets, present);
  const holders = wallets.filter(({ holdsUntil }) => holdsUntil < latest);
  if (holders.length === 0) return wallets;
  const until = brandAs<Instant>(latest + AHEAD_MS);
  const due = await listDue(tx, holders, until);
  const holds = new Map(holders.map((holder, index) => [holder, due[index] ?? []]));
  return wallets.map((found): FoundWallet => {
    const { readWallet } = found;
    const known = holds.get(found);
    if (readWallet === null || known === undefined) return found;
    return {
      ...found,
      holdsUntil: until,
      readWallet: () => ({ ...readWallet(), holds: known, holdsUntil: until }),
    };
  });
}

/** The latest time that a decision about these wallets can have. */
export function latestDecision(
  wallets: readonly Pick<FoundWallet, "decidedAt">[],
  { clock, catalogs }: Present,
): Instant {
  const decided = wallets.map(({ decidedAt }) => decidedAt ?? clock);
  return brandAs<Instant>(Math.max(clock, ...decided, ...catalogs.map(({ changedAt }) => changedAt)));
}

/** For wallets that are only viewed. Adds holds that expire by `until`, or within a minute if `until` is null. */
export async function viewDueHolds<T extends { readonly wallet: Wallet }>(
  tx: Tx,
  rows: readonly T[],
  nameOf: (row: T) => WalletName,
  until: Instant | null = null,
): Promise<T[]> {
  const holders = rows.filter(({ wallet }) => wallet.holdsUntil < (until ?? Number.POSITIVE_INFINITY));
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
