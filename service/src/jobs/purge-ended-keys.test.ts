import { expect, onTestFinished, test } from "vitest";
import { type Credits, setupCredits } from "../../test/credits.ts";
import { allowKeyDeletion, connectTo, type TestDatabase } from "../../test/harness.ts";
import { openTestPool } from "../../test/seed.ts";
import { times } from "../../test/two-services.ts";
import { purgeEndedKeys } from "./purge-ended-keys.ts";

async function age(database: TestDatabase, days: number, where = "true"): Promise<void> {
  await database.query("alter table cell.keyed_requests disable trigger user");
  await database.query(
    `update cell.keyed_requests set recorded_at = recorded_at - make_interval(days => $1) where ${where}`,
    [days],
  );
  await database.query("alter table cell.keyed_requests enable trigger user");
}

const render = ({ consume }: Credits, quantity: number) =>
  consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey: "job-7" });

test("an expired idempotency key can be used again while its row still exists", async () => {
  const credits = await setupCredits({ IDEMPOTENCY_DAYS: "40", LANES: "1" });
  const { database } = credits;
  const { body: first } = await render(credits, 1);
  await age(database, 39);
  expect((await render(credits, 1)).body).toEqual(first);
  expect((await render(credits, 2)).status).toBe(409);
  await age(database, 2);
  const replies = await Promise.all(times(8, () => render(credits, 2)));
  const bodies = new Set(replies.map(({ text }) => text));
  expect(bodies.size).toBe(1);
  expect(replies[0]?.body).toMatchObject({ allowed: true, creditsCharged: 20, balance: 70 });
  expect(replies.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
  expect((await render(credits, 1)).status).toBe(409);
  expect(await database.count("cell.keyed_requests")).toBe(1);
});

test("without IDEMPOTENCY_DAYS, an idempotency key never expires", async () => {
  const credits = await setupCredits();
  const { body: first } = await render(credits, 1);
  await age(credits.database, 10_000);
  expect((await render(credits, 1)).body).toEqual(first);
  expect((await render(credits, 2)).status).toBe(409);
});

test("a key that a lane would still replay is not deleted, whatever the job's time zone", async () => {
  const { database, record } = await setupCredits();
  await allowKeyDeletion(database);
  // Finds a time zone and a number N for which the last N calendar days are an hour shorter than N times 24 hours.
  const [row] = await database.query(
    `select current_database() as name, zone, days from unnest(array['Europe/Berlin', 'Australia/Sydney']) as zone, generate_series(40, 366) as days
     where ((now() at time zone zone) - make_interval(days => days)) at time zone zone
       > now() - make_interval(hours => 24 * days) + interval '30 minutes' limit 1`,
  );
  const [zone, days] = [String(row?.["zone"]), Number(row?.["days"])];
  await record({ customerId: "ada", event: "e", quantity: 1, idempotencyKey: "k" });
  await database.query("alter table cell.keyed_requests disable trigger user");
  await database.query(
    "update cell.keyed_requests set recorded_at = now() - make_interval(hours => 24 * $1, mins => -30)",
    [days],
  );
  await database.query("alter table cell.keyed_requests enable trigger user");
  await database.query(`alter database ${row?.["name"]} set timezone = '${zone}'`);
  const pool = openTestPool(database.serviceUrl);
  onTestFinished(() => pool.end());
  expect((await pool.query("show timezone")).rows).toEqual([{ TimeZone: "UTC" }]);
  await pool.query(`set timezone = '${zone}'`);
  expect(await purgeEndedKeys(pool, days, { stepsMax: 1_000 })).toBe(0);
  expect(await database.count("cell.keyed_requests")).toBe(1);
});

test("the sweep deletes expired keys except locked keys, and keeps all other keys", async () => {
  const { database, cell, record } = await setupCredits();
  await allowKeyDeletion(database);
  await Promise.all(
    times(400, (i) => record({ customerId: "ada", event: "e", quantity: 1, idempotencyKey: `k-${i}` })),
  );
  await age(database, 41, "hashtext(key) % 2 = 0");
  const ended = "recorded_at < now() - interval '40 days'";
  const [before, kept] = [
    await database.count("cell.keyed_requests", ended),
    await database.count("cell.keyed_requests", `not (${ended})`),
  ];
  expect(before).toBeGreaterThan(100);
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(`select from cell.keyed_requests where ${ended} limit 3 for update`);
  const options = { pagesMax: 1, stepsMax: 1_000 };
  expect(await purgeEndedKeys(cell, 40, options)).toBe(before - 3);
  await client.query("commit");
  // The sweep pauses until its next run.
  expect(await purgeEndedKeys(cell, 40, options)).toBe(0);
  await database.query("update cell.sweeps set rests_until = 'epoch'");
  expect(await purgeEndedKeys(cell, 40, options)).toBe(3);
  expect(await database.count("cell.keyed_requests")).toBe(kept);
});
