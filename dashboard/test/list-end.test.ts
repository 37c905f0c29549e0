import { expect, test } from "vitest";
import { listEnd } from "../src/format/numbers.ts";

test.each([
  [0, false, "None"],
  [0, true, "None so far"],
  [1, false, "1 result"],
  [1, true, "First result"],
  [2, false, "All 2 grants"],
  [1_200, true, "First 1,200 grants"],
])("the footer of a list with %i rows shown (more to load: %s)", (shown, hasMore, text) => {
  expect(listEnd({ shown, what: "grants", hasMore })).toBe(text);
});
