import { readInstant, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";

export const QUARTER_MS = 15 * 60_000;

// Two look-ups, at the ends of the environment's part of the index.
const READ = statement(
  "usage_extent.read",
  `
  select
    (select (extract(epoch from min(quarter)) * 1000)::bigint from cell.usage_quarters where environment_id = $1),
    (select (extract(epoch from max(quarter)) * 1000)::bigint from cell.usage_quarters where environment_id = $1)`,
);

export type UsageExtent = {
  readonly from: Instant;
  readonly to: Instant;
};

/** From the first quarter of an hour that has a sum to the end of the last. Null: the environment has none. */
export async function readUsageExtent(tx: Tx, environmentId: EnvironmentId): Promise<UsageExtent | null> {
  const { rows } = await tx.run(READ, [environmentId]);
  const first = readNullable(rows[0]?.[0] ?? null, readInstant);
  const last = readNullable(rows[0]?.[1] ?? null, readInstant);
  return first === null || last === null ? null : { from: first, to: brandAs<Instant>(last + QUARTER_MS) };
}
