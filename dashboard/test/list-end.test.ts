import { expect, test } from "vitest";
import { listEnd } from "../src/format/numbers.ts";

test.each([
  [0, false, "None"],
  [0, true, "None so far"],
  [1, false, "The only one"],
  [1, true, "The first one"],
  [2, false, "All 2 grants"],
  [1_200, true, "The first 1,200 grants"],
])("the end of a list of %i, more of it: %s", (shown, hasMore, words) => {
  expect(listEnd({ shown, what: "grants", hasMore })).toBe(words);
});
