import { readInstant, readInteger, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";

/**
 * The rows that were there at one moment, told apart for ever by the transactions that wrote them: all below a number, but
 * for those that were still under way. When a row was recorded cannot say it: an event whose commit had an unknown outcome
 * is written again later, under its first time.
 */
export type Settled = {
  readonly below: number;
  readonly without: readonly number[];
  /** No event among them was recorded later. By the rows, not by a clock, which may be behind that of the server before. */
  readonly latestEvent: Instant;
};

// A transaction that waits for its standby is still under way, as nobody was answered yet.
const READ = statement(
  "export.read_settled",
  `
  select
    pg_snapshot_xmax(s.snapshot)::text::bigint + p.offset_by,
    (
      select coalesce(string_agg((x.number::text::bigint + p.offset_by)::text, ','), '')
      from pg_snapshot_xip(s.snapshot) as x (number)
    ),
    -- Of the same snapshot.
    coalesce((select (extract(epoch from max(e.recorded_at)) * 1000)::bigint from cell.events as e), 0)
  from (select pg_current_snapshot() as snapshot) as s
  cross join cell.usage_progress as p`,
);

export async function readSettled(tx: Tx): Promise<Settled> {
  const { rows } = await tx.run(READ);
  const [below, without, latestEvent] = rows[0] ?? [];
  return {
    below: readInteger(below),
    without: readText(without).split(",").filter(Boolean).map(Number),
    latestEvent: readInstant(latestEvent),
  };
}
