import { brandAs, type Instant } from "./brand.ts";

type ParsedTimestamp = { kind: "instant"; at: Instant } | { kind: "no_offset" } | { kind: "not_a_timestamp" };

/** The first and the last millisecond of the years 1000 to 9999. */
const TIME_MIN = -30_610_224_000_000;
export const TIME_MAX = 253_402_300_799_999;

const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?$/;

/** RFC 3339 with up to 9 decimals, truncated to milliseconds. The offset is required. */
export function parseTimestamp(text: string): ParsedTimestamp {
  const match = FORM.exec(text);
  if (match === null) return { kind: "not_a_timestamp" };
  const [, year, month, day, hour, minute, second, decimals, offset] = match;
  if (offset === undefined) return { kind: "no_offset" };
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  // Date.UTC turns 31 February into March, so a date exists only if it survives the round trip.
  if (Number(year) < 1000 || new Date(local).toISOString().slice(0, 19) !== text.slice(0, 19).toUpperCase()) {
    return { kind: "not_a_timestamp" };
  }
  const offsetMinutes = parseOffsetMinutes(offset);
  if (offsetMinutes === null) return { kind: "not_a_timestamp" };
  const milliseconds = Number((decimals ?? "").padEnd(3, "0").slice(0, 3));
  const at = local + milliseconds - offsetMinutes * 60_000;
  // An offset can move a time outside of four-digit years, which cannot be formatted.
  if (at < TIME_MIN || at > TIME_MAX) return { kind: "not_a_timestamp" };
  return { kind: "instant", at: brandAs<Instant>(at) };
}

const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
/** The day of the last formatted time. Nearly all times are today or on a few days on which plans renew. */
let lastDay = { start: 0, text: "1970-01-01" };

/** Returns the same text as `toISOString`, in a fifth of the time. Every response has a time. */
export function formatTimestamp(at: Instant): string {
  let ms = at - lastDay.start;
  if (!(ms >= 0 && ms < DAY_MS)) {
    const start = Math.floor(at / DAY_MS) * DAY_MS;
    lastDay = { start, text: new Date(at).toISOString().slice(0, -14) };
    ms = at - start;
  }
  const hour = TWO_DIGITS[Math.floor(ms / 3_600_000)];
  const minute = TWO_DIGITS[Math.floor(ms / 60_000) % 60];
  const second = TWO_DIGITS[Math.floor(ms / 1_000) % 60];
  return `${lastDay.text}T${hour}:${minute}:${second}.${String(Math.floor(ms % 1_000)).padStart(3, "0")}Z`;
}

function parseOffsetMinutes(offset: string): number | null {
  if (offset === "Z" || offset === "z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
