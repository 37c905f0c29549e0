import fc from "fast-check";

/** A time relative to the clock, to the history's start or to 1970; or none. */
export type Moment = { kind: "none" } | { kind: "from_now" | "from_start" | "at"; ms: number };

export type PeriodEnd = { kind: "period_end" };

const DAY = 86_400_000;

/** Whole days from the start, so that equal expiries are likely and grants merge. */
export const expiries: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(100, 31, 300).map((days): Moment => ({ kind: "from_start", ms: days * DAY })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, DAY, 0, -1).map((ms): Moment => ({ kind: "from_now", ms })),
  },
);
export const anchors: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        Date.UTC(2026, 0, 31),
        Date.UTC(2025, 11, 31, 1),
        Date.UTC(2027, 7, 31),
        Date.UTC(2028, 1, 29),
      )
      .map((ms): Moment => ({ kind: "at", ms })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(-400, -10, -1, 1, 40)
      .map((days): Moment => ({ kind: "from_now", ms: days * DAY })),
  },
);
/** Often now, otherwise close to the times at which plans end and periods begin. */
export const planStarts: fc.Arbitrary<Moment | PeriodEnd> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  { weight: 2, arbitrary: fc.constant<PeriodEnd>({ kind: "period_end" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(1, DAY, 7 * DAY, 40 * DAY, 0, -DAY)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);
export const ends: fc.Arbitrary<Moment | PeriodEnd | { kind: "not_said" }> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "not_said" as const }) },
  { weight: 1, arbitrary: fc.constant<PeriodEnd>({ kind: "period_end" }) },
  { weight: 1, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(-1, 0, 1, DAY, 7 * DAY, 40 * DAY)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

export const overridesEnds: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(1, DAY, 7 * DAY, 40 * DAY, 0, -1)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

export const holdEnds: fc.Arbitrary<Moment | { kind: "in"; ms: number }> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(60_000, DAY, 6 * DAY, 8 * DAY).map((ms) => ({ kind: "in" as const, ms })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(-DAY, 1, DAY, 7 * DAY).map((ms): Moment => ({ kind: "from_now", ms })),
  },
);

/** Times within the allowed range, at its end, beyond it, and in the past. */
export const asOfs: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Moment>({ kind: "none" }) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, -1, -DAY, -40 * DAY, 300_000, 300_001)
      .map((ms): Moment => ({ kind: "from_now", ms })),
  },
);
