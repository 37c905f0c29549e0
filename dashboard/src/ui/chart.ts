import { formatCount } from "../format/numbers.ts";

// Settings shared by all charts.

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
