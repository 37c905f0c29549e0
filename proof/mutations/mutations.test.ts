import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MUTATIONS } from "./mutations.ts";

test("every mutation finds the text that it replaces exactly once", () => {
  const missing = MUTATIONS.flatMap(({ name, file, edits }) => {
    const text = readFileSync(file, "utf8");
    return edits.flatMap(({ find }) => (text.split(find).length === 2 ? [] : [`${name}: ${find}`]));
  });
  expect(missing).toEqual([]);
});
