/** A whole number from `min` up to, and not including, `max`. */
export function integerBetween(min: number, max: number): number {
  return min + Math.floor(Math.random() * (max - min));
}

export function pickFrom<T>(list: readonly T[]): T | null {
  return list[integerBetween(0, list.length)] ?? null;
}
