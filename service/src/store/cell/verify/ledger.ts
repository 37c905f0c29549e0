import type { Entry, Usage } from "../../../entitlement/entry.ts";
import type { ReversedConsume } from "../../../entitlement/fold.ts";
import { bigints, integers } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type FeatureId,
  type PlanVersionId,
  type PoolId,
} from "../../../primitives/brand.ts";
import { entryKindOf, parseParts } from "../ledger.ts";
import type { WalletName } from "../wallets.ts";

/** A run of one customer's rows: those numbered above `after`, up to `until`. */
export type Run = WalletName & { readonly after: number; readonly until: number };

// An entry of another environment is none of the wallet's, and leaves a gap.
const LIST = statement(
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
    e.reverses
  from unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.ledger as e
    on e.environment_id = n.environment_id
    and e.customer_number = n.customer_number
    and e.sequence > n.after
    and e.sequence <= n.until
  order by n.position, e.sequence`,
);

/** The entries of each run, in their order. Null: something in them is no number of ours. */
export async function listEntries(tx: Tx, runs: readonly Run[]): Promise<(readonly Entry[] | null)[]> {
  const { rows } = await tx.run(LIST, [
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
  };
}

/** Of five columns, the first of them at this place. */
function readUsage(row: readonly unknown[], at: number): Usage | null {
  if (row[at] === null) return null;
  return {
    feature: brandAs<FeatureId>(readInteger(row[at])),
    quantity: readInteger(row[at + 1]),
    planVersion: brandAs<PlanVersionId>(readInteger(row[at + 2])),
    assignment: readInteger(row[at + 3]),
    reverses: readNullable(row[at + 4], readInteger),
  };
}

/** A row that cannot be read is a finding like any other, not a reason to stop without a word on whose it is. */
function findReadable<T>(read: () => T): T | null {
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
    e.feature_id,
    e.quantity,
    e.plan_version_id,
    e.assignment_number,
    e.reverses
  from unnest($1::bigint[], $2::bigint[]) with ordinality as n (customer_number, sequence, position)
  join cell.ledger as e on e.customer_number = n.customer_number and e.sequence = n.sequence
  cross join lateral (
    select sum(r.quantity) as quantity, sum(r.amount) as amount
    from cell.ledger as r
    where r.customer_number = n.customer_number
      and r.reverses = n.sequence
  ) as r`,
);

/** What reversals name, in the order of the positions, with the sum of all reversals of it; null where there is none. */
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
  const [, kind, pool, parts, reversedQuantity, reversedCredits] = row;
  return {
    kind: entryKindOf(readInteger(kind)),
    pool: brandAs<PoolId>(readInteger(pool)),
    parts: parseParts(readText(parts)),
    usage: readUsage(row, 6),
    reversedQuantity: readInteger(reversedQuantity),
    reversedCredits: readInteger(reversedCredits),
  };
}
