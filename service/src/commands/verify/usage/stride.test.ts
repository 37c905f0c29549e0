import { expect, test } from "vitest";
import type { SomeCustomers } from "../../../store/cell/usage/time-slice.ts";
import { Crowd, stride } from "./stride.ts";

const width = { first: 4, least: 2, most: 1_024 };
const TOO_LONG = new Error("Query read timeout");

test("steps cover every number once and in order, and are narrower where there are more rows", async () => {
  const steps: [number, number][] = [];
  await stride({ from: 10, to: 9_999, width }, async (from, to) => {
    // Each number from 3,000 has 1,000 rows. A statement can read at most 40,000 rows.
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

test("a timeout in the narrowest step is an error, and the step is never skipped", async () => {
  const walk = stride({ from: 0, to: 100, width }, async (from) => {
    if (from >= 50) throw TOO_LONG;
    return 0;
  });
  await expect(walk).rejects.toThrow("timeout");
});

/** Simulates a bucket with `rows` rows. A statement can read 100,000 of them. */
async function walk(crowd: Crowd, rows: number): Promise<SomeCustomers[]> {
  const done: SomeCustomers[] = [];
  const walked = await crowd.walk(async (some) => {
    // The second half has nearly all rows.
    const share = (some.slice < some.slices / 2 && some.slices > 1 ? 0.2 : 1.8) / some.slices;
    const mine = some.slices === 1 ? rows : rows * share;
    if (mine > 100_000) throw TOO_LONG;
    done.push(some);
    return mine;
  });
  expect(walked).toBeCloseTo(rows);
  return done;
}

function expectWhole(done: readonly SomeCustomers[]): void {
  let end = 0;
  for (const { slices, slice } of done) {
    expect(slice / slices).toBe(end);
    end = (slice + 1) / slices;
  }
  expect(end).toBe(1);
}

test("all customers are read at once, and after a timeout each slice is read once and in order", async () => {
  const crowd = new Crowd();
  expect(await walk(crowd, 90_000)).toEqual([{ slices: 1, slice: 0 }]);
  const many = await walk(crowd, 400_000);
  expectWhole(many);
  expect(many.at(0)?.slices).toBe(2);
  expect(many.at(-1)?.slices).toBe(8);
});

test("a bucket starts with as many slices as the previous one ended with; small buckets reduce the number", async () => {
  const crowd = new Crowd();
  await walk(crowd, 400_000);
  expect(await walk(crowd, 400_000)).toHaveLength(8);
  const counts: number[] = [];
  for (let i = 0; i < 4; i++) {
    const done = await walk(crowd, 1_000);
    expectWhole(done);
    counts.push(done.length);
  }
  expect(counts).toEqual([8, 4, 2, 1]);
});

test("a timeout in the smallest slice is an error, and a null result stops the reads", async () => {
  const tooLong = new Crowd().walk(async ({ slices, slice }) => {
    if (slices === 1 || slice > 0) throw TOO_LONG;
    return slice;
  });
  await expect(tooLong).rejects.toThrow("timeout");
  const seen: SomeCustomers[] = [];
  const ended = await new Crowd().walk(async (some) => {
    seen.push(some);
    if (some.slices < 4) throw TOO_LONG;
    return some.slice === 1 ? null : 0;
  });
  expect(ended).toBe(null);
  expect(seen.at(-1)).toEqual({ slices: 4, slice: 1 });
});
