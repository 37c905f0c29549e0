import { expect, test } from "vitest";
import { sentencesOfChange } from "../src/features/catalog/catalog-content.ts";
import { diffTerms, type Names, sentencesOf } from "../src/features/plans/plan-terms.ts";
import { toTerms, toValues } from "../src/features/plans/plan-values.ts";
import { describeOpening, describeResult } from "../src/format/holds.ts";
import {
  describeEntryOverage,
  describeOverage,
  describeOverageLeft,
  describeReversedOverage,
  formatCharge,
  formatReturn,
  overageIn,
} from "../src/format/overage.ts";
import { describeKey, overageCharged } from "../src/format/request-sentences.ts";
import { type Allowance, formatAllowance } from "../src/format/terms.ts";

const MONTHLY = { pool: "credits", credits: 100, period: "month", rollover: 0, overage: 0 } as const;

const NAMES: Names = { feature: (key) => ({ name: key, unit: null }), pool: () => null };

test("an allowance is described with its overage", () => {
  const described = (terms: Partial<Allowance>) => formatAllowance({ ...MONTHLY, ...terms });
  expect(described({})).toBe("100 credits a month");
  expect(described({ overage: 1_500 })).toBe("100 credits a month, then up to 1,500 credits of overage");
  expect(described({ overage: null, rollover: 1 })).toBe(
    "100 credits a month (unused credits roll over for 1 month), then unlimited overage",
  );
  expect(formatAllowance({ ...MONTHLY, overage: 1 }, "Video")).toBe(
    "100 credits a month in Video, then up to 1 credit of overage",
  );
});

test("a change to a plan's overage is described in a separate sentence", () => {
  const changes = (before: Partial<Allowance>, after: Partial<Allowance>, names = NAMES) => {
    const terms = (changed: Partial<Allowance>) => ({
      allowances: [{ ...MONTHLY, ...changed }],
      features: [],
    });
    return sentencesOf(diffTerms(terms(before), terms(after)), names).map(({ text }) => text);
  };
  expect(changes({}, { overage: 500 })).toEqual(["Overage: none → up to 500 credits a month."]);
  expect(changes({ overage: 500 }, { overage: null })).toEqual([
    "Overage: up to 500 credits a month → unlimited.",
  ]);
  expect(changes({ overage: 5 }, { credits: 200, overage: 5 })).toEqual([
    "Credits: 100 credits a month → 200 credits a month.",
  ]);
  const named = { ...NAMES, pool: () => "Video" };
  expect(changes({ overage: null }, { period: "once", overage: 9 }, named)).toEqual([
    "Credits in Video: 100 credits a month → 100 one-time credits.",
    "Overage in Video: unlimited → up to 9 credits in total.",
  ]);
});

test("the preview of a catalog import shows each plan's overage", () => {
  const plan = (overage: number | null) => ({
    name: "Pro",
    archived: false,
    allowances: [{ ...MONTHLY, overage }],
    features: [],
  });
  const sentences = (before: ReturnType<typeof plan> | null) =>
    sentencesOfChange(
      { noun: "plan", key: "pro", change: "change", before, after: plan(null) },
      NAMES,
      (key) => key,
    ).map(({ text }) => text);
  expect(sentences(null)).toEqual(["Includes 100 credits a month, then unlimited overage."]);
  expect(sentences(plan(20))).toEqual(["Overage: up to 20 credits a month → unlimited."]);
});

test.each([0, 500, null])("the plan editor keeps an overage of %s", (overage) => {
  const terms = { name: "Pro", allowances: [{ ...MONTHLY, overage }], features: [] };
  expect(toTerms(toValues(terms, { features: [], pools: [] }))).toEqual(terms);
});

