import { type Clock, formatDay, formatTime, formatTimeOfDay } from "./times.ts";

export type Bucket = "hour" | "day" | "month";

const HOUR_MS = 3_600_000;

/** Where the hour, day or month of a moment begins, by the chosen clock; `steps` later or earlier ones. */
export function startOf(bucket: Bucket, at: number, clock: Clock, steps = 0): number {
  const [year, month, day] = partsOf(at, clock);
  if (bucket === "month") return momentOf([year, month + steps, 1], clock);
  if (bucket === "day") return momentOf([year, month, day + steps], clock);
  // Zones of a half hour begin their hours there; where clocks are put back an hour is an hour.
  const shift = clock === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return Math.floor((at - shift) / HOUR_MS) * HOUR_MS + shift + steps * HOUR_MS;
}

/** The zone's name, as the API takes it. */
export function zoneOf(clock: Clock): string {
  if (clock === "utc") return "UTC";
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return /^[A-Z][A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$/.test(timeZone) ? timeZone : "UTC";
}

type Parts = readonly [year: number, month: number, day: number];

function partsOf(at: number, clock: Clock): Parts {
  const date = new Date(at);
  return clock === "utc"
    ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
    : [date.getFullYear(), date.getMonth(), date.getDate()];
}

function momentOf([year, month, day]: Parts, clock: Clock): number {
  return clock === "utc" ? Date.UTC(year, month, day) : new Date(year, month, day).getTime();
}

export const BUCKET_WORDS = { hour: "By hour", day: "By day", month: "By month" } as const;

/** "15 Nov 2026, 13:00", "15 Nov 2026", "November 2026". */
export function nameOfBucket(at: string, bucket: Bucket, clock: Clock): string {
  if (bucket === "hour") return formatTime(at, clock);
  return bucket === "day" ? formatDay(at, clock) : monthOf(at, clock, "long");
}

/** Below an axis, where little fits: "13:00", "15 Nov", "Nov 2026". */
export function tickOfBucket(at: string, bucket: Bucket, clock: Clock): string {
  if (bucket === "month") return monthOf(at, clock, "short");
  const time = formatTimeOfDay(at, clock);
  // The day stands where it begins.
  return bucket === "hour" && time !== "00:00" ? time : formatDay(at, clock).replace(/ \d{4}$/, "");
}

function monthOf(at: string, clock: Clock, month: "long" | "short"): string {
  const zone = clock === "utc" ? { timeZone: "UTC" } : {};
  return new Intl.DateTimeFormat("en-GB", { month, year: "numeric", ...zone }).format(new Date(at));
}
