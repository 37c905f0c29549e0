import type { Caller } from "../harness/caller.ts";
import type { Database } from "../harness/database.ts";
import { expectEqual } from "../harness/figures.ts";
import type { Project } from "../harness/project.ts";
import type { World } from "./world.ts";

const LATE_MAX_MS = 35 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Checks that all events are counted, and that the top customers of an old month match the rows. */
export async function checkAnswers(
  { database, project, caller }: { database: Database; project: Project; caller: Caller },
  world: World,
  events: number,
): Promise<void> {
  const all = new URLSearchParams({
    from: wholeHour(world.from - LATE_MAX_MS),
    to: wholeHour(world.to + HOUR_MS),
  });
  const totals = await caller.get<{ events: { count: number } }>(`usage/totals?${all}`);
  expectEqual("events in the roll-ups", totals.events.count, events);
  const { from, to } = aroundMonth(world);
  type Ranking = { customers: { customerId: string; quantity: number }[] };
  const { customers } = await caller.get<Ranking>(`usage/customers?source=events&from=${from}&to=${to}`);
  const rows = await database.query(
    `select c.customer_id, u.quantity
     from (
       select customer_number, sum(quantity) as quantity
       from cell.events
       where occurred_at >= '${from}' and occurred_at < '${to}'
       group by customer_number
       order by 2 desc, 1
       limit 10
     ) as u
     join cell.customers as c on c.environment_id = ${project.context.environmentId} and c.number = u.customer_number
     order by u.quantity desc, c.number`,
  );
  expectEqual(
    "customers with the most usage in a month and two days",
    JSON.stringify(customers.map(({ customerId, quantity }) => [customerId, quantity])),
    JSON.stringify(rows.map((row) => [row["customer_id"], Number(row["quantity"])])),
  );
}

/** A whole month, with the day before and the day after. */
function aroundMonth({ from, to }: World): { from: string; to: string } {
  const middle = new Date((from + to) / 2);
  const [year, month] = [middle.getUTCFullYear(), middle.getUTCMonth()];
  return {
    from: new Date(Date.UTC(year, month, 0)).toISOString(),
    to: new Date(Date.UTC(year, month + 1, 2)).toISOString(),
  };
}

function wholeHour(ms: number): string {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString();
}
