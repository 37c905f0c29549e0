/** Time zone in which times are shown. */
export type Clock = "utc" | "local";

const DAY = { year: "numeric", month: "short", day: "numeric" } as const;
const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const EXACT = { second: "2-digit", fractionalSecondDigits: 3, timeZoneName: "short" } as const;

/** Cached, because creating a format takes longer than rendering a table row. */
const formats = new Map<string, Intl.DateTimeFormat>();

const UTC = { timeZone: "UTC" } as const;
const ZONE_MS = 1_000;

/** The computer's time zone, which can change while a page is open. Cached briefly, because reading it creates a format. */
let zone = { name: "", readAt: -ZONE_MS };

function readZone(): string {
  const { timeZone: name } = new Intl.DateTimeFormat().resolvedOptions();
  if (name !== zone.name) formats.clear();
  zone = { name, readAt: performance.now() };
  return name;
}

function format(iso: string, clock: Clock, shape: Intl.DateTimeFormatOptions): string {
  if (clock === "local" && performance.now() - zone.readAt >= ZONE_MS) readZone();
  const key = `${clock} ${JSON.stringify(shape)}`;
  const known =
    formats.get(key) ?? new Intl.DateTimeFormat("en-GB", { ...shape, ...(clock === "utc" ? UTC : {}) });
  formats.set(key, known);
  return known.format(new Date(iso));
}

export function formatTime(iso: string, clock: Clock, isExact = false): string {
  return format(iso, clock, { ...DAY, ...TIME, ...(isExact ? EXACT : {}) });
}

/** With the time zone, for a time that the user waits for: "1 Dec 2026, 01:00 CET". */
export function formatZoned(iso: string, clock: Clock): string {
  return format(iso, clock, { ...DAY, ...TIME, timeZoneName: "short" });
}

export function formatDay(iso: string, clock: Clock): string {
  return format(iso, clock, DAY);
}

/** For rows that arrive every second: "15 Nov, 10:06:41". */
export function formatSecond(iso: string, clock: Clock): string {
  return format(iso, clock, { ...DAY, ...TIME, year: undefined, second: "2-digit" });
}

/** "10:02". */
export function formatTimeOfDay(iso: string, clock: Clock): string {
  return format(iso, clock, TIME);
}

const STEPS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 minutes ago", "in 2 days". */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1_000);
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(seconds, "second");
}

/** "45 s", "12 min", "3 h", "2 days". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

// The value of a `datetime-local` input has no time zone. It is read in the selected time zone.

/** ISO time of an input; null while the input is invalid. */
export function readMoment(text: string, clock: Clock): string | null {
  const at = Date.parse(clock === "utc" ? `${text}Z` : text);
  return text === "" || Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** Input value for a time. */
export function momentText(at: number, clock: Clock): string {
  const shift = clock === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shift).toISOString().slice(0, 16);
}

export function nameOfClock(clock: Clock): string {
  return clock === "utc" ? "UTC" : "local time";
}

export type Bucket = "hour" | "day" | "month";

const HOUR_MS = 3_600_000;

/** Start of the hour, day or month that contains `at` in the selected time zone, shifted by `steps`. */
export function startOf(bucket: Bucket, at: number, clock: Clock, steps = 0): number {
  const [year, month, day] = partsOf(at, clock);
  if (bucket === "month") return momentOf([year, month + steps, 1], clock);
  if (bucket === "day") return momentOf([year, month, day + steps], clock);
  // Adds fixed hours: correct for half-hour zones and when clocks change.
  const shift = clock === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return Math.floor((at - shift) / HOUR_MS) * HOUR_MS + shift + steps * HOUR_MS;
}

/** Start of the calendar quarter that contains `at`, shifted by `steps` quarters. */
export function startOfQuarter(at: number, clock: Clock, steps = 0): number {
  const [year, month] = partsOf(at, clock);
  return momentOf([year, month - (month % 3) + 3 * steps, 1], clock);
}

/** IANA name of the time zone. */
export function zoneOf(clock: Clock): string {
  if (clock === "utc") return "UTC";
  const timeZone = readZone();
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

export const BUCKET_NAMES = { hour: "By hour", day: "By day", month: "By month" } as const;

/** "15 Nov 2026, 13:00", "15 Nov 2026", "November 2026". */
export function nameOfBucket(at: string, bucket: Bucket, clock: Clock): string {
  if (bucket === "hour") return formatTime(at, clock);
  return bucket === "day" ? formatDay(at, clock) : monthOf(at, clock, "long");
}

/** Short label for a chart axis: "13:00", "15 Nov", "Nov 2026". */
export function tickOfBucket(at: string, bucket: Bucket, clock: Clock): string {
  if (bucket === "month") return monthOf(at, clock, "short");
  const time = formatTimeOfDay(at, clock);
  // Midnight shows the date.
  return bucket === "hour" && time !== "00:00" ? time : formatDay(at, clock).replace(/ \d{4}$/, "");
}

function monthOf(at: string, clock: Clock, month: "long" | "short"): string {
  return format(at, clock, { month, year: "numeric" });
}
