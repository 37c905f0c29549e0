import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { ask, type Sum, settle } from "../../../test/usage.ts";

const EVER = "from=1970-01-01T00:00:00Z&to=9999-12-31T00:00:00Z";
/** The longest range with monthly buckets. */
const LONG = "bucket=month&from=1980-01-01T00:00:00Z&to=2056-01-01T00:00:00Z";

test("a query's cost depends only on the usage in its range, and a query that is too expensive is rejected", async () => {
  const managed = await setupManage();
  const { database, record, manage } = managed;
  const customers = Array.from({ length: 12 }, (_, index) => `c-${index}`);
  for (const customerId of customers) await record({ customerId, event: "e", quantity: 2 });
  await settle(managed);
  type Totals = { events: Sum; from: string; to: string };
  const totals = await ask<Totals>(managed, `usage/totals?customerId=c-1&${EVER}`);
  expect(totals.events).toEqual({ count: 1, quantity: 2, credits: 0 });
  // The response shows the requested range, not the range that was read.
  expect([totals.from, totals.to]).toEqual(["1970-01-01T00:00:00.000Z", "9999-12-31T00:00:00.000Z"]);
  const all = await ask<Totals>(managed, `usage/totals?${EVER}`);
  expect(all.events.count).toBe(12);
  const chart = await ask(managed, `usage?source=events&groupBy=customer&limit=100&${LONG}`);
  expect(chart.lines.map(({ key }) => key).sort()).toEqual([...customers].sort());
  expect(chart.buckets).toHaveLength(76 * 12);
  expect((await manage("GET", `usage/decisions?customerId=c-1&${LONG}`)).status).toBe(200);
  expect(
    (
      await ask<Totals>(
        managed,
        "usage/totals?customerId=c-1&from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00Z",
      )
    ).events.count,
  ).toBe(0);
  // Adds usage from long ago, as an import would.
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), environment_id, customer_number, 'old', 1, '1990-01-01 00:00:00+00', 'r' from cell.events limit 1`,
  );
  await settle(managed);
  for (const path of [
    `usage/totals?customerId=c-1&${EVER}`,
    `usage?source=events&groupBy=customer&limit=100&${LONG}`,
    `usage/decisions?customerId=c-1&${LONG}`,
  ]) {
    const { status, body } = await manage("GET", path);
    expect({ path, status, errors: body["errors"] }).toMatchObject({
      path,
      status: 400,
      errors: [{ field: "from", code: "too_long" }],
    });
  }
});
