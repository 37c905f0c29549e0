import { expect, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { createTestProject, type TestDatabase } from "../../../../test/harness.ts";
import { expectExactSums, settle } from "../../../../test/usage.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { verifyUsageCommand } from "../../verify-usage.ts";
import { utcDay } from "./utc-day.ts";

const DAY_MS = 24 * 3_600_000;
const SOUND = "All usage roll-ups match their rows.";

/** Inserts 150 days of usage for one environment: events recorded immediately or weeks late, and charges that took effect later. */
async function insertHistory(database: TestDatabase, environmentId: number): Promise<void> {
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select least(t.at + make_interval(days => case when i % 3 = 0 then 20 else 0 end), now()), gen_random_uuid(), $1, $1 * 100 + i % 7,
       'event.' || i % 4, 1 + i % 5, t.at, 'r'
     from generate_series(1, 900) as i, lateral (select now() - i * interval '4 hours' as at) as t`,
    [environmentId],
  );
  await database.query(
    `insert into cell.ledger
       (recorded_at, customer_number, sequence, environment_id, pool_id, feature_id, quantity, kind, amount, balance_after, parts,
         effective_at, reverses)
     select t.at, $1 * 100 + i % 7, i, $1, 1, 1 + i % 2, 2, case when i % 10 = 0 then 5 else 2 end,
       case when i % 10 = 0 then 4 else -4 end, 0, '', case when i % 50 = 0 then t.at + interval '3 days' end,
       case when i % 10 = 0 then i - 7 end
     from generate_series(1, 900) as i, lateral (select now() - i * interval '4 hours' as at) as t`,
    [environmentId],
  );
  await database.query(
    `insert into cell.denials
       (recorded_at, id, customer_number, sequence, credits_required, balance, key_hash, environment_id, feature_id, quantity, reason)
     select now() - i * interval '9 hours', gen_random_uuid(), $1 * 100 + i % 7, 0, 1, 0, gen_random_uuid(), $1, 1, 1, 6
     from generate_series(1, 400) as i`,
    [environmentId],
  );
}

test("all months and environments are compared with their rows, and one day is repaired", {
  timeout: 120_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const neighbor = await createTestProject(database, "Neighbor");
  await database.query("select cell.ensure_monthly_partitions(6, 0)");
  const environments = [project.test, neighbor.test, neighbor.live].map(({ environmentId }) => environmentId);
  for (const environmentId of environments) await insertHistory(database, environmentId);
  await settle({ cell, database });
  await expectExactSums(database);
  const verify = async (repair: Instant | null = null): Promise<string> => {
    const lines: string[] = [];
    const { serviceUrl: databaseUrl } = database;
    await verifyUsageCommand({ databaseUrl, repair, print: (line) => lines.push(line) });
    return lines.at(-1) ?? "";
  };
  expect(await verify()).toBe(SOUND);

  const tables = ["usage_buckets", "usage_customer_days"];
  const kept = [...tables, "meters"];
  for (const table of kept) await database.query(`create table kept_${table} as table cell.${table}`);
  const restore = async (): Promise<void> => {
    for (const table of kept) {
      await database.query(`delete from cell.${table}`);
      await database.query(`insert into cell.${table} overriding system value table kept_${table}`);
    }
  };
  for (const [index, environmentId] of environments.entries())
    for (const table of tables) {
      const order = `${table.endsWith("days") ? "day" : "bucket"} ${["", "desc", "offset 50"][index]}`;
      const plant = `update cell.${table} set quantity = quantity + 1 where ctid = (
        select ctid from cell.${table} where environment_id = ${environmentId} order by ${order} limit 1)`;
      await database.query(plant);
      const found = expect.stringMatching(`^MISMATCH: environment ${environmentId}\\b`);
      expect({ plant, found: await verify() }).toEqual({ plant, found });
      await restore();
    }
  // Deletes all roll-ups of one environment, but not its rows.
  for (const table of kept)
    await database.query(`delete from cell.${table} where environment_id = $1`, [environments[1]]);
  expect(await verify()).toMatch(`MISMATCH: environment ${environments[1]},`);
  await restore();

  const day = utcDay(brandAs<Instant>(Date.now() - 70 * DAY_MS));
  await database.query("update cell.usage_customer_days set count = count + 1 where day = $1", [
    new Date(day).toISOString().slice(0, 10),
  ]);
  await database.query(
    `delete from cell.usage_buckets
     where bucket >= to_timestamp(${day / 1000}) and bucket < to_timestamp(${day / 1000 + 86_400})`,
  );
  expect(await verify(day)).toBe(SOUND);
  await expectExactSums(database);
});
