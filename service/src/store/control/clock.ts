import { readInstant } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../primitives/brand.ts";

const READ = statement(
  "clock.read_control",
  `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint`,
);

/** Reads the clock of the control database, which may differ from a cell's clock. */
export async function readControlClock(tx: Tx): Promise<Instant> {
  const { rows } = await tx.run(READ);
  return readInstant(rows[0]?.[0]);
}
