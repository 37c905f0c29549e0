import { expect, test } from "vitest";
import { seededRandom } from "../harness/random.ts";
import { judgeRatio, medianInterval, worstVerdict } from "./median-interval.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

// Ranks and coverages from tables of the sign test, for example Conover, Practical Nonparametric Statistics, table A3.
test.each([
  { count: 6, lower: 1, upper: 6, coverage: 0.9688 },
  { count: 9, lower: 2, upper: 8, coverage: 0.9609 },
  { count: 12, lower: 3, upper: 10, coverage: 0.9614 },
  { count: 20, lower: 6, upper: 15, coverage: 0.9586 },
  { count: 100, lower: 40, upper: 61, coverage: 0.9648 },
])(
  "for $count values, the interval runs from rank $lower to rank $upper",
  ({ count, lower, upper, coverage }) => {
    const interval = medianInterval(upTo(count).toReversed());
    expect(interval).toMatchObject({ median: (count + 1) / 2, lower, upper });
    expect(interval.coverage).toBeCloseTo(coverage, 4);
  },
);

test("five values are too few for a 95% interval", () => {
  expect(() => medianInterval(upTo(5))).toThrow("6 values or more");
});

test("the interval contains the true median of a skewed distribution in at least 95% of samples", () => {
  const random = seededRandom(7);
  const trials = 20_000;
  let hits = 0;
  for (let trial = 0; trial < trials; trial++) {
    const values = Array.from({ length: 12 }, () => -Math.log(1 - random()));
    const { lower, upper } = medianInterval(values);
    if (lower <= Math.LN2 && Math.LN2 <= upper) hits += 1;
  }
  expect(hits / trials).toBeGreaterThan(0.955);
  expect(hits / trials).toBeLessThan(0.968);
});

test.each([
  { lower: 0.97, upper: 1.02, verdict: "not slower" },
  { lower: 0.98, upper: 0.99, verdict: "not slower" },
  { lower: 0.9699, upper: 1.02, verdict: "cannot tell" },
  { lower: 0.5, upper: 1, verdict: "cannot tell" },
  { lower: 0.95, upper: 0.985, verdict: "slower" },
  { lower: 0.8, upper: 0.9, verdict: "slower" },
])("the verdict for the interval from $lower to $upper is $verdict", ({ lower, upper, verdict }) => {
  expect(judgeRatio({ lower, upper })).toBe(verdict);
});

test.each([
  { lower: 0.95, upper: 1.02, verdict: "not slower" },
  { lower: 0.94, upper: 0.96, verdict: "cannot tell" },
  { lower: 0.9, upper: 0.949, verdict: "slower" },
])(
  "with an allowed cost of 5%, the verdict from $lower to $upper is $verdict",
  ({ lower, upper, verdict }) => {
    expect(judgeRatio({ lower, upper }, { min: 0.95, slowerBelow: 0.95 })).toBe(verdict);
  },
);

test("the worst part determines the overall verdict", () => {
  expect(worstVerdict(["not slower", "cannot tell", "slower"])).toBe("slower");
  expect(worstVerdict(["not slower", "cannot tell"])).toBe("cannot tell");
  expect(worstVerdict(["not slower"])).toBe("not slower");
});
