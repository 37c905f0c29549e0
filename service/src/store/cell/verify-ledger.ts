import type { Entry, Usage } from "../../entitlement/entry.ts";
import type { ReversedConsume } from "../../entitlement/fold.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import { bigints, integers } from "../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerNumber,
  type FeatureId,
  type Instant,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { entryKindOf, parseOverage, parseParts, sumOverage } from "./ledger.ts";
import { grantKindOf } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** A range of one customer's rows: numbers above `after`, up to `until`. */
export type Run = WalletName & { readonly after: number; readonly until: number };

// Leaves out entries from another environment, which do not belong to the wallet. The gap is reported as a mismatch.
const LIST_ENTRIES = statement(
  "verify.list_entries",
  `
  select
    n.position::integer,
    e.sequence,
    e.kind,
    e.pool_id,
    e.amount,
    e.balance_after,
    (date_part('epoch', coalesce(e.effective_at, e.recorded_at)) * 1000)::bigint,
    e.parts,
    e.feature_id,
    e.quantity,
    e.plan_version_id,
    e.assignment_number,
    e.reverses,
    e.item,
    e.items,
    e.overrides_number,
    e.uncovered,
    e.overage_parts,
    e.overage,
    e.hold_number
  from unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.ledger as e
    on e.environment_id = n.environment_id
    and e.customer_number = n.customer_number
    and e.sequence > n.after
    and e.sequence <= n.until
  order by n.position, e.sequence`,
);

/** The entries of each run, in order. Null if an entry of the run cannot be read. */
export async function listEntries(tx: Tx, runs: readonly Run[]): Promise<(readonly Entry[] | null)[]> {
  const { rows } = await tx.run(LIST_ENTRIES, [
    integers(runs.map(({ environmentId }) => environmentId)),
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    bigints(runs.map(({ after }) => after)),
    bigints(runs.map(({ until }) => until)),
  ]);
  const found: (Entry[] | null)[] = runs.map(() => []);
  for (const row of rows) {
    const run = readInteger(row[0]) - 1;
    const entry = findReadable(() => readEntry(row));
    if (entry === null) found[run] = null;
    else found[run]?.push(entry);
  }
  return found;
}

function readEntry(row: readonly unknown[]): Entry {
  const [, sequence, kind, pool, amount, balanceAfter, effectiveAt, parts] = row;
  return {
    sequence: readInteger(sequence),
    kind: entryKindOf(readInteger(kind)),
    pool: brandAs<PoolId>(readInteger(pool)),
    amount: readInteger(amount),
    balanceAfter: readInteger(balanceAfter),
    effectiveAt: readInstant(effectiveAt),
    parts: parseParts(readText(parts)),
    usage: readUsage(row, 8),
    hold: readNullable(row[19], readInteger),
  };
}

/** Reads eleven columns, starting at `at`. Throws if the overage is not the sum of its parts. */
function readUsage(row: readonly unknown[], at: number): Usage | null {
  if (row[at] === null) return null;
  const overage = readNullable(row[at + 9], (parts) => parseOverage(readText(parts))) ?? [];
  const stored = readNullable(row[at + 10], readInteger) ?? 0;
  assert(stored === sumOverage(overage), "the overage is the sum of its parts");
  return {
    feature: brandAs<FeatureId>(readInteger(row[at])),
    quantity: readInteger(row[at + 1]),
    planVersion: brandAs<PlanVersionId>(readInteger(row[at + 2])),
    assignment: readInteger(row[at + 3]),
    reverses: readNullable(row[at + 4], readInteger),
    place: row[at + 5] === null ? null : { index: readInteger(row[at + 5]), of: readInteger(row[at + 6]) },
    overrides: readNullable(row[at + 7], readInteger),
    uncovered: readNullable(row[at + 8], readInteger) ?? 0,
    overage,
  };
}

/** Null if the row cannot be read. `purser verify` then reports the row with its customer, and continues. */
export function findReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

export type ConsumePosition = { readonly customerNumber: CustomerNumber; readonly sequence: number };

const LIST_REVERSED = statement(
  "verify.list_reversed",
  `
  select
    n.position::integer,
    e.kind,
    e.pool_id,
    e.parts,
    r.quantity,
    r.amount,
    r.overage,
    e.feature_id,
    e.quantity,
    e.plan_version_id,
    e.assignment_number,
    e.reverses,
    e.item,
    e.items,
    e.overrides_number,
    e.uncovered,
    e.overage_parts,
    e.overage,
    e.hold_number
  from unnest($1::bigint[], $2::bigint[]) with ordinality as n (customer_number, sequence, position)
  join cell.ledger as e on e.customer_number = n.customer_number and e.sequence = n.sequence
  cross join lateral (
    select sum(r.quantity) as quantity, sum(r.amount) as amount, sum(coalesce(r.overage, 0)) as overage
    from cell.ledger as r
    where r.customer_number = n.customer_number
      and r.reverses = n.sequence
  ) as r`,
);

