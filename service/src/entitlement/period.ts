import { brandAs, type Instant } from "../primitives/brand.ts";

export type PeriodKind = "day" | "week" | "month" | "year" | "once";

/** Half-open: includes `start`, excludes `end`. A null `end` means that the period never ends. */
export type Period = { readonly start: Instant; readonly end: Instant | null };

const DAY_MS = 86_400_000;
const LENGTH_MS = { day: DAY_MS, week: 7 * DAY_MS } as const;
const MONTHS = { month: 1, year: 12 } as const;

/** The single period of a one-time allowance. It starts before every anchor. */
const ALWAYS: Period = { start: brandAs<Instant>(0), end: null };

/** Whether `end` is after `at`. Ends are exclusive. Null means no end. */
export function isAhead(end: Instant | null, at: Instant): boolean {
  return end === null || end > at;
}

/**
 * The period that contains `at`. Every period is counted from the anchor, in UTC, not from the previous period: an anchor on the 31st gives
 * 28 February and then 31 March. The anchor may be in the future, because it only sets the boundaries.
 */
export function periodAt(kind: PeriodKind, anchor: Instant, at: Instant): Period {
  if (kind === "once") return ALWAYS;
  let index = estimateIndex(kind, anchor, at);
  while (boundary(kind, anchor, index) > at) index -= 1;
  while (boundary(kind, anchor, index + 1) <= at) index += 1;
  return { start: boundary(kind, anchor, index), end: boundary(kind, anchor, index + 1) };
}

/** Counts `count` periods from the period that starts at `start`, and returns the end of the last one. Null if a period never ends. */
export function endAfter(kind: PeriodKind, anchor: Instant, start: Instant, count: number): Instant | null {
  if (kind === "once") return null;
  let index = estimateIndex(kind, anchor, start);
  while (boundary(kind, anchor, index) < start) index += 1;
  return boundary(kind, anchor, index + 1 + count);
}

/** The period before the one that starts at `start`. */
export function periodBefore(kind: PeriodKind, anchor: Instant, start: Instant): Period {
  return periodAt(kind, anchor, brandAs<Instant>(start - 1));
}

/** The earlier of two times. Null means never. */
export function earlierOf(a: Instant, b: Instant | null): Instant;
export function earlierOf(a: Instant | null, b: Instant | null): Instant | null;
export function earlierOf(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Estimates the index of the period that contains `at`. The result is never too high, and at most 1 too low. */
function estimateIndex(kind: Exclude<PeriodKind, "once">, anchor: Instant, at: Instant): number {
  if (kind === "day" || kind === "week") return Math.floor((at - anchor) / LENGTH_MS[kind]);
  const from = new Date(anchor);
  const to = new Date(at);
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  return Math.floor(months / MONTHS[kind]) - 1;
}

/** The anchor moved by `index` periods. A day that a month does not have becomes the month's last day. */
function boundary(kind: Exclude<PeriodKind, "once">, anchor: Instant, index: number): Instant {
  if (kind === "day" || kind === "week") return brandAs<Instant>(anchor + index * LENGTH_MS[kind]);
  const moved = new Date(anchor);
  const day = moved.getUTCDate();
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + index * MONTHS[kind]);
  const daysInMonth = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
  moved.setUTCDate(Math.min(day, daysInMonth));
  return brandAs<Instant>(moved.getTime());
}
