import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../../../test/harness.ts";
import { openPool } from "../../../postgres/pool.ts";
import { snapshot } from "../../../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../words/brand.ts";
import { type ChartPoint, chartAll, chartCustomers } from "./chart.ts";

/** Midnight comes twice in Havana that day, at 04:00 and at 05:00. */
const USED = [
  ["2026-11-01T03:45:00Z", 1],
  ["2026-11-01T04:00:00Z", 10],
  ["2026-11-01T04:45:00Z", 100],
  ["2026-11-01T05:00:00Z", 1000],
] as const;
const ADA = brandAs<CustomerNumber>(7);

async function setupSums() {
  const database = await createDatabase();
  const cell = openPool({ url: database.serviceUrl, name: "test", sizeMax: 1, onIdleError: () => {} });
  onTestFinished(() => cell.end());
  // Whatever zone a session has.
  await cell.query("set timezone = 'America/New_York'");
  await database.query("insert into cell.meters (environment_id, kind, key) values (1, 1, 'e')");
  const [meter] = await database.query("select id from cell.meters");
  for (const [quarter, quantity] of USED) {
    const sum = [quarter, meter?.["id"], quantity];
    await database.query("insert into cell.usage_quarters values (1, $1, $2, 1, $3, 0)", sum);
    await database.query(
      `insert into cell.usage_customer_quarters values (1, $1, ${ADA}, $2, 1, $3, 0)`,
      sum,
    );
  }
  const chart = async (from: string, chartOf: "all" | "ada"): Promise<[string, number][]> => {
    const scope = {
      environmentId: brandAs<EnvironmentId>(1),
      kind: "events",
      from: brandAs<Instant>(Date.parse(from)),
      to: brandAs<Instant>(Date.parse("2026-11-02T00:00:00Z")),
      event: null,
      feature: null,
      pool: null,
    } as const;
    const options = { bucket: "day", timeZone: "America/Havana", by: "quantity", linesMax: 5 } as const;
    const points: ChartPoint[] = await snapshot(cell, (tx) =>
      chartOf === "all"
        ? chartAll(tx, scope, "none", options)
        : chartCustomers(tx, scope, [ADA], "none", options),
    );
    return points.map(({ at, quantity }) => [new Date(at).toISOString(), quantity]);
  };
  return { database, chart, meter: meter?.["id"] };
}

test("a day on which midnight comes twice has both, in every chart", async () => {
  const { database, chart, meter } = await setupSums();
  const day = ["2026-11-01T05:00:00.000Z", 1110];
  const dayBefore = ["2026-10-31T04:00:00.000Z", 1];
  const expectBoth = async (chartOf: "all" | "ada"): Promise<void> => {
    expect(await chart("2026-11-01T04:00:00Z", chartOf)).toEqual([day]);
    expect(await chart("2026-10-31T12:00:00Z", chartOf)).toEqual([dayBefore, day]);
  };
  await expectBoth("all");
  await database.query("update cell.usage_progress set months_to = '2026-10-01'");
  await expectBoth("ada");
  // The same from a month's slots alone.
  await database.query("delete from cell.usage_customer_quarters");
  await database.query(
    `insert into cell.usage_customer_slots values
       (1, '2026-11-01 00:00Z', ${ADA}, $1, '{15,16,19,20}', '{1,1,1,1}', '{1,10,100,1000}', '{0,0,0,0}')`,
    [meter],
  );
  await database.query("update cell.usage_progress set months_to = '2026-12-01'");
  await expectBoth("ada");
});
