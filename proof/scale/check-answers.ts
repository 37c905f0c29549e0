import { expect } from "../manage/import-through-a-kill.ts";
import { DATABASE, type ProofServer } from "../manage/server.ts";
import { type Asker, get } from "./ask.ts";
import type { World } from "./world.ts";

const LATE_MAX_MS = 35 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** What is fast must also be right: all events are counted, and over an old month those are the largest who are it by the rows. */
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
  const totals = await read<{ events: { count: number } }>(asker, `usage/totals?${all}`);
  expect("events in the sums", totals.events.count, events);
  const { from, to } = aroundMonth(world);
  type Ranking = { customers: { customerId: string; quantity: number }[] };
  const { customers } = await read<Ranking>(asker, `usage/customers?source=events&from=${from}&to=${to}`);
  const rows = await server.query(
    DATABASE,
    `select c.customer_id, u.quantity
     from (
       select customer_number, sum(quantity) as quantity
       from cell.events
       where occurred_at >= '${from}' and occurred_at < '${to}'
       group by customer_number
       order by 2 desc, 1
       limit 10
     ) as u
     join cell.customers as c on c.environment_id = ${asker.shop.context.environmentId} and c.number = u.customer_number
     order by u.quantity desc, c.number`,
  );
  expect(
    "who used most in a month and some days",
    JSON.stringify(customers.map(({ customerId, quantity }) => [customerId, quantity])),
    JSON.stringify(rows.map((row) => [row["customer_id"], Number(row["quantity"])])),
  );
}

async function read<Answer>(asker: Asker, path: string): Promise<Answer> {
  const { status, text } = await get(asker, path);
  if (status !== 200) throw new Error(`${path} was answered with ${text}`);
  return JSON.parse(text);
}

/** A whole month, which has sums of its own, and some days on both sides of it, which are read by quarters of an hour. */
function aroundMonth({ from, to }: World): { from: string; to: string } {
  const middle = new Date((from + to) / 2);
  const [year, month] = [middle.getUTCFullYear(), middle.getUTCMonth()];
  return {
    from: new Date(Date.UTC(year, month, -4)).toISOString(),
    to: new Date(Date.UTC(year, month + 1, 6)).toISOString(),
  };
}

function wholeHour(ms: number): string {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString();
}
