export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** Returns a percentile: the smallest value that is at least as large as this share of all values. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

/** Rounds to two decimals. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** `12,345/s` */
export function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString("en")}/s`;
}

/** `1.5 ms` */
export function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

/** `12 MB` */
export function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}

/** `12,345` */
export function count(value: number): string {
  return value.toLocaleString("en");
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: expected ${String(expected)}, found ${String(found)}`);
}

/** A figure and its upper bound, with the format in which both are printed. */
export type Bound = readonly [what: string, value: number, max: number, format: (value: number) => string];

/** Returns a fault for each figure that exceeds its bound. */
export function findExceeded(bounds: readonly Bound[]): string[] {
  return bounds
    .filter(([, value, max]) => !(value <= max))
    .map(([what, value, max, format]) => `${what}: ${format(value)}, more than ${format(max)}`);
}
