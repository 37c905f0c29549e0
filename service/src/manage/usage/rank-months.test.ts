import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { settle } from "../../../test/usage.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { nextUtcMonth, utcMonth } from "../../primitives/utc-month.ts";
import { remakeMonths } from "../../store/cell/usage/levels.ts";
import { exactUsed } from "./range.ts";
import { rankUsers } from "./rank-users.ts";

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 96 * QUARTER_MS;
const CUSTOMERS = 7;
const DAYS = 100;
/** How many days are not in the sums of months; and of the first of them, below which number customers are. */
const LEFT = [
  [0, 0],
  [1, 0],
  [1, 4],
  [1, CUSTOMERS + 1],
  [17, 3],
  [45, 5],
] as const;

test("customers are ranked by what their rows come to, however far the sums of months are", {
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
  const now = (Math.floor(Date.now() / QUARTER_MS) + 1) * QUARTER_MS;
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  // Undone afterwards: else the job would go on from there.
  for (const [days, below] of LEFT)
    await transaction(
      cell,
      async (tx) => {
        const monthsTo = brandAs<Instant>(today - days * DAY_MS);
        await leaveOut(tx, environmentId, monthsTo, below);
        for (const from of momentsAround(monthsTo, now - DAYS * DAY_MS, now))
          for (const to of momentsAround(monthsTo, from + QUARTER_MS, now)) {
            const range = { from: brandAs<Instant>(from), to: brandAs<Instant>(to) };
            const scope = {
              environmentId,
              kind: "events",
              ...range,
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
            const asked = { days, below, from: new Date(from), to: new Date(to) };
            expect({ asked, ranked }).toEqual({ asked, ranked: rows });
          }
      },
      () => false,
    );
});

/** The sums of months as they are when the job is so far. */
async function leaveOut(
  tx: Tx,
  environmentId: EnvironmentId,
  monthsTo: Instant,
  below: number,
): Promise<void> {
  const text = "update cell.usage_progress set months_to = $1::timestamptz, months_below = $2";
  await tx.run({ name: "", text }, [formatTimestamp(monthsTo), below]);
  let month = utcMonth(brandAs<Instant>(monthsTo - 2 * DAYS * DAY_MS));
  for (; month <= Date.now(); month = nextUtcMonth(month)) {
    const [from, to] = [formatTimestamp(month), formatTimestamp(nextUtcMonth(month))];
    await remakeMonths(tx, { environmentId, from, to, numberFrom: 0, numberTo: CUSTOMERS + 1 });
  }
}

/** From where the sums of months end, and from where months do, a quarter and a day to either side; and both ends. */
function momentsAround(monthsTo: Instant, first: number, last: number): number[] {
  const month = utcMonth(monthsTo);
  const edges = [monthsTo, month, nextUtcMonth(month), utcMonth(brandAs<Instant>(month - DAY_MS))];
  const steps = [-DAY_MS, -QUARTER_MS, 0, QUARTER_MS, DAY_MS];
  const moments = edges.flatMap((edge) => steps.map((step) => edge + step));
  return [...new Set([first, ...moments, last])].filter((moment) => moment >= first && moment <= last);
}