/** The charges at these positions, in order, each with the sum of its reversals. Null if the charge does not exist or cannot be read. */
export async function listReversed(
  tx: Tx,
  positions: readonly ConsumePosition[],
): Promise<(ReversedConsume | null)[]> {
  const { rows } = await tx.run(LIST_REVERSED, [
    bigints(positions.map(({ customerNumber }) => customerNumber)),
    bigints(positions.map(({ sequence }) => sequence)),
  ]);
  const found: (ReversedConsume | null)[] = positions.map(() => null);
  for (const row of rows) found[readInteger(row[0]) - 1] = findReadable(() => readReversed(row));
  return found;
}

function readReversed(row: readonly unknown[]): ReversedConsume {
  const [, kind, pool, parts, reversedQuantity, reversedCredits, reversedOverage] = row;
  return {
    kind: entryKindOf(readInteger(kind)),
    pool: brandAs<PoolId>(readInteger(pool)),
    parts: parseParts(readText(parts)),
    usage: readUsage(row, 7),
    hold: readNullable(row[18], readInteger),
    reversedQuantity: readInteger(reversedQuantity),
    reversedCredits: readInteger(reversedCredits),
    reversedOverage: readInteger(reversedOverage),
  };
}

// A grant may have been revoked after the wallet was read. If it was revoked at least a minute before that, the wallet that was
// read includes the revocation, because no transaction takes that long.
const LIST_GRANTS = statement(
  "verify.list_grants",
  `
  select
    n.position::integer,
    g.number,
    coalesce(g.merged_into, g.number),
    g.pool_id,
    g.kind,
    g.credits,
    (date_part('epoch', g.expires_at) * 1000)::bigint,
    coalesce(g.revoked_at < $5::timestamptz - interval '1 minute', false)
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.grants as g
    on g.environment_id = n.environment_id
    and g.customer_number = n.customer_number
    and g.number > n.after
    and g.number <= n.until
  order by n.position, g.number`,
);

/** The grants of each run, by number. */
export async function listGrants(
  tx: Tx,
  runs: readonly Run[],
  walletsReadAt: Instant,
): Promise<(readonly GrantFacts[])[]> {
  const { rows } = await tx.run(LIST_GRANTS, [
    integers(runs.map(({ environmentId }) => environmentId)),
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    integers(runs.map(({ after }) => after)),
    integers(runs.map(({ until }) => until)),
    formatTimestamp(walletsReadAt),
  ]);
  const found: GrantFacts[][] = runs.map(() => []);
  for (const [position, number, slot, pool, kind, credits, expiresAt, isRevoked] of rows) {
    found[readInteger(position) - 1]?.push({
      number: readInteger(number),
      slot: readInteger(slot),
      pool: brandAs<PoolId>(readInteger(pool)),
      kind: grantKindOf(readInteger(kind)),
      credits: readInteger(credits),
      expiresAt: readNullable(expiresAt, readInstant),
      isRevoked: readBoolean(isRevoked),
    });
  }
  return found;
}

/** The sum of one customer's entries in one pool. */
export type LedgerSum = {
  readonly pool: PoolId;
  readonly entries: number;
  /** Rounded above 2^53 - 1, which no valid ledger reaches. */
  readonly sum: number;
  /** The balance after the last entry. */
  readonly balanceAfter: number;
  /** Entries with a wrong sequence, or whose balance does not follow from the entries before. */
  readonly misfits: number;
};

// As above, leaves out entries from another environment.
const SUM = statement(
  "verify.sum_ledger",
  `
  select
    e.pool_id,
    count(*),
    sum(e.amount),
    sum(e.balance_after) filter (where e.is_last),
    count(*) filter (where e.sequence <> e.place or e.balance_after <> e.running)
  from (
    select
      pool_id,
      sequence,
      amount,
      balance_after,
      row_number() over (order by sequence, recorded_at) as place,
      sum(amount) over (in_pool rows unbounded preceding) as running,
      lead(sequence) over in_pool is null as is_last
    from cell.ledger
    where environment_id = $1
      and customer_number = $2
    window in_pool as (partition by pool_id order by sequence, recorded_at)
  ) as e
  group by e.pool_id
  order by e.pool_id`,
);

/** Reads every entry of the customer. */
export async function sumLedger(tx: Tx, name: WalletName): Promise<LedgerSum[]> {
  const { rows } = await tx.run(SUM, [name.environmentId, name.customerNumber]);
  return rows.map(([pool, entries, sum, balanceAfter, misfits]) => ({
    pool: brandAs<PoolId>(readInteger(pool)),
    entries: readInteger(entries),
    sum: Number(sum),
    balanceAfter: Number(balanceAfter),
    misfits: readInteger(misfits),
  }));
}
