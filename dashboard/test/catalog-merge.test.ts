import { expect, test } from "vitest";
import { mergeTerms, toTerms, toValues } from "../src/features/plans/plan-values.ts";

const credits = (count: number) => ({
  pool: "credits",
  credits: count,
  period: "month" as const,
  rollover: 0,
});
const feature = (key: string, quantity: number | null = null) => ({
  feature: key,
  limit: quantity === null ? null : { quantity, period: "day" as const },
});
const base = {
  name: "Pro",
  allowances: [credits(100)],
  features: [feature("a"), feature("b"), feature("c", 5)],
};

test("of two people's edits each keeps what they changed, and nothing else of theirs overrules", () => {
  const mine = { ...base, name: "Mine", features: [feature("a", 1), feature("c", 5), feature("d")] };
  const theirs = {
    ...base,
    allowances: [credits(200)],
    features: [feature("b"), feature("c", 9), feature("e")],
  };
  expect(mergeTerms(base, mine, theirs)).toEqual({
    name: "Mine",
    allowances: [credits(200)],
    // a: limited by me, taken out by them; b: taken out by me; c: theirs; d: mine; e: theirs.
    features: [feature("c", 9), feature("e"), feature("a", 1), feature("d")],
  });
});

test("where nobody changed anything, nothing changes", () => {
  expect(mergeTerms(base, base, base)).toEqual(base);
});

test("what was put in by somebody else a moment ago is not taken out by saving, though its names are not here yet", () => {
  const theirs = { ...base, allowances: [credits(100), { ...credits(5), pool: "video" }] };
  const known = { features: [], pools: [] };
  expect(toTerms(toValues(theirs, known))).toEqual(theirs);
});
