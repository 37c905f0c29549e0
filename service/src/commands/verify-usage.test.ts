import { expect, test } from "vitest";
import { liveBusyLives } from "../../test/busy-history.ts";
import { type Credits, openCredits, setupCredits } from "../../test/credits.ts";
import { prepareOnce, setupSeeded, type TestDatabase } from "../../test/harness.ts";
import { lastMonths } from "../../test/months.ts";
import { runPurser } from "../../test/purser.ts";
import { expectExactSums, settle } from "../../test/usage.ts";
import { keepPartitions } from "../jobs/keep-partitions.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { utcDay } from "./verify/usage/utc-day.ts";
import { verifyUsageCommand } from "./verify-usage.ts";

const DAY_MS = 24 * 3_600_000;
/** Days with usage, in days before today. The last day is in an earlier month. */
const DAYS = [0, 1, 2, 34];

/** Connects with the service's role. */
async function verify({ database }: Credits, day: Date | null = null): Promise<string> {
  const lines: string[] = [];
  const repair = day === null ? null : utcDay(brandAs<Instant>(day.getTime()));
  const isSound = await verifyUsageCommand({
    databaseUrl: database.serviceUrl,
    repair,
    print: (line) => lines.push(line),
  });
  const last = lines.at(-1) ?? "";
  expect(last.startsWith("MISMATCH")).toBe(!isSound);
  return last;
}

const SOUND = "All usage roll-ups match their rows.";

const prepareUsage = prepareOnce(async () => {
  const credits = await setupCredits();
  await liveBusyLives(credits);
  for (const days of DAYS)
    for (const customerId of ["ada", "bob"]) {
      const timestamp = new Date(Date.now() - days * DAY_MS).toISOString();
      await credits.record({ customerId, event: `event.${days}`, quantity: 1 + days, timestamp });
    }
  await expect.poll(() => expectExactSums(credits.database).then(() => true), { timeout: 8_000 }).toBe(true);
  await credits.service.stop();
  return { database: credits.database, facts: null };
});

/** Creates charges, reversals and denials for several customers, and events on three recent days and in a past month. */
async function setupUsage(): Promise<Credits> {
  const { template } = await prepareUsage();
  return openCredits(await setupSeeded(template, {}));
}

const WRONG: readonly [string, (database: TestDatabase) => Promise<unknown>][] = [
  ...["usage_buckets", "usage_customer_days"].flatMap(
    (table): [string, (database: TestDatabase) => Promise<unknown>][] => {
      const one = `ctid = (select ctid from cell.${table} where count > 0 limit 1)`;
      return [
        [`a count in ${table}`, (d) => d.query(`update cell.${table} set count = count + 1 where ${one}`)],
        [
          `credits in ${table}`,
          (d) => d.query(`update cell.${table} set credits = credits - 1 where ${one}`),
        ],
        [`a missing row in ${table}`, (d) => d.query(`delete from cell.${table} where ${one}`)],
        [
          `an extra row in ${table}`,
          (d) =>
            d.query(`create temporary table more as select * from cell.${table} where ${one};
              update more set ${table.endsWith("days") ? "day = day" : "bucket = bucket"} - interval '1 year';
              insert into cell.${table} select * from more; drop table more`),
        ],
      ];
    },
  ),
  [
    "a bucket's quantity",
    (d) =>
      d.query(`update cell.usage_customer_days
        set bucket_quantities[array_lower(bucket_quantities, 1)] = bucket_quantities[array_lower(bucket_quantities, 1)] + 1`),
  ],
  [
    "the quantity of a bucket and of its day",
    (d) =>
      d.query(`update cell.usage_customer_days
        set bucket_quantities[array_lower(bucket_quantities, 1)] = bucket_quantities[array_lower(bucket_quantities, 1)] + 1,
          quantity = quantity + 1`),
  ],
  [
    "usage in another bucket of its day",
    (d) =>
      d.query(`update cell.usage_customer_days
        set bucket_counts = cell.add_to_buckets('{}', slot, array[count]),
          bucket_quantities = cell.add_to_buckets('{}', slot, array[quantity]),
          bucket_credits = cell.add_to_buckets('{}', slot, array[credits])
        -- The last quarter of the day, or the first one if the usage may really be in the last.
        from (
          select array[case when extract(hour from now() at time zone 'utc') < 12 then 95 else 0 end]::smallint[] as slot
        ) as s`),
  ],
  ["a meter's key", (d) => d.query("update cell.meters set key = key || '!' where kind = 1")],
];

