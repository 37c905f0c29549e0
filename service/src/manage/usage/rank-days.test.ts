import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { settle } from "../../../test/usage.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { exactUsed } from "./range.ts";
import { rankUsers } from "./rank-users.ts";

const BUCKET_MS = 15 * 60_000;
const DAY_MS = 96 * BUCKET_MS;
const CUSTOMERS = 7;
const DAYS = 100;

test("the customer ranking matches the event rows for any time range", {
  timeout: 120_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const { environmentId } = project.test;
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), $1, 1 + i % $2, 'event.' || i % 3, 1 + i % 17, now() - i * $3 * interval '1 hour' / 100, 'r'
     from generate_series(0, 2400) as i`,
    [environmentId, CUSTOMERS, DAYS],
  );
  await settle({ cell, database });
  const now = (Math.floor(Date.now() / BUCKET_MS) + 1) * BUCKET_MS;
  const moments = momentsBetween(now - DAYS * DAY_MS, now);
  const ranges = moments.flatMap((from) => moments.filter((to) => to > from).map((to) => ({ from, to })));
  for (const range of [...ranges, { from: 0, to: 1e14 }, { from: 0, to: DAY_MS }])
    await snapshot(cell, async (tx) => {
      const from = brandAs<Instant>(range.from);
      const to = brandAs<Instant>(range.to);
      const scope = {
        environmentId,
        kind: "events",
        from,
        to,
        event: null,
        feature: null,
        pool: null,
      } as const;
      const found = await rankUsers(tx, scope, { by: "quantity", limit: 100 });
      const ranked = found.map((one) => ({ customerNumber: one.customerNumber, ...exactUsed(one) }));
      const rows = await database.query(
        `select e.customer_number::integer as "customerNumber", count(*)::integer as count, sum(e.quantity)::integer as quantity, 0 as credits
         from cell.events as e
         where e.environment_id = $1 and e.occurred_at >= $2 and e.occurred_at < $3
         group by e.customer_number
         order by sum(e.quantity) desc, e.customer_number`,
        [environmentId, new Date(from), new Date(to)],
      );
      const asked = { from: new Date(from), to: new Date(to) };
      expect({ asked, ranked }).toEqual({ asked, ranked: rows });
    });
});

/** Returns times around midnight on a few days, and both ends of the range. */
function momentsBetween(first: number, last: number): number[] {
  const today = Math.floor(last / DAY_MS) * DAY_MS;
  const days = [today, today - DAY_MS, today - 40 * DAY_MS];
  const steps = [-BUCKET_MS, 0, BUCKET_MS, DAY_MS / 2];
  const moments = days.flatMap((day) => steps.map((step) => day + step));
  return [...new Set([first, ...moments, last])].filter((moment) => moment >= first && moment <= last);
}
