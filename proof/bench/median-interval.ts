import { median } from "../harness/figures.ts";

export type MedianInterval = {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
  /** Probability that the interval contains the true median: at least 0.95. */
  readonly coverage: number;
};

const COVERAGE_MIN = 0.95;
/** With five values, even the whole range contains the median in only 94% of cases. */
export const VALUES_MIN = 6;

/**
 * The exact confidence interval of a median by order statistics. The number of values below the true median is binomial with
 * p = 1/2 for any distribution, so no assumption of normality and no resampling is needed. For 12 sorted values, the interval
 * is from the 3rd to the 10th (96.1%).
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const { rank, coverage } = rankOf(values.length);
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: median(values),
    lower: sorted[rank - 1] ?? Number.NaN,
    upper: sorted[values.length - rank] ?? Number.NaN,
    coverage,
  };
}

/** Returns the largest rank, counted from both ends, for which the interval has the required coverage. */
function rankOf(count: number): { readonly rank: number; readonly coverage: number } {
  if (count < VALUES_MIN) throw new Error(`a 95% interval of a median needs ${VALUES_MIN} values or more`);
  let probability = 0.5 ** count;
  let tail = 0;
  for (let below = 0; ; below++) {
    const next = tail + probability;
    if (1 - 2 * next < COVERAGE_MIN) return { rank: below, coverage: 1 - 2 * tail };
    tail = next;
    probability *= (count - below) / (below + 1);
  }
}

/** Minimum ratio of new to old throughput, for a change that should cost nothing. */
export const RATIO_MIN = 0.97;

export type Verdict = "not slower" | "slower" | "cannot tell";

/** Bounds of the ratio of throughputs: "not slower" from `min` on. An interval below `slowerBelow` proves the opposite. */
export type RatioBound = { readonly min: number; readonly slowerBelow: number };

export const NO_COST: RatioBound = { min: RATIO_MIN, slowerBelow: 1 };

/** `ratio` is new throughput divided by old. */
export function judgeRatio(
  { lower, upper }: Pick<MedianInterval, "lower" | "upper">,
  { min, slowerBelow }: RatioBound = NO_COST,
): Verdict {
  if (lower >= min) return "not slower";
  return upper < slowerBelow ? "slower" : "cannot tell";
}

/** The change is slower if any part is slower. */
export function worstVerdict(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find((verdict) => verdict === "slower") ??
    verdicts.find((verdict) => verdict === "cannot tell") ??
    "not slower"
  );
}
