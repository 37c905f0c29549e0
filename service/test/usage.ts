import { expect } from "vitest";
import { rollUpUsage } from "../src/jobs/roll-up-usage.ts";
import type { Pool } from "../src/postgres/pool.ts";
import { single } from "../src/postgres/transaction.ts";
import { readUsageProgress } from "../src/store/cell/usage/progress.ts";
import type { TestDatabase } from "./harness.ts";
import type { Managed } from "./manage.ts";

// Computes the same rows as the job's query, but independently of that query.
const ROWS = `
  select environment_id, 1 as kind, event as key, customer_number, occurred_at as at, 1 as count,
    quantity::numeric as quantity, 0::numeric as credits
  from cell.events
  union all
  select environment_id, 2, feature_id || ':' || pool_id, customer_number, coalesce(effective_at, recorded_at), 1,
    quantity, -amount
  from cell.ledger
  where kind = 2
  union all
  select environment_id, 2, feature_id || ':' || pool_id, customer_number, coalesce(effective_at, recorded_at), 0,
    -quantity, -amount
  from cell.ledger
  where kind = 5
  union all
  select environment_id, 3, feature_id || ':' || reason, customer_number, recorded_at, 1, quantity, 0
  from cell.denials`;

const BUCKET = "to_timestamp(floor(extract(epoch from at) / 900) * 900)";

const ROLL_UPS = [
  { table: "cell.usage_buckets", columns: ["bucket"], times: [BUCKET] },
  {
    table: "(select *, day::text as utc_day from cell.usage_customer_days) as d",
    columns: ["customer_number", "utc_day"],
    times: ["customer_number", "(at at time zone 'UTC')::date::text"],
  },
  {
    table: `(
      select d.environment_id, d.meter_id, d.customer_number,
        (d.day + n * interval '15 minutes') at time zone 'UTC' as bucket,
        d.bucket_counts[n] as count, d.bucket_quantities[n] as quantity, d.bucket_credits[n] as credits
      from cell.usage_customer_days as d, generate_series(0, 95) as n
      where num_nulls(d.bucket_counts[n], d.bucket_quantities[n], d.bucket_credits[n]) < 3) as s`,
    columns: ["customer_number", "bucket"],
    times: ["customer_number", BUCKET],
  },
] as const;

/** Expects every roll-up to equal the sum of its rows, and no other roll-ups to exist. */
export async function expectExactSums(database: TestDatabase): Promise<void> {
  for (const { table, columns, times } of ROLL_UPS) {
    const names = columns.join(", ");
    const sums = await database.query(
      `select environment_id, kind, key, ${names}, count::text, trim_scale(quantity)::text as quantity, trim_scale(credits)::text as credits
       from ${table} join cell.meters as m using (environment_id)
       where m.id = meter_id order by 1, 2, 3, ${names}`,
    );
    const rows = await database.query(
      `select * from (select environment_id, kind, key, ${times.map((time, i) => `${time} as ${columns[i]}`).join(", ")},
         sum(count)::text as count, sum(quantity)::text as quantity, sum(credits)::text as credits
       from (${ROWS}) as r group by 1, 2, 3, ${columns.map((_, i) => 4 + i).join(", ")}) as r order by 1, 2, 3, ${names}`,
    );
    expect({ table, sums }).toEqual({ table, sums: rows });
  }
}

/** Counts the events with a key in the roll-ups. */
export async function countOf(database: TestDatabase, key: string): Promise<number> {
  const [row] = await database.query(
    `select coalesce(sum(q.count), 0)::integer as n from cell.usage_buckets as q
     join cell.meters as m on m.environment_id = q.environment_id and m.id = q.meter_id where m.key = $1`,
    [key],
  );
  return Number(row?.["n"]);
}

export type Sum = { count: number; quantity: number; credits: number };
type Line = { key: string | null; total: Sum; points: (Sum & { at: string })[] };
type Chart = { buckets: string[]; total: Sum; lines: Line[]; other: Line | null; windowStart: string | null };

/** Calls the management API and returns the response body. */
export async function ask<T = Chart>({ manage }: Managed, path: string): Promise<T> {
  const { status, body, text } = await manage("GET", path);
  expect({ status, text: status === 200 ? "" : text }).toEqual({ status: 200, text: "" });
  return body as T;
}

/** Waits until all committed rows are rolled up. Transactions of other tests on this server can delay it. */
export async function settle({ cell, database }: { cell: Pool; database: TestDatabase }): Promise<void> {
  const [row] = await database.query("select pg_current_xact_id()::text::bigint::text as number");
  const read = async () => {
    await rollUpUsage(cell);
    return (await single(cell, readUsageProgress)).transactionNumber;
  };
  await expect.poll(read, { timeout: 10_000, interval: 20 }).toBeGreaterThan(Number(row?.["number"]));
}