test("a customer's overage is described separately from credits", () => {
  const limited = { credits: 1_500, used: 120, held: 0, remaining: 1_380 };
  expect(describeOverage(limited)).toBe("Limit in this period: 1,500. 1,380 left.");
  expect(describeOverageLeft(limited)).toBe("Then up to 1,380 credits of overage.");
  const unlimited = { credits: null, used: 120, held: 20, remaining: null };
  expect(describeOverage(unlimited)).toBe("In this period. No limit, 20 held.");
  expect(describeOverageLeft(unlimited)).toBe("Then unlimited overage.");
  expect(describeOverageLeft({ ...limited, remaining: 0 })).toBe(
    "No overage is left once these credits are spent.",
  );
});

test("descriptions of charges and reversals include the overage", () => {
  expect([
    formatCharge({ credits: 10, overage: 0 }),
    formatCharge({ credits: 1, overage: 2_000 }),
    formatCharge({ credits: 0, overage: 1 }),
    formatReturn({ credits: 10, overage: 0 }),
    formatReturn({ credits: 0, overage: 20 }),
  ]).toEqual([
    "10 credits",
    "1 credit and 2,000 credits of overage",
    "1 credit of overage",
    "10 credits returned",
    "0 credits returned, 20 credits of overage reversed",
  ]);
  const entry = { kind: "consume", overage: 20, reversedQuantity: 0 };
  expect(describeEntryOverage(entry)).toBe("20 credits, to be invoiced");
  expect(describeEntryOverage({ ...entry, reversedQuantity: 1 })).toBe("20 credits before the reversal");
  expect(describeEntryOverage({ ...entry, kind: "reverse", reversedQuantity: null })).toBe(
    "20 credits reversed",
  );
  expect(describeReversedOverage(0)).toBeNull();
  expect(describeReversedOverage(20)).toMatch(/^20 credits of overage will be reversed\./);
});

test("the description of an idempotency key includes the overage of its charges", () => {
  const charge = { feature: "image.render", quantity: 3, credits: 10, overageCredits: 20 };
  const covered = { ...charge, overageCredits: 0 };
  const story = {
    endpoint: "consume",
    customerId: "ada",
    charge,
    charges: [charge],
    denial: null,
    hold: null,
    event: null,
  };
  const NAMES = { feature: (): string => "Image", event: (key: string): string => key };
  expect(describeKey(story, NAMES)).toBe("Charged ada 10 credits and 20 credits of overage for 3 × Image.");
  expect(describeKey({ ...story, charges: [covered] }, NAMES)).toBe("Charged ada 10 credits for 3 × Image.");
  expect(describeKey({ ...story, charges: [charge, covered, charge] }, NAMES)).toBe(
    "Charged ada 30 credits and 40 credits of overage for 3 items.",
  );
  const reversed = { feature: "image.render", quantity: 2, creditsReturned: 0, overageCredits: 20 };
  expect(describeKey({ ...story, endpoint: "consume/reverse", answer: { items: [reversed] } }, NAMES)).toBe(
    "Reversed 2 × Image, returned 0 credits to ada and reversed 20 credits of overage.",
  );
});

test("the description of a hold includes its overage", () => {
  const hold = {
    status: "settled",
    late: false,
    creditsHeld: 20,
    creditsCharged: 20,
    creditsReleased: 0,
    overageCredits: 3,
    creditsUncovered: 0,
    items: [{ feature: "chat.tokens", quantity: 2_500, overageCredits: 5 }],
  } as const;
  expect(describeOpening(hold, "ada")).toBe(
    "Set aside 20 credits and 5 credits of overage for ada (2,500 × chat.tokens).",
  );
  expect(describeResult(hold)).toBe("Settled: 20 credits and 3 credits of overage charged.");
  expect(describeResult({ ...hold, status: "charged", creditsCharged: 0 })).toBe(
    "Expired without being settled: 3 credits of overage charged.",
  );
});

test("the overage total of test requests excludes replays", () => {
  const answer = { count: 1, status: 200, isReplay: false, body: { overageCredits: 20 } };
  expect(overageCharged([answer, { ...answer, count: 31, isReplay: true }])).toBe(20);
  expect([overageIn(null), overageIn({ items: "none" }), overageIn({ overageCredits: null })]).toEqual([
    0, 0, 0,
  ]);
});
