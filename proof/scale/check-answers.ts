import { expect } from "../manage/import-through-a-kill.ts";
import { DATABASE, type ProofServer } from "../manage/server.ts";
import { type Asker, get } from "./ask.ts";
import { rangeOf } from "./questions.ts";
import type { World } from "./world.ts";

const LATE_MAX_MS = 35 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** What is fast must also be right: all events are counted, and over old months those are the largest who are it by the rows. */
export async function checkAnswers(
  server: ProofServer,
  asker: Asker,
  world: World,
  events: number,
): Promise<void> {
  const all = new URLSearchParams({
    from: wholeHour(world.from - LATE_MAX_MS),
    to: wholeHour(world.to + HOUR_MS),
  });
  const totals: { events: { count: number } } = JSON.parse((await get(asker, `usage/totals?${all}`)).text);
  expect("events in the sums", totals.events.count, events);
  const range = rangeOf(world, 90, 3);
  const { customers }: { customers: { customerId: string; quantity: number }[] } = JSON.parse(
    (await get(asker, `usage/customers?source=events&${range}`)).text,
  );
  const bounds = new URLSearchParams(range);
  const rows = await server.query(
    DATABASE,
    `select c.customer_id, u.quantity
     from (
       select customer_number, sum(quantity) as quantity
       from cell.events
       where occurred_at >= '${bounds.get("from")}' and occurred_at < '${bounds.get("to")}'
       group by customer_number
       order by 2 desc, 1
       limit 10
     ) as u
     join cell.customers as c on c.environment_id = ${asker.shop.context.environmentId} and c.number = u.customer_number
     order by u.quantity desc, c.number`,
  );
  expect(
    "who used most in 90 days",
    JSON.stringify(customers.map(({ customerId, quantity }) => [customerId, quantity])),
    JSON.stringify(rows.map((row) => [row["customer_id"], Number(row["quantity"])])),
  );
}

function wholeHour(ms: number): string {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString();
}
