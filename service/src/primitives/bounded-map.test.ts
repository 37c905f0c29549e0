import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("a full map evicts only its oldest entry", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("c", 3);
  expect([map.find("a"), map.find("b"), map.find("c")]).toEqual([undefined, 2, 3]);
});

test("setting an existing key evicts nothing", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 20);
  expect([map.find("a"), map.find("b"), map.size]).toEqual([1, 20, 2]);
});

test("deleting an entry makes room for another", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.delete("b");
  map.set("c", 3);
  expect([map.find("a"), map.find("b"), map.find("c")]).toEqual([1, undefined, 3]);
});

test("the map never exceeds its bound and keeps the latest entries", () => {
  const sets = fc.array(fc.tuple(fc.nat({ max: 20 }), fc.nat()), { minLength: 1 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), sets, (sizeMax, entries) => {
      const map = new BoundedMap<number, number>(sizeMax);
      for (const [key, value] of entries) {
        map.set(key, value);
        expect(map.find(key)).toBe(value);
        expect(map.size).toBeLessThanOrEqual(sizeMax);
      }
    }),
  );
});
