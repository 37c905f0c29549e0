import { readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

/**
 * Selects the rows that were committed at one moment, by transaction ID: all IDs below `below`, except the IDs in `without`, whose
 * transactions were still open. After an unknown commit outcome, an event is written again with its original time, so `recorded_at`
 * cannot show whether the event was committed.
 */
export type Settled = {
  readonly below: number;
  readonly without: readonly number[];
  /** The latest `recorded_at` of all events. After a failover, the clock may be behind this time. */
  readonly latestEvent: Instant;
};

// A transaction whose commit waits for the standby still counts as open. Its request has no response yet.
const READ_SETTLED = statement(
  "export.read_settled",
  `
  select
    pg_snapshot_xmax(s.snapshot)::text::bigint + p.offset_by,
    (
      select coalesce(string_agg((x.number::text::bigint + p.offset_by)::text, ','), '')
      from pg_snapshot_xip(s.snapshot) as x (number)
    ),
    coalesce((select (extract(epoch from max(e.recorded_at)) * 1000)::bigint from cell.events as e), 0)
  from (select pg_current_snapshot() as snapshot) as s
  cross join cell.usage_progress as p`,
);

export async function readSettled(tx: Tx): Promise<Settled> {
  const { rows } = await tx.run(READ_SETTLED);
  const [below, without, latestEvent] = rows[0] ?? [];
  return {
    below: readInteger(below),
    without: readText(without).split(",").filter(Boolean).map(Number),
    latestEvent: readInstant(latestEvent),
  };
}

/** Selects the rows of an export: rows that took effect between `from` and `to`, and were committed before the export began. */
export type ExportRange = {
  readonly environmentId: EnvironmentId;
  readonly from: Instant;
  readonly to: Instant;
  /** The export includes all requests in the range that got a response before this time. */
  readonly asOf: Instant;
  /** Which transactions' rows the export includes. */
  readonly settled: Settled;
};

const RANGE = `r.environment_id = $1
    and r.recorded_at >= $2::timestamptz
    and r.recorded_at < $4::timestamptz`;

// Uses the planner's estimates, because counting the rows would be slow.
const EVENTS = statement(
  "export.estimate_events",
  `
  explain (format json)
  select
  from cell.events as r
  where r.environment_id = $1
    and r.occurred_at >= $2::timestamptz
    and r.occurred_at < $3::timestamptz
    and r.recorded_at < $4::timestamptz`,
);

const CHARGES = statement(
  "export.estimate_charges",
  `
  explain (format json)
  select
  from cell.ledger as r
  where ${RANGE}
    and r.recorded_at < $3::timestamptz
    and r.kind = 2`,
);

const LEDGER = statement(
  "export.estimate_ledger",
  `
  explain (format json)
  select
  from cell.ledger as r
  where ${RANGE}
    and r.recorded_at < $3::timestamptz`,
);

const GRANTS = statement(
  "export.estimate_grants",
  `
  explain (format json)
  select
  from cell.grants as r
  where ${RANGE}
    and r.effective_at < $3::timestamptz`,
);

const STATEMENTS = { events: EVENTS, charges: CHARGES, ledger: LEDGER, grants: GRANTS } as const;

export type ExportKind = keyof typeof STATEMENTS;

/** Estimates the number of rows in an export. */
export async function estimateRows(tx: Tx, kind: ExportKind, range: ExportRange): Promise<number> {
  const { environmentId, from, to, asOf } = range;
  const { rows } = await tx.run({ ...STATEMENTS[kind], name: "" }, [
    environmentId,
    formatTimestamp(from),
    formatTimestamp(to),
    formatTimestamp(asOf),
  ]);
  const plan: unknown = rows[0]?.[0];
  const [first]: unknown[] = Array.isArray(plan) ? plan : JSON.parse(String(plan));
  const estimate = Object(Object(first)["Plan"])["Plan Rows"];
  assert(typeof estimate === "number", "a plan has an estimate of its rows");
  return Math.round(estimate);
}
