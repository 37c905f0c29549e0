import { expect, test } from "vitest";
import type { SomeCustomers } from "../../../store/cell/usage/time-slice.ts";
import { Crowd } from "./crowd.ts";

const TOO_LONG = new Error("Query read timeout");

/** A quarter of an hour with so many rows, of which a statement gets through 100,000. */
async function walk(crowd: Crowd, rows: number): Promise<SomeCustomers[]> {
  const done: SomeCustomers[] = [];
  const walked = await crowd.walk(async (some) => {
    // The second half has nearly all of them.
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

test("all customers at once as long as that works, and else every slice once and in order", async () => {
  const crowd = new Crowd();
  expect(await walk(crowd, 90_000)).toEqual([{ slices: 1, slice: 0 }]);
  const many = await walk(crowd, 400_000);
  expectWhole(many);
  expect(many.at(0)?.slices).toBe(2);
  expect(many.at(-1)?.slices).toBe(8);
});

test("the next quarter begins with as many slices, and after quiet ones with fewer", async () => {
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

test("what is too long in the finest slice fails, and a null ends the walk", async () => {
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
