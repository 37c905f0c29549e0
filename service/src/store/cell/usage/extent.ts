import { integers } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { ATTACHED } from "./attached-months.ts";
import { startOf } from "./customer-days.ts";

export const BUCKET_MS = 15 * 60_000;

// Two index lookups.
const READ = statement(
  "usage_extent.read",
  `
  select
    (select (extract(epoch from min(bucket)) * 1000)::bigint from cell.usage_buckets where environment_id = $1),
    (select (extract(epoch from max(bucket)) * 1000)::bigint from cell.usage_buckets where environment_id = $1)`,
);

export type UsageExtent = {
  readonly from: Instant;
  readonly to: Instant;
};

/** From the first bucket with usage to the end of the last. Null if the environment has no usage. */
export async function readUsageExtent(tx: Tx, environmentId: EnvironmentId): Promise<UsageExtent | null> {
  const { rows } = await tx.run(READ, [environmentId]);
  const first = readNullable(rows[0]?.[0] ?? null, readInstant);
  const last = readNullable(rows[0]?.[1] ?? null, readInstant);
  return first === null || last === null ? null : { from: first, to: brandAs<Instant>(last + BUCKET_MS) };
}

const TABLES = ["catalogs", "meters", "events", "usage_buckets", "usage_customer_days"] as const;

// One lookup for each environment. An environment with charges or denials has a catalog.
const nextEnvironments = (table: (typeof TABLES)[number]): string => `(
    with recursive e (id) as (
      select min(environment_id)
      from cell.${table}
      union all
      select (select min(t.environment_id) from cell.${table} as t where t.environment_id > e.id)
      from e
      where e.id is not null
    )
    select id
    from e
    where id is not null
  )`;

const LIST_ENVIRONMENTS = statement(
  "usage_extent.list_environments",
  `
  ${TABLES.map(nextEnvironments).join(" union ")}
  order by id`,
);

/** All environments that may have usage or roll-ups. */
export async function listUsageEnvironments(tx: Tx): Promise<EnvironmentId[]> {
  const { rows } = await tx.run(LIST_ENVIRONMENTS);
  return rows.map(([id]) => brandAs<EnvironmentId>(readInteger(id)));
}

const ends = (which: "min" | "max"): string => `
      (select ${which}(t.occurred_at) from cell.events as t where t.environment_id = e.id),
      (select ${which}(t.bucket) from cell.usage_buckets as t where t.environment_id = e.id),
      ${startOf(`(select ${which}(t.day) from cell.usage_customer_days as t where t.environment_id = e.id)`)}`;

const READ_EXTENT = statement(
  "usage_extent.read_whole",
  `
  select
    (extract(epoch from least(min(a.first), (select min(m.since) from (${ATTACHED}) as m), (select min(l.effective_at)
      from cell.ledger as l where l.effective_at is not null and l.kind in (2, 5)))) * 1000)::bigint,
    (extract(epoch from greatest(max(a.last), (select max(m.until) from (${ATTACHED}) as m), (select max(l.effective_at)
      from cell.ledger as l where l.effective_at is not null and l.kind in (2, 5)))) * 1000)::bigint
  from (
    select least(${ends("min")}) as first, greatest(${ends("max")}) as last
    from unnest($1::integer[]) as e (id)
  ) as a`,
);

/** The first and last moment of any rows or roll-ups in these environments. Null if there are none. */
export async function readWholeExtent(
  tx: Tx,
  environments: readonly EnvironmentId[],
): Promise<{ readonly first: Instant; readonly last: Instant } | null> {
  const { rows } = await tx.run(READ_EXTENT, [integers(environments)]);
  const first = readNullable(rows[0]?.[0] ?? null, readInstant);
  const last = readNullable(rows[0]?.[1] ?? null, readInstant);
  return first === null || last === null ? null : { first, last };
}
