import { expect, test } from "vitest";
import { BytesCache } from "./bytes-cache.ts";

test("the cache keeps the most recently used entries that fit within its byte limit", () => {
  const cache = new BytesCache<string, number>(100);
  cache.set("a", 1, 40);
  cache.set("b", 2, 40);
  expect(cache.find("a")).toBe(1);
  cache.set("c", 3, 40);
  expect([cache.find("a"), cache.find("b"), cache.find("c"), cache.bytes]).toEqual([1, undefined, 3, 80]);
  cache.set("a", 4, 10);
  expect([cache.find("a"), cache.bytes]).toEqual([4, 50]);
});

test("an entry larger than the limit is kept, and all other entries are evicted", () => {
  const cache = new BytesCache<string, number>(100);
  cache.set("a", 1, 40);
  cache.set("large", 2, 1_000);
  expect([cache.find("a"), cache.find("large"), cache.bytes]).toEqual([undefined, 2, 1_000]);
  cache.set("b", 3, 40);
  expect([cache.find("large"), cache.find("b"), cache.bytes]).toEqual([undefined, 3, 40]);
});
