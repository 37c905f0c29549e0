import { type Clock, formatAgo, formatDay, formatSecond, formatTime } from "../format/times.ts";
import { useClock } from "./preferences.ts";

const FORMATS = {
  time: formatTime,
  day: formatDay,
  second: formatSecond,
  exact: (at: string, clock: Clock) => formatTime(at, clock, true),
} as const;

/** A moment, by the chosen clock; to the millisecond when you point at it. */
export function Time({ at, as = "time" }: { at: string; as?: "ago" | keyof typeof FORMATS }) {
  const clock = useClock();
  const text = as === "ago" ? formatAgo(at, Date.now()) : FORMATS[as](at, clock);
  return (
    <time
      dateTime={at}
      title={formatTime(at, clock, true)}
      className={as === "exact" ? "tabular-nums" : "whitespace-nowrap tabular-nums"}
    >
      {text}
    </time>
  );
}
