import { assert } from "../../primitives/assert.ts";

/** Random numbers from a fixed seed, so that every demo is the same. */
export type Chance = {
  /** From 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** An integer from `min` to `max`, both inclusive. */
  between(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  /** `length` random characters of the alphabet. */
  word(alphabet: string, length: number): string;
};

/** Implements the Mulberry32 generator. */
export function openChance(seed: number): Chance {
  let state = Math.imul(seed, 0x9e3779b1);
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(fraction() * (max - min + 1));
  return {
    fraction,
    between,
    pick: (list) => {
      const picked = list[between(0, list.length - 1)];
      assert(picked !== undefined, "the list is not empty");
      return picked;
    },
    word: (alphabet, length) =>
      Array.from({ length }, () => alphabet[between(0, alphabet.length - 1)]).join(""),
  };
}
