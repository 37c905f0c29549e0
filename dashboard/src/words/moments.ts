import type { Clock } from "./times.ts";

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
