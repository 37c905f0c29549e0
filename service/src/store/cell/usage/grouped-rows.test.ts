import { expect, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { createTestProject } from "../../../../test/harness.ts";
import { readInteger } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { snapshot } from "../../../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { chartGroupedRows } from "./grouped-rows.ts";

const DAY_MS = 24 * 3_600_000;

const READ_ROWS = statement(
  "test.rows_read_so_far",
  `
  select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
  from pg_stat_xact_user_tables
  where relname ~ '^(events|ledger)_'`,
);

/** Rows that this connection has read and not yet reported to the statistics. */
async function countRead(tx: Tx): Promise<number> {
  const { rows } = await tx.run(READ_ROWS);
  return readInteger(rows[0]?.[0]);
}

test("usage by metadata or member on one past day reads neither another project's rows nor later days", async () => {
  const { database, project, cell } = await setupCredits();
  const neighbor = await createTestProject(database, "Neighbor");
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  const day = Math.floor(Date.now() / DAY_MS - 40) * DAY_MS;
  const insert = (environmentId: number, at: number, rows: number) =>
    database.query(
      `insert into cell.events
         (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id, metadata)
       select t.at, gen_random_uuid(), $1, 1, 'e', 1, t.at, 'r', '{"model": "m"}'
       from (select to_timestamp($2::bigint / 1000) + i * interval '1 second' as at from generate_series(1, $3::integer) as i) as t`,
      [environmentId, at, rows],
    );
  const { environmentId } = project.test;
  // The projects alternate, so that the rows of each are scattered over the pages.
  for (let i = 0; i < 20; i++) {
    await insert(neighbor.test.environmentId, day + i * 1_000_000, 900);
    await insert(environmentId, day + i * 1_000_000, 100);
  }
  for (let i = 1; i < 30; i++) await insert(environmentId, day + i * DAY_MS, 500);
  await database.query("analyze cell.events");
  const charge = (customer: number, charged: number, days: number, rows: number) =>
    database.query(
      `insert into cell.ledger
         (recorded_at, customer_number, sequence, environment_id, pool_id, feature_id, quantity, kind, amount, balance_after, parts, metadata)
       select to_timestamp($1::bigint / 1000) + i * interval '1 second', $2, $3::integer * 1000 + i, $4, 1, 1, 1, 2, -3, 0, '', '{"model": "m"}'
       from generate_series(1, $5::integer) as i`,
      [day + days * DAY_MS, customer, days, charged, rows],
    );
  await charge(1001, neighbor.test.environmentId, 0, 300);
  for (const days of [0, 2, 20]) await charge(1002, environmentId, days, 100);
  const scope = {
    environmentId: brandAs<EnvironmentId>(environmentId),
    from: brandAs<Instant>(day),
    to: brandAs<Instant>(day + DAY_MS),
    event: null,
    feature: null,
    pool: null,
  } as const;
  const ask = (kind: "events" | "charges", rowsMax: number, customer: number | null = null) =>
    snapshot(cell, async (tx) => {
      const division = { bucket: "day", timeZone: "UTC" } as const;
      const owner = customer === null ? null : brandAs<CustomerNumber>(customer);
      const field = customer === null ? "model" : null;
      const options = { ...division, customer: owner, field, rowsMax, windowStart: null };
      const before = await countRead(tx);
      const points = await chartGroupedRows(tx, { ...scope, kind }, options);
      return { points, read: (await countRead(tx)) - before };
    });
  const point = { value: "m", at: day };
  const used = { count: 2_000n, quantity: 2_000n, credits: 0n };
  const found = await ask("events", 2_000);
  expect(found.points).toEqual([{ ...point, ...used }]);
  // Allows for a few rows that the planner reads.
  expect(found.read).toBeLessThan(2_020);
  expect((await ask("events", 1_999)).points).toBeNull();
  const refused = await ask("events", 99);
  expect(refused.points).toBeNull();
  expect(refused.read).toBeLessThan(120);
  const charged = { count: 100n, quantity: 100n, credits: 300n };
  expect((await ask("charges", 100)).points).toEqual([{ ...point, ...charged }]);
  expect((await ask("charges", 99)).points).toBeNull();

  // Reads one customer's rows by member, while other customers in the environment have too many rows.
  await database.query(
    `insert into cell.events
       (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id, member_id)
     select e.recorded_at, gen_random_uuid(), e.environment_id, 77, e.event, 1, e.occurred_at, 'r', 'user_7'
     from cell.events as e
     where e.environment_id = $1
     order by e.recorded_at
     limit 10`,
    [environmentId],
  );
  await database.query("analyze cell.events");
  const members = await ask("events", 10, 77);
  expect(members.points).toEqual([{ value: "user_7", at: day, count: 10n, quantity: 10n, credits: 0n }]);
  expect(members.read).toBeLessThan(30);
});
