import { expect, test } from "vitest";
import { type BalancePoint, stepsOf } from "../src/features/customers/balance-history.ts";
import { evenTicks } from "../src/ui/chart.ts";

test.each([
  [0, [0, 1]],
  [3, [0, 1, 2, 3]],
  [120, [0, 50, 100, 150]],
  [1374, [0, 500, 1000, 1500]],
  [40_000, [0, 10_000, 20_000, 30_000, 40_000]],
])("the axis for values up to %i has evenly spaced ticks", (highest, ticks) => {
  expect(evenTicks(highest)).toEqual(ticks);
});

function change(at: number, amount: number, balance: number): BalancePoint {
  return { at, balance, entry: { what: "Change", amount, sequence: at }, isTopUp: false };
}

const edge = (at: number, balance: number): BalancePoint => ({ at, balance, entry: null, isTopUp: false });

test("the balance chart shows a renewal as one step, without a dip to zero", () => {
  const points = [
    edge(0, 0),
    change(0, 100, 100),
    change(50, -40, 60),
    change(80, -60, 0),
    change(80, 100, 100),
    edge(100, 100),
  ];
  const steps = stepsOf(points);
  expect(steps.map(({ at, balance }) => [at, balance])).toEqual([
    [-4, 0],
    [0, 100],
    [50, 60],
    [80, 100],
    [100, 100],
  ]);
  expect(steps[3]?.entry).toMatchObject({ what: "2 changes", amount: 40 });
});

test("the balance chart for a new pool starts at zero, shortly before the first credits", () => {
  const now = edge(1_000, 200);
  expect(stepsOf([edge(0, 0), change(0, 200, 200), now])).toEqual([edge(-40, 0), change(0, 200, 200), now]);
  expect(stepsOf([])).toEqual([]);
});
