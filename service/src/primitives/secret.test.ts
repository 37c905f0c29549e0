import fc from "fast-check";
import { expect, test } from "vitest";
import { isWellFormedApiKey, makeApiKey } from "./secret.ts";

const kinds = fc.constantFrom("test" as const, "live" as const);

test("a new key is unique, well formed, and names its environment", () => {
  for (const kind of ["test", "live"] as const) {
    const keys = Array.from({ length: 1_000 }, () => makeApiKey(kind));
    for (const key of keys) {
      expect(key).toMatch(new RegExp(`^pur_${kind}_[0-9A-Za-z]{38}$`));
      expect(isWellFormedApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test("the checksum detects every change to a single character", () => {
  const digits = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  const typos = fc.oneof({ weight: 9, arbitrary: digits }, fc.string({ minLength: 1, maxLength: 1 }));
  fc.assert(
    fc.property(kinds, fc.nat({ max: 46 }), typos, (kind, at, typo) => {
      const key = makeApiKey(kind);
      fc.pre(key[at] !== typo);
      expect(isWellFormedApiKey(key.slice(0, at) + typo + key.slice(at + 1))).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

test("a key for one environment is not valid as a key for the other", () => {
  const key = makeApiKey("test");
  expect(isWellFormedApiKey(key.replace("pur_test_", "pur_live_"))).toBe(false);
});

test.each([
  ["a truncated key", (key: string) => key.slice(0, -1)],
  ["a key with an extra character", (key: string) => `${key}0`],
  ["a key with a line break", (key: string) => `${key}\n`],
  ["a key with a leading space", (key: string) => ` ${key}`],
  ["a key in capitals", (key: string) => key.toUpperCase()],
  ["a key with two swapped characters", (key: string) => swapFirstTwoThatDiffer(key)],
  ["nothing", () => ""],
])("%s is not well formed", (_, change) => {
  expect(isWellFormedApiKey(change(makeApiKey("live")))).toBe(false);
});

function swapFirstTwoThatDiffer(key: string): string {
  let at = "pur_live_".length;
  while (key[at] === key[at + 1]) at += 1;
  return `${key.slice(0, at)}${key[at + 1]}${key[at]}${key.slice(at + 2)}`;
}
