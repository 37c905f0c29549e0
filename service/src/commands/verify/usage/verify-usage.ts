import { setTimeout as sleep } from "node:timers/promises";
import type { Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import {
  type Comparison,
  compareBuckets,
  compareDays,
  compareWithRows,
  type WrongSum,
} from "../../../store/cell/usage/compare.ts";
import { BUCKET_MS, listUsageEnvironments, readWholeExtent } from "../../../store/cell/usage/extent.ts";
import {
  prepareForSlices,
  type SomeCustomers,
  type TimeSlice,
} from "../../../store/cell/usage/time-slice.ts";
import { Crowd, stride } from "./stride.ts";

/** Longer than the service needs to add a large transaction. */
const PARTLY_MS_MAX = 10 * 60_000;
const PAUSE_MS = 100;
/** The width of a step in time: one hour at first, then 15 minutes to 32 days. */
const TIME_WIDTH = { first: 4 * BUCKET_MS, least: BUCKET_MS, most: 32 * 96 * BUCKET_MS } as const;

export type Verified = {
  /** The first difference found. */
  readonly wrong: WrongSum | null;
  /** Number of rows compared. */
  readonly rows: number;
};

/**
 * Compares each customer's buckets with the rows, and the roll-ups with each other, while the service writes both. Before `since`,
 * rows are missing, so only the roll-ups are compared. Runs many short statements. The duration depends only on the number of
 * rows.
 */
export async function verifyUsage(tx: Tx, since: Instant | null): Promise<Verified> {
  await prepareForSlices(tx);
  const environments = await listUsageEnvironments(tx);
  const extent = await readWholeExtent(tx, environments);
  if (extent === null) return { wrong: null, rows: 0 };
  const first = Math.floor(extent.first / BUCKET_MS) * BUCKET_MS;
  const last = (Math.floor(extent.last / BUCKET_MS) + 1) * BUCKET_MS;
  // Before `since`, compares only roll-ups.
  const cut = since === null ? first : Math.min(Math.max(since, first), last);
  let wrong: WrongSum | null = null;
  let rowsHeld = 0;
  const take = (found: Comparison): number | null => {
    wrong = found.wrong;
    return found.wrong === null ? found.rows : null;
  };
  const [crowd, crowdOfDays] = [new Crowd(), new Crowd()];
  const compareSums = async (from: number, to: number): Promise<number | null> => {
    const slice = { environments, from: format(from), to: format(to) };
    const buckets = take(await compareBuckets(tx, slice));
    if (buckets === null) return null;
    const days = await crowdOfDays.over(from, to, async (some) => take(await compareDays(tx, slice, some)));
    return days === null ? null : Math.max(buckets, days);
  };
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

/** Retries differences while a large transaction is being added in slices, because some of its customers are then missing. */
async function compareWhole(tx: Tx, slice: TimeSlice, some: SomeCustomers): Promise<Comparison> {
  for (const startMs = performance.now(); performance.now() - startMs < PARTLY_MS_MAX; ) {
    const found = await compareWithRows(tx, slice, some);
    if (found.wrong === null || !found.isPartial) return found;
    await sleep(PAUSE_MS);
  }
  throw new Error("a large transaction is only partly added: is the service running?");
}
