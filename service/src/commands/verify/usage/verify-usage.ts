import { setTimeout as sleep } from "node:timers/promises";
import type { Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { nextUtcMonth, utcMonth } from "../../../primitives/utc-month.ts";
import { type Comparison, compareWithRows, type WrongSum } from "../../../store/cell/usage/expected.ts";
import { QUARTER_MS } from "../../../store/cell/usage/extent.ts";
import {
  type CustomersExtent,
  compareMonths,
  compareQuarters,
  type MonthOfCustomers,
  readCustomersExtent,
} from "../../../store/cell/usage/levels.ts";
import { listUsageEnvironments, readWholeExtent } from "../../../store/cell/usage/slice-extent.ts";
import {
  prepareForSlices,
  type SomeCustomers,
  type TimeSlice,
} from "../../../store/cell/usage/time-slice.ts";
import { Crowd, stride } from "./stride.ts";

/** Longer than the service takes for it. */
const PARTLY_MS_MAX = 10 * 60_000;
const PAUSE_MS = 100;
/** Of time, in steps: an hour, a quarter of an hour, 32 days. */
export const TIME_WIDTH = { first: 4 * QUARTER_MS, least: QUARTER_MS, most: 32 * 96 * QUARTER_MS } as const;
/** Of customers' numbers. */
const NUMBERS_WIDTH = { first: 1_000, least: 1, most: 2 ** 40 } as const;

export type Verified = {
  /** The first sum that is not that of its rows. Null: all of them are. */
  readonly wrong: WrongSum | null;
  /** That were held against the sums. */
  readonly rows: number;
};

/**
 * Whether every sum is that of its rows, while the service goes on writing both. Before `since` not
 * all rows are there, and the sums are only held against each other. By time, in short statements: how long it takes grows with
 * the rows, and nothing else does.
 */
export async function verifyUsage(tx: Tx, since: Instant | null): Promise<Verified> {
  await prepareForSlices(tx);
  const environments = await listUsageEnvironments(tx);
  const { wrong, rows } = await verifyQuarters(tx, environments, since);
  return { wrong: wrong ?? (await verifyMonths(tx, environments)), rows };
}

/** What each customer used, by quarters of an hour, against the rows; and what all did against what each did. */
async function verifyQuarters(
  tx: Tx,
  environments: readonly EnvironmentId[],
  since: Instant | null,
): Promise<Verified> {
  const extent = await readWholeExtent(tx, environments);
  if (extent === null) return { wrong: null, rows: 0 };
  const first = Math.floor(extent.first / QUARTER_MS) * QUARTER_MS;
  const last = (Math.floor(extent.last / QUARTER_MS) + 1) * QUARTER_MS;
  // Up to there the sums alone.
  const cut = since === null ? first : Math.min(Math.max(since, first), last);
  let wrong: WrongSum | null = null;
  let rowsHeld = 0;
  const take = (found: Comparison): number | null => {
    wrong = found.wrong;
    return found.wrong === null ? found.rows : null;
  };
  const compareSums = async (from: number, to: number): Promise<number | null> =>
    take(await compareQuarters(tx, { environments, from: format(from), to: format(to) }));
  const crowd = new Crowd();
  const compareRows = (from: number, to: number): Promise<number | null> => {
    const slice = { environments, from: format(from), to: format(to) };
    const compareSome = async (some: SomeCustomers): Promise<number | null> => {
      const found = await compareWhole(tx, slice, some);
      rowsHeld += found.rows;
      return take(found);
    };
    return crowd.over(from, to, compareSome);
  };
  const compareBoth = async (from: number, to: number): Promise<number | null> => {
    const sums = await compareSums(from, to);
    const rows = sums === null ? null : await compareRows(from, to);
    return sums === null || rows === null ? null : Math.max(sums, rows);
  };
  await (since === null ? compareBoth(-Infinity, first) : compareSums(-Infinity, first));
  if (wrong === null) await stride({ from: first, to: cut, width: TIME_WIDTH }, compareSums);
  if (wrong === null) await stride({ from: cut, to: last, width: TIME_WIDTH }, compareBoth);
  if (wrong === null) await compareBoth(last, Infinity);
  return { wrong, rows: rowsHeld };
}

function format(at: number): string {
  if (!Number.isFinite(at)) return at < 0 ? "-infinity" : "infinity";
  return formatTimestamp(brandAs<Instant>(at));
}

/** Of a large transaction the sums hold some customers a moment before the others. */
async function compareWhole(tx: Tx, slice: TimeSlice, some: SomeCustomers): Promise<Comparison> {
  for (const startMs = performance.now(); performance.now() - startMs < PARTLY_MS_MAX; ) {
    const found = await compareWithRows(tx, slice, some);
    if (found.wrong === null || !found.isPartly) return found;
    await sleep(PAUSE_MS);
  }
  throw new Error("a large transaction is added up in part, and nobody adds the rest: does the service run?");
}

/** What customers used in a month against what they used in its quarters of an hour. */
async function verifyMonths(tx: Tx, environments: readonly EnvironmentId[]): Promise<WrongSum | null> {
  let wrong: WrongSum | null = null;
  for (const environmentId of environments) {
    const extent = await readCustomersExtent(tx, environmentId);
    if (extent === null) continue;
    for (let month = utcMonth(extent.first); month <= extent.last; month = nextUtcMonth(month)) {
      const [from, to] = [formatTimestamp(month), formatTimestamp(nextUtcMonth(month))];
      const compare = async ({ numberFrom, numberTo }: Numbers): Promise<number | null> => {
        const found = await compareMonths(tx, { environmentId, from, to, numberFrom, numberTo });
        wrong = found.wrong;
        return wrong === null ? found.rows : null;
      };
      await strideOverCustomers(extent, compare);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

type Numbers = Pick<MonthOfCustomers, "numberFrom" | "numberTo">;

/** Over the numbers of an environment's customers; the first and the last step take those that nobody has, too. */
export function strideOverCustomers(
  { numberMin, numberMax }: Pick<CustomersExtent, "numberMin" | "numberMax">,
  work: (numbers: Numbers) => Promise<number | null>,
): Promise<void> {
  return stride({ from: numberMin, to: numberMax + 1, width: NUMBERS_WIDTH }, (from, to) =>
    work({
      numberFrom: from === numberMin ? 0 : from,
      numberTo: to > numberMax ? Number.MAX_SAFE_INTEGER : to,
    }),
  );
}
