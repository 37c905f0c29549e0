import type { Tx } from "../../../postgres/statement.ts";
import {
  AFTER_ALL,
  BEFORE_ALL,
  compareExpected,
  findCursor,
  openExpected,
  rangeSince,
  type WrongSum,
} from "../../../store/cell/usage/expected.ts";
import {
  compareMonths,
  compareQuarters,
  findCustomerOfMonth,
  listUsageMonths,
  readExtent,
} from "../../../store/cell/usage/levels.ts";
import { brandAs, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import { nextUtcMonth } from "../../../words/utc-month.ts";
import { ExpectedWalk } from "./expected-walk.ts";
import { DAY_MS, utcDay } from "./utc-day.ts";

const ROWS_MAX = 5_000;
/** For each of these the whole month is read. */
const MONTH_ROWS_MAX = 50_000;

/**
 * The first sum that is not that of its rows, while the service goes on writing both. Null: all of them are. Before `since` not
 * all rows are there, and the sums are only held against each other.
 */
export async function verifyUsage(tx: Tx, since: Instant | null): Promise<WrongSum | null> {
  await openExpected(tx);
  return (await verifyCustomers(tx, since)) ?? (await verifyQuarters(tx)) ?? (await verifyMonths(tx));
}

/** What each customer used, by quarters of an hour, against the rows. */
async function verifyCustomers(tx: Tx, since: Instant | null): Promise<WrongSum | null> {
  const range = rangeSince(since);
  const walk = new ExpectedWalk(range);
  let after = BEFORE_ALL;
  do {
    await walk.catchUp(tx);
    const until = await findCursor(tx, after, ROWS_MAX);
    const wrong = await compareExpected(tx, { addedTo: walk.addedTo, after, until }, range);
    if (wrong?.isPartly === true) continue;
    if (wrong !== null) return wrong;
    after = until;
  } while (after !== AFTER_ALL);
  return null;
}

/** What all customers of an environment used, against the sum of what each did; a day at a time. */
async function verifyQuarters(tx: Tx): Promise<WrongSum | null> {
  const extent = await readExtent(tx);
  const cuts: string[] = ["-infinity"];
  if (extent !== null)
    for (let day = utcDay(extent.first); day <= extent.last; day = brandAs<Instant>(day + DAY_MS))
      cuts.push(formatTimestamp(day));
  cuts.push("infinity");
  for (const [index, to] of cuts.entries()) {
    const from = cuts[index - 1];
    if (from === undefined) continue;
    const wrong = await compareQuarters(tx, { from, to });
    if (wrong !== null) return wrong;
  }
  return null;
}

async function verifyMonths(tx: Tx): Promise<WrongSum | null> {
  for (const { environmentId, month } of await listUsageMonths(tx)) {
    const [from, to] = [formatTimestamp(month), formatTimestamp(nextUtcMonth(month))];
    for (let after = 0; after < Number.MAX_SAFE_INTEGER; ) {
      const until = await findCustomerOfMonth(tx, { environmentId, from, to, after }, MONTH_ROWS_MAX);
      const wrong = await compareMonths(tx, { environmentId, from, to, after, until });
      if (wrong !== null) return wrong;
      after = until;
    }
  }
  return null;
}