test("every wrong roll-up is found", { timeout: 120_000 }, async () => {
  const credits = await setupUsage();
  const { database } = credits;
  expect(await verify(credits)).toBe(SOUND);
  const tables = ["meters", "usage_buckets", "usage_customer_days"];
  for (const table of tables) await database.query(`create table kept_${table} as table cell.${table}`);
  for (const [name, plant] of WRONG) {
    await plant(database);
    expect({ name, found: await verify(credits) }).toEqual({
      name,
      found: expect.stringMatching(/^MISMATCH/),
    });
    for (const table of tables) {
      await database.query(`delete from cell.${table}`);
      await database.query(`insert into cell.${table} overriding system value table kept_${table}`);
    }
  }
  expect(await verify(credits)).toBe(SOUND);
});

test("a missing event is found", async () => {
  const credits = await setupUsage();
  const { database } = credits;
  await database.query("set session_replication_role = replica");
  await database.query("delete from cell.events where event = 'event.1' and customer_number = 1");
  expect(await verify(credits)).toMatch(
    /^MISMATCH: environment 1, customer number 1, events "event.1" at .*: count -1, quantity -2, /,
  );
});

test("a repair corrects only the given day, even while usage is being recorded", {
  timeout: 60_000,
}, async () => {
  const credits = await setupUsage();
  const { database, record } = credits;
  const now = new Date();
  await database.query("update cell.usage_buckets set count = count + 5, quantity = 0");
  await database.query("update cell.usage_customer_days set credits = 7 where customer_number = 1");
  await database.query("delete from cell.usage_customer_days where customer_number = 2");
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i++)
      await record({ customerId: "ada", event: `meanwhile.${i % 7}`, quantity: 1 });
  })();
  const found: string[] = [];
  for (const days of DAYS) found.push(await verify(credits, new Date(now.getTime() - days * DAY_MS)));
  expect(found.slice(0, -1).every((line) => line.startsWith("MISMATCH"))).toBe(true);
  expect(found.at(-1)).toBe(SOUND);
  isOver = true;
  await writing;
});

test("usage in a detached month remains in doubt, and verify lists the months to attach", async () => {
  const credits = await setupCredits();
  const { database, cell } = credits;
  const [last = "", month = ""] = lastMonths(2);
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  await settle({ cell, database });
  await database.query(`update cell.usage_progress set doubtful_since = '${last}-15T00:00:00Z'`);
  const partition = `partition cell.events_${last.replace("-", "_")}`;
  await database.query(`alter table cell.events detach ${partition}`);
  expect(await verify(credits)).toMatch(
    `is still in doubt after the switch to this server: attach the months from ${last} on`,
  );
  expect(await database.count("cell.usage_progress", "doubtful_since is null")).toBe(0);
  await database.query(
    `alter table cell.events attach ${partition} for values from ('${last}-01 00:00:00+00') to ('${month}-01 00:00:00+00')`,
  );
  expect(await verify(credits)).toContain("usage is complete again");
  expect(await database.count("cell.usage_progress", "doubtful_since is null")).toBe(1);
});

test("verify --usage exits with code 1 if a roll-up is wrong and with 0 otherwise, even under load", {
  timeout: 120_000,
}, async () => {
  const credits = await setupUsage();
  const { database, record } = credits;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await record({ customerId: "ada", event: "meanwhile", quantity: 1 });
  })();
  const run = async (...args: string[]): Promise<number> =>
    (await runPurser(["verify", ...args], { DATABASE_URL: database.serviceUrl })).code;
  expect(await run("--usage")).toBe(0);
  await database.query("update cell.usage_buckets set count = count + 1");
  expect(await run("--usage")).toBe(1);
  expect(await run("--usage", "--repair", "2026-13-15")).toBe(2);
  isOver = true;
  await writing;
});

test("verifying a bucket may take longer than the statement timeout for requests", {
  timeout: 60_000,
}, async () => {
  const credits = await setupCredits();
  await credits.record({ customerId: "ada", event: "one", quantity: 1 });
  await settle(credits);
  // The first read takes longer than 4 s, the statement timeout of requests.
  await credits.database.query(
    `create sequence cell.slow;
     grant usage on sequence cell.slow to public;
     create policy slow on cell.usage_buckets using (nextval('cell.slow') > 1 or pg_sleep(4.5) is not null);
     alter table cell.usage_buckets enable row level security`,
  );
  expect(await verify(credits)).toBe(SOUND);
});
