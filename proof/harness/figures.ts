export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** `12,345/s` */
export function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString("en")}/s`;
}

export function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

/** `12,345` */
export function count(value: number): string {
  return value.toLocaleString("en");
}

/** The smallest value that so large a share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(expected)} expected, ${String(found)} found`);
}
