import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../../../test/harness.ts";
import { openTestPool } from "../../../../test/seed.ts";
import { snapshot } from "../../../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { type Division, listBuckets } from "./buckets.ts";
import { type ChartPoint, chartAll, chartCustomers } from "./chart.ts";

type Used = readonly (readonly [at: string, quantity: number])[];

const ADA = brandAs<CustomerNumber>(7);

async function setupSums(used: Used, division: Division, to: string) {
  const database = await createDatabase();
  const cell = openTestPool(database.serviceUrl);
  onTestFinished(() => cell.end());
  // Charts must not depend on the session's time zone.
  await cell.query("set timezone = 'America/New_York'");
  await database.query("insert into cell.meters (environment_id, kind, key) values (1, 1, 'e')");
  const [meter] = await database.query("select id from cell.meters");
  for (const [bucket, quantity] of used) {
    const sum = [bucket, meter?.["id"], quantity];
    await database.query("insert into cell.usage_buckets values (1, $1, $2, 1, $3, 0)", sum);
  }
  await database.query(
    `insert into cell.usage_customer_days
     select 1, d.day, ${ADA}, $1, sum(d.count), sum(d.quantity), 0, cell.add_to_buckets('{}', array_agg(d.slot), array_agg(d.count)),
       cell.add_to_buckets('{}', array_agg(d.slot), array_agg(d.quantity)), cell.add_to_buckets('{}', array_agg(d.slot), array_agg(d.credits))
     from (
       select (bucket at time zone 'UTC')::date as day, count, quantity, credits,
         (extract(epoch from (bucket at time zone 'UTC')::time) / 900)::smallint as slot
       from cell.usage_buckets
     ) as d
     group by d.day`,
    [meter?.["id"]],
  );
  const chart = async (from: string, chartOf: "all" | "ada"): Promise<[string, number][]> => {
    const scope = {
      environmentId: brandAs<EnvironmentId>(1),
      kind: "events",
      from: brandAs<Instant>(Date.parse(from)),
      to: brandAs<Instant>(Date.parse(to)),
      event: null,
      feature: null,
      pool: null,
    } as const;
    const options = { ...division, by: "quantity", linesMax: 5 } as const;
    const points: ChartPoint[] = await snapshot(cell, (tx) =>
      chartOf === "all"
        ? chartAll(tx, scope, "none", options)
        : chartCustomers(tx, scope, [ADA], "none", options),
    );
    return points.map(({ at, quantity }) => [new Date(at).toISOString(), Number(quantity)]);
  };
  return { cell, chart };
}

test("if midnight occurs twice on a day, every chart includes the usage after both", async () => {
  // Midnight in Havana is at 04:00 and again at 05:00 UTC.
  const { chart } = await setupSums(
    [
      ["2026-11-01T03:45:00Z", 1],
      ["2026-11-01T04:00:00Z", 10],
      ["2026-11-01T04:45:00Z", 100],
      ["2026-11-01T05:00:00Z", 1000],
    ],
    { bucket: "day", timeZone: "America/Havana" },
    "2026-11-02T00:00:00Z",
  );
  const day = ["2026-11-01T05:00:00.000Z", 1110];
  const dayBefore = ["2026-10-31T04:00:00.000Z", 1];
  const expectBoth = async (chartOf: "all" | "ada"): Promise<void> => {
    expect(await chart("2026-11-01T04:00:00Z", chartOf)).toEqual([day]);
    expect(await chart("2026-10-31T12:00:00Z", chartOf)).toEqual([dayBefore, day]);
  };
  await expectBoth("all");
  await expectBoth("ada");
});

/** Time zones whose clock changes by half an hour, forward and back. */
test.each([
  {
    used: [
      ["2026-10-03T14:30:00Z", 1],
      ["2026-10-03T15:15:00Z", 10],
      ["2026-10-03T15:30:00Z", 100],
      ["2026-10-03T15:45:00Z", 1000],
      ["2026-10-03T16:00:00Z", 10000],
    ],
    range: ["2026-10-03T13:30:00Z", "2026-10-03T17:00:00Z"],
    hours: [
      ["2026-10-03T14:30:00.000Z", 11],
      ["2026-10-03T15:00:00.000Z", 1100],
      ["2026-10-03T16:00:00.000Z", 10000],
    ],
    ends: ["14:30", "15:30", "16:00", "17:00"],
  },
  {
    used: [
      ["2026-04-04T14:00:00Z", 1],
      ["2026-04-04T14:45:00Z", 10],
      ["2026-04-04T15:00:00Z", 100],
      ["2026-04-04T15:15:00Z", 1000],
      ["2026-04-04T15:30:00Z", 10000],
    ],
    range: ["2026-04-04T13:00:00Z", "2026-04-04T16:30:00Z"],
    hours: [
      ["2026-04-04T14:00:00.000Z", 11],
      ["2026-04-04T14:30:00.000Z", 1100],
      ["2026-04-04T15:30:00.000Z", 10000],
    ],
    ends: ["14:00", "15:00", "15:30", "16:30"],
  },
] as const)("no usage is counted twice when the clock changes by half an hour: $range", async (change) => {
  const { used, range, hours, ends } = change;
  const division = { bucket: "hour", timeZone: "Australia/Lord_Howe" } as const;
  const { cell, chart } = await setupSums(used, division, range[1]);
  expect(await chart(range[0], "all")).toEqual(hours);
  expect(await chart(range[0], "ada")).toEqual(hours);
  const [from, to] = range.map((at) => brandAs<Instant>(Date.parse(at))) as [Instant, Instant];
  const buckets = await snapshot(cell, (tx) => listBuckets(tx, { from, to }, division));
  expect(buckets.map(({ until }) => new Date(until).toISOString().slice(11, 16))).toEqual(ends);
});
