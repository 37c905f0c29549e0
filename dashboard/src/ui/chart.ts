import { formatCount } from "../format/numbers.ts";

// What all charts have in common: a line below, numbers at the left, nothing that moves.

export const GRID = { vertical: false, stroke: "var(--line)" } as const;

const TICK = { tickLine: false, tick: { fill: "var(--muted)" } } as const;

export const X_AXIS = { ...TICK, axisLine: { stroke: "var(--line)" }, minTickGap: 24 } as const;

export const Y_AXIS = {
  ...TICK,
  axisLine: false,
  width: "auto",
  allowDecimals: false,
  tickFormatter: formatCount,
} as const;
