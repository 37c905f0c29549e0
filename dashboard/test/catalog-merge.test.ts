import { expect, test } from "vitest";
import { mergeTerms, toTerms, toValues } from "../src/features/plans/plan-values.ts";

const credits = (count: number) => ({
  pool: "credits",
  credits: count,
  period: "month" as const,
  rollover: 0,
  overage: 0,
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

test("merging concurrent plan edits keeps both authors' changes, and the user's own changes win conflicts", () => {
  const mine = { ...base, name: "Mine", features: [feature("a", 1), feature("c", 5), feature("d")] };
  const theirs = {
    ...base,
    allowances: [credits(200)],
    features: [feature("b"), feature("c", 9), feature("e")],
  };
  expect(mergeTerms(base, mine, theirs)).toEqual({
    name: "Mine",
    allowances: [credits(200)],
    // a: my limit wins over their removal. b: removed by me. c: limit changed by them. d: added by me. e: added by them.
    features: [feature("c", 9), feature("e"), feature("a", 1), feature("d")],
  });
});

test("merging plan terms that nobody edited changes nothing", () => {
  expect(mergeTerms(base, base, base)).toEqual(base);
});

test("saving a plan keeps pools and features that are missing from the loaded lists", () => {
  const theirs = { ...base, allowances: [credits(100), { ...credits(5), pool: "video" }] };
  const known = { features: [], pools: [] };
  expect(toTerms(toValues(theirs, known))).toEqual(theirs);
});
