import type { Bucket } from "./calendar.ts";
import { type Clock, formatDay, formatTime, formatTimeOfDay } from "./times.ts";

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
