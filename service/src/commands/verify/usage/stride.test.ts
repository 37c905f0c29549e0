import { expect, test } from "vitest";
import { stride } from "./stride.ts";

const width = { first: 4, least: 2, most: 1_024 };
const TOO_LONG = new Error("Query read timeout");

test("every number is taken once and in order, in narrower steps where there is more", async () => {
  const steps: [number, number][] = [];
  await stride({ from: 10, to: 9_999, width }, async (from, to) => {
    // 1,000 rows to a number from 3,000 on, of which 40,000 are too many for a statement.
    const rows = Math.max(0, to - Math.max(from, 3_000)) * 1_000;
    if (rows > 40_000) throw TOO_LONG;
    steps.push([from, to]);
    return rows;
  });
  expect(steps.map(([from]) => from)).toEqual([10, ...steps.slice(0, -1).map(([, to]) => to)]);
  expect(steps.at(-1)?.[1]).toBe(9_999);
  const widths = steps.map(([from, to]) => to - from);
  expect(Math.max(...widths)).toBe(1_024);
  expect(Math.max(...steps.filter(([from]) => from > 3_100).map(([from, to]) => to - from))).toBeLessThan(41);
});

test("what is too long in the narrowest step fails, and is never passed by", async () => {
  const walk = stride({ from: 0, to: 100, width }, async (from) => {
    if (from >= 50) throw TOO_LONG;
    return 0;
  });
  await expect(walk).rejects.toThrow("timeout");
});
