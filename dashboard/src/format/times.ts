/** Whose clock times are shown by. */
export type Clock = "utc" | "local";

const SHAPE: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
};

export function formatTime(iso: string, clock: Clock, isExact = false): string {
  return new Intl.DateTimeFormat("en-GB", {
    ...SHAPE,
    ...(isExact ? { second: "2-digit", fractionalSecondDigits: 3, timeZoneName: "short" } : {}),
    ...(clock === "utc" ? { timeZone: "UTC" } : {}),
  }).format(new Date(iso));
}

export function formatDay(iso: string, clock: Clock): string {
  return new Intl.DateTimeFormat("en-GB", {
    year: "numeric",
    month: "short",
    day: "numeric",
    ...(clock === "utc" ? { timeZone: "UTC" } : {}),
  }).format(new Date(iso));
}

/** For what comes by the second: "15 Nov, 10:06:41". */
export function formatSecond(iso: string, clock: Clock): string {
  return new Intl.DateTimeFormat("en-GB", {
    ...SHAPE,
    year: undefined,
    second: "2-digit",
    ...(clock === "utc" ? { timeZone: "UTC" } : {}),
  }).format(new Date(iso));
}

/** "10:02". */
export function formatTimeOfDay(iso: string, clock: Clock): string {
  return new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(clock === "utc" ? { timeZone: "UTC" } : {}),
  }).format(new Date(iso));
}

const STEPS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** "3 minutes ago", "in 2 days". */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1_000);
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(seconds, "second");
}

// What a box of the kind `datetime-local` holds has no zone of its own: it is read by the clock that times are shown by.

/** As the API takes it; null while it is no moment. */
export function readMoment(text: string, clock: Clock): string | null {
  const at = Date.parse(clock === "utc" ? `${text}Z` : text);
  return text === "" || Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** What stands in such a box for a moment. */
export function momentText(at: number, clock: Clock): string {
  const shift = clock === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shift).toISOString().slice(0, 16);
}

export function nameOfClock(clock: Clock): string {
  return clock === "utc" ? "UTC" : "this machine's time";
}
