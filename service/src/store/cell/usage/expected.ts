import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import { IN_STRETCH, usageOfRows } from "./rows.ts";
import type { Stretch } from "./stretch.ts";

// What the sums of each customer should be, made of the rows anew: in a table of this session alone, as it may be large.

const OPEN = statement(
  "usage_expected.open",
  `
  create temporary table usage_expected (
    environment_id integer not null,
    customer_number bigint not null,
    quarter timestamptz not null,
    kind smallint not null,
    key text collate "C" not null,
    feature_id integer,
    pool_id integer,
    reason smallint,
    count bigint not null,
    quantity numeric not null,
    credits numeric not null,
    constraint usage_expected_pkey primary key (environment_id, quarter, customer_number, kind, key)
  ) with (fillfactor = 85)`,
);

const SETTINGS = statement(
  "usage_expected.settings",
  `
  select
    set_config('enable_hashjoin', 'on', false),
    set_config('jit', 'off', false)`,
);

export async function openExpected(tx: Tx): Promise<void> {
  await tx.run(SETTINGS);
  await tx.run(OPEN);
}

const ADD = statement(
  "usage_expected.add",
  `
  insert into pg_temp.usage_expected as s (
    environment_id, customer_number, quarter, kind, key, feature_id, pool_id, reason, count, quantity, credits
  )
  select
    u.environment_id, u.customer_number, u.quarter, u.kind, u.key, u.feature_id, u.pool_id, u.reason, u.count, u.quantity,
    u.credits
  from (${usageOfRows(`${IN_STRETCH}
        and r.recorded_at >= $5::timestamptz`)}) as u
  where u.quarter >= $6::timestamptz
    and u.quarter < $7::timestamptz
  order by u.environment_id, u.quarter, u.customer_number, u.kind, u.key
  on conflict on constraint usage_expected_pkey do update
  set
    count = s.count + excluded.count,
    quantity = s.quantity + excluded.quantity,
    credits = s.credits + excluded.credits`,
);

/** Of which quarters, and in rows recorded since when they can be at all. */
export type ExpectedRange = {
  readonly recordedSince: string;
  readonly from: string;
  readonly to: string;
};

/** All quarters from this one on; null: all there are. */
export function rangeSince(since: Instant | null): ExpectedRange {
  const from = since === null ? "-infinity" : formatTimestamp(since);
  return { recordedSince: "-infinity", from, to: "infinity" };
}

const HOUR_MS = 3_600_000;

/** An event is at most minutes ahead of when it was recorded. */
export function rangeOf(from: Instant, to: Instant): ExpectedRange {
  const since = brandAs<Instant>(from - HOUR_MS);
  return { recordedSince: formatTimestamp(since), from: formatTimestamp(from), to: formatTimestamp(to) };
}

export function addToExpected(
  tx: Tx,
  { from, to, slices }: Stretch,
  slice: number,
  range: ExpectedRange,
): Promise<Rows> {
  return tx.run(ADD, [from, to, slices, slice, range.recordedSince, range.from, range.to]);
}

/** Where the rows of a customer in a quarter stand among all others. */
export type Cursor = {
  readonly environmentId: number;
  readonly customerNumber: number;
  /** As PostgreSQL writes it. */
  readonly quarter: string;
};

export const BEFORE_ALL: Cursor = { environmentId: -(2 ** 31), customerNumber: 0, quarter: "-infinity" };
export const AFTER_ALL: Cursor = {
  environmentId: 2 ** 31 - 1,
  customerNumber: Number.MAX_SAFE_INTEGER,
  quarter: "infinity",
};

const FIND_CURSOR = statement(
  "usage_expected.find_cursor",
  `
  select environment_id, customer_number, quarter::text
  from pg_temp.usage_expected
  where (environment_id, quarter, customer_number) > ($1, $3::timestamptz, $2)
  order by environment_id, quarter, customer_number
  offset $4
  limit 1`,
);

