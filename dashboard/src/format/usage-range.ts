import { type Bucket, type Clock, startOf, startOfQuarter } from "./times.ts";

/** The named ranges, wherever a time range is chosen. */
export const RANGE_NAMES = {
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
  month: "This month",
  "last-month": "Last month",
  quarter: "This quarter",
  "last-quarter": "Last quarter",
} as const;

export const RANGE_OPTIONS = Object.entries(RANGE_NAMES).map(([value, label]) => ({ value, label }));

export type RangeName = keyof typeof RANGE_NAMES;

/** A named range or two times, kept in the URL. */
export type RangeSearch = { range?: RangeName; from?: string; to?: string };

/** `to` is null if the range ends now. */
export type Range = { readonly from: number; readonly to: number | null };

const DEFAULT_RANGE = "30d" as const satisfies RangeName;
const DAYS = { "7d": 7, "30d": 30, "90d": 90 } as const;
const DAY_MS = 86_400_000;
const BUCKET_MS = 900_000;

/** Starts at a full hour, day or month, so that the first bar is complete. */
export function rangeOf({ range = DEFAULT_RANGE, from, to }: RangeSearch, now: number, clock: Clock): Range {
  if (from !== undefined && to !== undefined) return { from: Date.parse(from), to: Date.parse(to) };
  if (range === "24h") return { from: startOf("hour", now, clock, -23), to: null };
  if (range === "month") return { from: startOf("month", now, clock), to: null };
  if (range === "last-month")
    return { from: startOf("month", now, clock, -1), to: startOf("month", now, clock) };
  if (range === "quarter") return { from: startOfQuarter(now, clock), to: null };
  if (range === "last-quarter")
    return { from: startOfQuarter(now, clock, -1), to: startOfQuarter(now, clock) };
  return { from: startOf("day", now, clock, 1 - DAYS[range]), to: null };
}

/** The filters of a list as parameters of the API, which has no named ranges. */
export function rangeToTimes<Filters extends RangeSearch>(
  filters: Filters,
  now: number,
  clock: Clock,
): Omit<Filters, keyof RangeSearch> & { from?: string; to?: string } {
  const { range, from: begin, to: end, ...others } = filters;
  if (range === undefined && begin === undefined) return others;
  const { from, to } = rangeOf(filters, now, clock);
  return {
    ...others,
    from: new Date(from).toISOString(),
    ...(to === null ? {} : { to: new Date(to).toISOString() }),
  };
}

/** The same range as two fixed times. */
export function momentsOf({ from, to }: Range, now: number): { from: string; to: string } {
  const end = to ?? Math.ceil(now / BUCKET_MS) * BUCKET_MS;
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() };
}

/** Default bucket: hours up to 3 days, days up to 100 days, then months. */
export function bucketFor(spanMs: number): Bucket {
  if (spanMs <= 3 * DAY_MS) return "hour";
  return spanMs <= 100 * DAY_MS ? "day" : "month";
}

const HOURS_DAYS_MAX = 40;

/** Buckets that the API supports for a range of this length. */
export function bucketsFor(spanMs: number): Bucket[] {
  const days = spanMs / DAY_MS;
  return [
    ...(days <= HOURS_DAYS_MAX ? (["hour"] as const) : []),
    ...(days > 1 && days <= 900 ? (["day"] as const) : []),
    ...(days > 27 ? (["month"] as const) : []),
  ];
}

/** Reads a range from the URL. Times are rounded down to 15 minutes. */
export function readRangeSearch(
  { range, from, to }: Record<string, unknown>,
  byDefault: RangeName | null = DEFAULT_RANGE,
): RangeSearch {
  const [begin, end] = [quarterOf(from), quarterOf(to)];
  if (begin !== null && end !== null && begin < end) return { from: begin, to: end };
  return isRangeName(range) && range !== byDefault ? { range } : {};
}

/** Reads the name of a range from the URL. */
export function rangeName(value: unknown): RangeName | undefined {
  return isRangeName(value) ? value : undefined;
}

function isRangeName(value: unknown): value is RangeName {
  return typeof value === "string" && Object.hasOwn(RANGE_NAMES, value);
}

function quarterOf(value: unknown): string | null {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(Math.floor(at / BUCKET_MS) * BUCKET_MS).toISOString();
}
