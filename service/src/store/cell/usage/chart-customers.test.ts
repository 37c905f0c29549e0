import { expect, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { settle } from "../../../../test/usage.ts";
import { snapshot } from "../../../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../primitives/brand.ts";
import { chartCustomers, type Group } from "./chart.ts";
import { listUsageTotals } from "./totals.ts";

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;
const ZONES = ["UTC", "Asia/Kathmandu", "America/New_York", "Australia/Adelaide"];
const CUSTOMERS = [1, 2].map((number) => brandAs<CustomerNumber>(number));
const DIVISOR = { none: "''", event: "e.event", customer: "e.customer_number::text" } as const;
/** Start and end of each range, in buckets before now: a few hours to several months. */
const RANGES = [
  [20, -1],
  [300, 10],
  [3_001, 2_000],
  [6_500, -1],
] as const;

test("charts and totals of customers match their rows, in any time zone and range", {
  timeout: 60_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const { environmentId } = project.test;
  // Two rounds, so that the buckets of a day are added in two roll-up turns.
  for (const round of [0, 1]) {
    await database.query(
      `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
       select now(), gen_random_uuid(), $1, 1 + i % 3, 'event.' || i % 4, 1 + i % 17, now() - i * interval '37 minutes' - $2 * interval '9 minutes', 'r'
       from generate_series(0, 2600) as i`,
      [environmentId, round],
    );
    await settle({ cell, database });
  }
  // Adds usage of another kind to the same buckets.
  await database.query(
    `insert into cell.meters (environment_id, kind, key, feature_id, reason) values ($1, 3, '1:6', 1, 6)`,
    [environmentId],
  );
  const denials = "(select id from cell.meters where kind = 3)";
  await database.query(
    `insert into cell.usage_customer_days
     select distinct on (day, customer_number) environment_id, day, customer_number, ${denials}, count, quantity, credits,
       bucket_counts, bucket_quantities, bucket_credits
     from cell.usage_customer_days`,
  );
  expect(await database.count("cell.usage_customer_days", "cardinality(bucket_counts) > 10")).toBeGreaterThan(
    0,
  );
  const now = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
  for (const [before, after] of RANGES) {
    const from = brandAs<Instant>(now - before * QUARTER_MS);
    const to = brandAs<Instant>(now - after * QUARTER_MS);
    const where = `e.environment_id = ${environmentId} and e.customer_number in (1, 2)
      and e.occurred_at >= to_timestamp(${from / 1_000}) and e.occurred_at < to_timestamp(${to / 1_000})`;
    for (const timeZone of ZONES)
      for (const bucket of ["hour", "day", "month"] as const)
        for (const group of ["none", "event", "customer"] as const satisfies readonly Group[]) {
          const scope = {
            environmentId,
            kind: "events",
            from,
            to,
            event: null,
            feature: null,
            pool: null,
          } as const;
          const options = { bucket, timeZone, by: "quantity", linesMax: 10 } as const;
          const points = await snapshot(cell, (tx) => chartCustomers(tx, scope, CUSTOMERS, group, options));
          const rows = await database.query(
            `select ${DIVISOR[group]} as group, (extract(epoch from date_trunc('${bucket}', e.occurred_at, '${timeZone}')) * 1000)::float8 as at,
               count(*)::integer as count, sum(e.quantity)::integer as quantity, 0 as credits
             from cell.events as e where ${where} group by 1, 2`,
          );
          const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).sort();
          const chart = { from, to, timeZone, bucket, group };
          const shown = points.map(({ group, at, count, quantity, credits }) => ({
            group,
            at,
            count: Number(count),
            quantity: Number(quantity),
            credits: Number(credits),
          }));
          expect({ chart, points: sorted(shown) }).toEqual({ chart, points: sorted(rows) });
        }
    const [all] = await database.query(
      `select count(*)::integer as count, sum(e.quantity)::integer as quantity from cell.events as e where ${where} and e.customer_number = 2`,
    );
    const customer = brandAs<CustomerNumber>(2);
    const [total] = await snapshot(cell, (tx) => listUsageTotals(tx, environmentId, { from, to, customer }));
    expect({ ...total, count: Number(total?.count), quantity: Number(total?.quantity) }).toMatchObject({
      kind: "events",
      ...all,
    });
  }
  const scope = { environmentId, kind: "denials", event: null, feature: null, pool: null } as const;
  const range = { from: brandAs<Instant>(now - 6_500 * QUARTER_MS), to: brandAs<Instant>(now) };
  const options = { bucket: "day", timeZone: "UTC", by: "count", linesMax: 10 } as const;
  const chart = (group: Group) =>
    snapshot(cell, (tx) => chartCustomers(tx, { ...scope, ...range }, CUSTOMERS, group, options));
  const byFeature = await chart("feature");
  expect(byFeature.length).toBeGreaterThan(0);
  expect(byFeature).toEqual((await chart("none")).map((point) => ({ ...point, group: "1" })));
});
