import { statement, type Tx } from "../../../postgres/statement.ts";
import { assert } from "../../../primitives/assert.ts";
import type { EnvironmentId, Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { Settled } from "./settled.ts";

/** What an export takes: of these times, and there when it began. */
export type ExportRange = {
  readonly environmentId: EnvironmentId;
  readonly from: Instant;
  readonly to: Instant;
  /** Whatever was answered before this moment is in it, */
  readonly asOf: Instant;
  /** and these are the rows. */
  readonly settled: Settled;
};

const RANGE = `r.environment_id = $1
    and r.recorded_at >= $2::timestamptz
    and r.recorded_at < $4::timestamptz`;

// The planner knows about how many there are without counting them.
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

/** About how many rows there are. */
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
  assert(typeof estimate === "number", "a plan says how many rows it expects");
  return Math.round(estimate);
}
