/** A random whole number from `min`, inclusive, to `max`, exclusive. */
export function integerBetween(min: number, max: number): number {
  return min + Math.floor(Math.random() * (max - min));
}

export function pickFrom<T>(list: readonly T[]): T | null {
  return list[integerBetween(0, list.length)] ?? null;
}

/** Returns a generator of numbers from 0, inclusive, to 1, exclusive. The numbers depend only on the seed (Mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
