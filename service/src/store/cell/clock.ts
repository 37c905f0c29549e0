import { readInstant } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../words/brand.ts";

const READ = statement(
  "clock.read",
  `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint`,
);

/** The database's clock, as a statement of its own: read after the locks, never from the snapshot before the wait. */
export async function readClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ);
  return readInstant(rows[0]?.[0]);
}
