import type { Clock } from "../../words/times.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const STEPS_MINUTES = [1, 5, 15, 60, 180, 360, 1_440, 2_880, 10_080, 20_160, 40_320, 120_960, 362_880];
const TICKS_MAX = 7;

/** Where a line over time is marked: at round times of the chosen clock, a handful of them. */
export function timeTicks({ from, to, clock }: { from: number; to: number; clock: Clock }): number[] {
  const shift = clock === "utc" ? 0 : new Date(from).getTimezoneOffset() * MINUTE_MS;
  const wanted = STEPS_MINUTES.find((step) => (to - from) / (step * MINUTE_MS) <= TICKS_MAX);
  const step =
    wanted === undefined ? Math.ceil((to - from) / TICKS_MAX / DAY_MS) * DAY_MS : wanted * MINUTE_MS;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}
