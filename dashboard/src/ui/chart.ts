import { formatCount } from "../format/numbers.ts";

// Settings shared by all charts.

export const GRID = { vertical: false, stroke: "var(--line)" } as const;

const TICK = { tickLine: false, tick: { fill: "var(--muted)" } } as const;

export const X_AXIS = { ...TICK, axisLine: { stroke: "var(--line)" }, minTickGap: 24 } as const;

const STEPS = [1, 2, 5, 10];
const STEPS_MAX = 4;

/** Ticks from 0 to at least `highest`, in equal whole steps. */
export function evenTicks(highest: number): number[] {
  const least = Math.max(1, highest) / STEPS_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, (STEPS.find((each) => each * power >= least) ?? 10) * power);
  return Array.from({ length: Math.ceil(Math.max(1, highest) / step) + 1 }, (_, index) => index * step);
}

export const Y_AXIS = {
  ...TICK,
  axisLine: false,
  width: "auto",
  allowDecimals: false,
  tickFormatter: formatCount,
} as const;
