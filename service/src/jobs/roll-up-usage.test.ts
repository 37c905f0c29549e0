import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Credits, setupCredits } from "../../test/credits.ts";
import { connectTo, createDatabase, type Reply, type TestDatabase } from "../../test/harness.ts";
import { servePurser } from "../../test/purser.ts";
import { openTestPool } from "../../test/seed.ts";
import { setupTwo, times } from "../../test/two-services.ts";
import { countOf, expectExactSums, settle } from "../../test/usage.ts";
import { reverseConsume } from "../manage/credits/reverse-consume.ts";
import { openPool, type Pool } from "../postgres/pool.ts";
import { single } from "../postgres/transaction.ts";
import { readUsageProgress } from "../store/cell/usage/progress.ts";
import { rollUpOnce, rollUpUsage, UsageJob } from "./roll-up-usage.ts";

const DAY_MS = 24 * 3_600_000;

const readNumber = async (cell: Pool): Promise<number> =>
  (await single(cell, readUsageProgress)).transactionNumber;

const INSERT = `insert into cell.events
    (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
  select coalesce($1, clock_timestamp()), gen_random_uuid(), 1, 1, 'by hand', 1, now(), 'r' from generate_series(1, $2)`;

test("a writer that hangs before its commit delays the roll-ups, and its row is counted afterward", async () => {
  const { database, cell, record } = await setupCredits();
  const slow = await connectTo(database);
  await slow.query("begin");
  await slow.query(INSERT, [null, 1]);
  // A later event commits first. A watermark by time would then skip the hanging writer's row.
  await record({ customerId: "ada", event: "quick", quantity: 1 });
  const [row] = await database.query("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  await rollUpUsage(cell);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await rollUpUsage(cell);
  const { completeTo } = await single(cell, readUsageProgress);
  expect(completeTo).toBeLessThan(Number(row?.["now"]) + 200);
  expect([await countOf(database, "by hand"), await countOf(database, "quick")]).toEqual([0, 0]);
  await slow.query("commit");
  await settle({ cell, database });
  expect([await countOf(database, "by hand"), await countOf(database, "quick")]).toEqual([1, 1]);
  await expectExactSums(database);
});

test("after adding many rows, the roll-up job pauses for five seconds instead of one", async () => {
  const { database, cell } = await setupCredits();
  await settle({ cell, database });
  const job = new UsageJob(cell);
  const runAfter = async (seconds: number): Promise<number> => {
    await database.query(
      "update cell.usage_progress set turned_at = clock_timestamp() - $1 * interval '1 second'",
      [seconds],
    );
    return (await job.run()).rows;
  };
  await database.query(INSERT, [null, 1]);
  await expect.poll(() => runAfter(1)).toBe(1);
  await database.query(INSERT, [null, 1_001]);
  await expect.poll(() => runAfter(1)).toBe(1_001);
  await database.query(INSERT, [null, 1]);
  expect([await runAfter(1), await runAfter(4)]).toEqual([0, 0]);
  await expect.poll(() => runAfter(5)).toBe(1);
  expect(await countOf(database, "by hand")).toBe(1_003);
  await expectExactSums(database);
});

test("a row that is written later with an earlier time is counted", async () => {
  const { database, cell, record } = await setupCredits();
  await record({ customerId: "ada", event: "quick", quantity: 1 });
  await settle({ cell, database });
  // Simulates an event that is written again because the outcome of its first commit was unknown.
  await database.query(INSERT, [new Date(Date.now() - 60_000), 1]);
  await settle({ cell, database });
  expect(await countOf(database, "by hand")).toBe(1);
  await expectExactSums(database);
});

test("a large transaction is added in slices, and each row is added once", async () => {
  const { database, cell, record } = await setupCredits();
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(INSERT, [null, 10]);
  await client.query(INSERT.replace("1, 1, 'by hand'", "1, 1000 + generate_series, 'by hand'"), [null, 40]);
  await client.query("commit");
  await record({ customerId: "ada", event: "quick", quantity: 1 });
  const [row] = await database.query("select pg_current_xact_id()::text::bigint::text as number");
  // Simulates two releases with different batch sizes.
  for (let turn = 0; (await readNumber(cell)) <= Number(row?.["number"]); turn++)
    await rollUpOnce(cell, { rowsMax: turn % 2 === 0 ? 7 : 11 });
  expect(await countOf(database, "by hand")).toBe(50);
  await expectExactSums(database);
});

test.for(["2026-03-29T23:30:00Z", "2025-10-26T23:59:59Z", "2025-10-27T00:30:00Z"])(
  "days are UTC days, whatever the server's time zone: %s",
  async (at) => {
    const database = await createDatabase();
    const cell = openTestPool(database.serviceUrl);
    onTestFinished(() => cell.end());
    await cell.query("set timezone = 'Europe/Berlin'");
    await database.query(INSERT.replace("now()", `'${at}'`), [null, 1]);
    await settle({ cell, database });
    await expectExactSums(database);
    expect(await database.count("cell.usage_customer_days", `day = '${at.slice(0, 10)}'`)).toBe(1);
  },
);

test("events in any order are added to the buckets of their day", async () => {
  const { database, cell, record } = await setupCredits();
  const day = Math.floor(Date.now() / DAY_MS - 3) * DAY_MS;
  for (const slot of [40, 40, 7, 95, 40, 0, 7]) {
    const timestamp = new Date(day + slot * 15 * 60_000).toISOString();
    await record({ customerId: "ada", event: "late", quantity: 2, timestamp });
    await settle({ cell, database });
    await expectExactSums(database);
  }
  const [row] = await database.query(
    "select array(select bucket_counts[n] from unnest(array[0, 7, 40, 95]) as n) as counts from cell.usage_customer_days",
  );
  expect(row).toEqual({ counts: ["1", "2", "3", "1"] });
});

/** Simulates a process whose first turn waits after it has read the horizon and before it takes the lock. */
function slowPool(database: TestDatabase): { pool: Pool; isThere: Promise<void>; goOn: () => void } {
  const [there, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pool = openTestPool(database.serviceUrl);
  onTestFinished(() => pool.end());
  pool.on("connect", (client) => {
    const query = client.query.bind(client);
    Object.assign(client, {
      query: async (...args: Parameters<typeof query>) => {
        if (JSON.stringify(args[0]).includes("usage_progress.lock")) {
          there.resolve();
          await gate.promise;
        }
        return query(...args);
      },
    });
  });
  return { pool, isThere: there.promise, goOn: gate.resolve };
}

test("a slow process does not add rows again from a transaction that another process has partly added", async () => {
  const database = await createDatabase();
  const cell = openTestPool(database.serviceUrl, 2);
  onTestFinished(() => cell.end());
  const { pool, isThere, goOn } = slowPool(database);
  const slow = rollUpUsage(pool, { rowsMax: 7 });
  await isThere;
  await database.query(INSERT.replace("1, 1, 'by hand'", "1, 1000 + generate_series, 'by hand'"), [null, 40]);
  const isPartial = async () => (await single(cell, readUsageProgress)).slices.done > 0;
  await expect.poll(() => rollUpOnce(cell, { rowsMax: 7 }).then(isPartial), { interval: 1 }).toBe(true);
  goOn();
  await slow;
  await settle({ cell, database });
  expect(await countOf(database, "by hand")).toBe(40);
  await expectExactSums(database);
});

const step = fc.record({
  kind: fc.constantFrom("event", "late", "charge", "denial", "reversal", "again"),
  customer: fc.nat(3),
  quantity: fc.integer({ min: 1, max: 3 }),
  lateMs: fc.integer({ min: -4 * 60_000, max: 34 * DAY_MS }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function perform(credits: Credits, charged: string[]) {
  let count = 0;
  return async ({ kind, customer, quantity, lateMs }: Step): Promise<void> => {
    const { record, consume, cell, context } = credits;
    const customerId = `customer-${customer}`;
    const idempotencyKey = `step-${kind === "again" ? Math.max(0, count - 1) : count++}`;
    const event = { customerId, event: `event.${quantity}`, quantity, idempotencyKey };
    let reply: Reply | null = null;
    if (kind === "event" || kind === "again") reply = await record(event);
    if (kind === "late")
      reply = await record({ ...event, timestamp: new Date(Date.now() - lateMs).toISOString() });
    if (kind === "charge" || kind === "denial") {
      const feature = kind === "charge" ? "image.render" : "video.render";
      reply = await consume({ customerId: "ada", feature, quantity, idempotencyKey });
      const id = reply.body["consumeId"];
      if (typeof id === "string") charged.push(id);
    }
    const consumeId = charged[quantity];
    if (kind === "reversal" && consumeId !== undefined)
      await reverseConsume(cell, context, {
        consumeId,
        quantity: null,
      });
    if (reply !== null) expect([200, 409]).toContain(reply.status);
  };
}

test("the roll-ups match the rows, however often the job is killed", async () => {
  const credits = await setupCredits();
  const { database, cell, topUp } = credits;
  await topUp("ada", 100_000);
  const victim = openPool({ url: database.serviceUrl, name: "victim", sizeMax: 2, onIdleError: () => {} });
  onTestFinished(() => victim.end());
  const act = perform(credits, []);
  let kills = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      let isOver = false;
      const killing = (async () => {
        while (!isOver) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 6));
          const killed = await database.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name like '% victim' and datname = current_database() and state <> 'idle'`,
          );
          kills += killed.length;
        }
      })();
      const rolling = (async () => {
        while (!isOver) await rollUpUsage(victim, { rowsMax: 5 }).catch(() => {});
      })();
      for (let at = 0; at < steps.length; at += 5) await Promise.all(steps.slice(at, at + 5).map(act));
      isOver = true;
      await Promise.all([killing, rolling]);
      await settle({ cell, database });
      await expectExactSums(database);
    }),
    { numRuns: 6 },
  );
  expect(kills).toBeGreaterThan(10);
  expect(await database.count("cell.ledger", "kind = 5")).toBeGreaterThan(0);
});

test("concurrent processes add each row once and keep up with new rows", async () => {
  const two = await setupTwo();
  const { database, cell, topUp, renderAt, record } = two;
  await servePurser(database.serviceUrl);
  await topUp("ada", 100_000);
  const pools = times(3, () => openTestPool(database.serviceUrl));
  let isOver = false;
  const rolling = pools.map(async (pool) => {
    while (!isOver) await rollUpUsage(pool, { rowsMax: 20 });
    await pool.end();
  });
  for (let round = 0; round < 20; round++)
    await Promise.all(
      times(20, (i) =>
        i % 2 === 0 ? renderAt(i / 2) : record({ customerId: `c-${i}`, event: "e", quantity: i }),
      ),
    );
  isOver = true;
  await Promise.all(rolling);
  await settle({ cell, database });
  await expectExactSums(database);
  const { completeTo } = await single(cell, readUsageProgress);
  expect(Date.now() - completeTo).toBeLessThan(5_000);
});
