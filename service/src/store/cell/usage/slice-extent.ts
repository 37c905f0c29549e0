import { integers } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { ATTACHED } from "./attached-months.ts";

const TABLES = [
  "catalogs",
  "meters",
  "events",
  "usage_quarters",
  "usage_customer_quarters",
  "usage_customer_months",
] as const;

// From each environment to the next, by one look-up each. Whoever has charges or denials has a catalog.
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
  "usage_slice.list_environments",
  `
  ${TABLES.map(nextEnvironments).join(" union ")}
  order by id`,
);

/** All that may have usage, or sums of it. */
export async function listUsageEnvironments(tx: Tx): Promise<EnvironmentId[]> {
  const { rows } = await tx.run(LIST_ENVIRONMENTS);
  return rows.map(([id]) => brandAs<EnvironmentId>(readInteger(id)));
}

const TIMES = [
  ["events", "occurred_at"],
  ["usage_quarters", "quarter"],
  ["usage_customer_quarters", "quarter"],
  ["usage_customer_months", "month"],
] as const;

const ends = (which: "min" | "max"): string =>
  TIMES.map(
    ([table, time]) => `(select ${which}(t.${time}) from cell.${table} as t where t.environment_id = e.id)`,
  ).join(", ");

const READ_EXTENT = statement(
  "usage_slice.read_extent",
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

/** Between which moments there may be anything of these environments. Null: there is nothing. */
export async function readWholeExtent(
  tx: Tx,
  environments: readonly EnvironmentId[],
): Promise<{ readonly first: Instant; readonly last: Instant } | null> {
  const { rows } = await tx.run(READ_EXTENT, [integers(environments)]);
  const first = readNullable(rows[0]?.[0] ?? null, readInstant);
  const last = readNullable(rows[0]?.[1] ?? null, readInstant);
  return first === null || last === null ? null : { first, last };
}
