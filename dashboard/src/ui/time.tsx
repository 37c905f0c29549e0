import { formatAgo, formatDay, formatTime } from "../words/times.ts";
import { useClock } from "./preferences.ts";

/** A moment, by the chosen clock; to the millisecond when you point at it. */
export function Time({ at, as = "time" }: { at: string; as?: "time" | "ago" | "day" }) {
  const clock = useClock();
  const text =
    as === "ago" ? formatAgo(at, Date.now()) : as === "day" ? formatDay(at, clock) : formatTime(at, clock);
  return (
    <time dateTime={at} title={formatTime(at, clock, true)} className="whitespace-nowrap tabular-nums">
      {text}
    </time>
  );
}