/** `rows` further on. */
export async function findCursor(tx: Tx, after: Cursor, rows: number): Promise<Cursor> {
  const found = await tx.run(FIND_CURSOR, [after.environmentId, after.customerNumber, after.quarter, rows]);
  const row = found.rows[0];
  if (row === undefined) return AFTER_ALL;
  const [environmentId, customerNumber, quarter] = row;
  return {
    environmentId: readInteger(environmentId),
    customerNumber: readInteger(customerNumber),
    quarter: readText(quarter),
  };
}

/** A sum that is not that of its rows. */
export type WrongSum = {
  readonly environmentId: EnvironmentId;
  /** Null: of all customers. */
  readonly customerNumber: CustomerNumber | null;
  readonly at: Instant;
  /** Null: it is of a meter that is not there. */
  readonly key: string | null;
  /** Of rows less what the sum says. */
  readonly missing: { readonly count: number; readonly quantity: number; readonly credits: number };
  /** Whether a large transaction is only partly in the sums: then this says nothing. */
  readonly isPartly: boolean;
};

const IN_CURSORS = `
    where (environment_id, quarter, customer_number) > ($2, $4::timestamptz, $3)
      and (environment_id, quarter, customer_number) <= ($5, $7::timestamptz, $6)
      and quarter >= $8::timestamptz`;

const COMPARE = statement(
  "usage_expected.compare",
  `
  select
    a.environment_id,
    a.customer_number,
    (extract(epoch from a.quarter) * 1000)::bigint,
    a.key,
    sum(a.count),
    sum(a.quantity),
    sum(a.credits),
    (select p.slices_done > 0 from cell.usage_progress as p)
  from (
    select environment_id, customer_number, quarter, kind, key, count, quantity, credits
    from pg_temp.usage_expected
    ${IN_CURSORS}
    union all
    -- What was added to the sums since the rows were read.
    select environment_id, customer_number, quarter, kind, key, count, quantity, credits
    from (${usageOfRows(`
        r.transaction_number >= $1
        and r.transaction_number < (select p.transaction_number from cell.usage_progress as p)`)}) as u
    ${IN_CURSORS}
    union all
    select s.environment_id, s.customer_number, s.quarter, m.kind, m.key, -s.count, -s.quantity, -s.credits
    from (
      select environment_id, customer_number, quarter, meter_id, count, quantity, credits
      from cell.usage_customer_quarters
      ${IN_CURSORS}
    ) as s
    left join cell.meters as m on m.environment_id = s.environment_id and m.id = s.meter_id
  ) as a
  group by a.environment_id, a.customer_number, a.quarter, a.kind, a.key
  having sum(a.count) <> 0 or sum(a.quantity) <> 0 or sum(a.credits) <> 0
  limit 1`,
);

/** Of customers and quarters after the one cursor up to the other: the first sum that differs, if any does. */
export async function compareExpected(
  tx: Tx,
  { addedTo, after, until }: { readonly addedTo: number; readonly after: Cursor; readonly until: Cursor },
  { from }: ExpectedRange,
): Promise<WrongSum | null> {
  const cursors = [after, until].flatMap((at) => [at.environmentId, at.customerNumber, at.quarter]);
  const { rows } = await tx.run(COMPARE, [addedTo, ...cursors, from]);
  return rows[0] === undefined ? null : readWrongSum(rows[0]);
}

export function readWrongSum(row: readonly unknown[]): WrongSum {
  const [environmentId, customerNumber, at, key, count, quantity, credits, isPartly = false] = row;
  return {
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    customerNumber: readNullable(customerNumber, (number) => brandAs<CustomerNumber>(readInteger(number))),
    at: readInstant(at),
    key: readNullable(key, readText),
    missing: { count: Number(count), quantity: Number(quantity), credits: Number(credits) },
    isPartly: isPartly === true,
  };
}
