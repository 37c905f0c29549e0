import { expect, test } from "vitest";
import { compareReuse } from "../src/features/requests/compare-reuse.ts";
import type { KeyHistory } from "../src/features/requests/queries.ts";
import {
  type Denial,
  describeNow,
  describeRequired,
  describeWait,
  type NamedDenial,
  nextStepsOf,
  sumOf,
  whyDenied,
} from "../src/format/denial-sentences.ts";
import { formatOverageLeft } from "../src/format/overage.ts";
import { countUses, describeKey, explainAnswer, summarizeAnswers } from "../src/format/request-sentences.ts";

const POSITION = {
  feature: "image.render",
  creditsRequired: 50,
  balance: 12,
  overage: null,
  shortfall: 38,
  resetsAt: "2026-12-01T00:00:00.000Z",
  limit: null,
};
const LIMIT = { quantity: 5, used: 4, resetsAt: "2026-11-16T00:00:00.000Z" };

const DENIAL: NamedDenial = {
  ...POSITION,
  reason: "insufficient_credits",
  customerId: "ada",
  quantity: 5,
  items: null,
  pool: "credits",
  limitPeriod: "day",
  unit: null,
  plan: { name: "Pro" },
  isOverridden: false,
  now: { ...POSITION, allowed: false, reason: "insufficient_credits" },
};

const format = (at: string): string => at.slice(0, 10);

const NAMES = {
  feature: (key: string): string => (key === "export" ? "HD export" : "Image"),
  event: (key: string): string => `Generated ${key}`,
};
const nameOf = NAMES.feature;

test("a denial for missing credits shows cost, balance, shortfall and renewal", () => {
  expect(whyDenied(DENIAL, format)).toEqual([
    "5 × image.render cost 50 credits. Only 12 credits were left. That is 38 credits short.",
    "Plan credits renew on 2026-12-01.",
  ]);
  const one = { ...DENIAL, quantity: 1, balance: 1, shortfall: 49, pool: "gpu", resetsAt: null };
  expect(whyDenied(one, format)).toEqual([
    "1 × image.render costs 50 credits. Only 1 credit was left in the gpu pool. That is 49 credits short.",
    "The plan does not renew credits in this pool.",
  ]);
  expect(sumOf(DENIAL)).toEqual([
    { name: "Required", value: 50, isResult: false },
    { name: "Available", value: 12, isResult: false },
    { name: "Shortfall", value: 38, isResult: true },
  ]);
});

test("the explanation of a denial takes the remaining overage into account", () => {
  const overage = { credits: 500, remaining: 20 };
  const position = { ...POSITION, overage, shortfall: 18 };
  const now = { ...position, allowed: false, reason: "insufficient_credits" };
  const denial: NamedDenial = { ...DENIAL, ...position, now };
  expect(whyDenied(denial, format)[0]).toBe(
    "5 × image.render cost 50 credits. Only 12 credits and 20 credits of overage were left. That is 18 credits short.",
  );
  expect(sumOf(denial).map(({ name, value }) => [name, value])).toEqual([
    ["Required", 50],
    ["Available", 12],
    ["Overage left", 20],
    ["Shortfall", 18],
  ]);
  expect(describeNow(denial, nameOf)).toEqual([
    "The same request would still be denied. It needs 50 credits. Only 12 credits and 20 credits of overage are left. That is 18 credits short.",
  ]);
  expect(nextStepsOf(denial)[0]).toEqual({ kind: "add-credits", missing: 18 });
  const usedUp = { ...denial, overage: { credits: 500, remaining: 0 }, shortfall: 38 };
  expect(whyDenied(usedUp, format)[0]).toMatch(
    / Only 12 credits and no overage were left\. That is 38 credits short\.$/,
  );
  expect(whyDenied({ ...usedUp, balance: 0, shortfall: 50 }, format)[0]).toMatch(
    / No credits and no overage were left\. That is 50 credits short\.$/,
  );
  expect(whyDenied({ ...denial, balance: 0, shortfall: 30 }, format)[0]).toMatch(
    / Only 20 credits of overage were left\. That is 30 credits short\.$/,
  );
  expect([formatOverageLeft(overage), formatOverageLeft(usedUp.overage)]).toEqual([
    "20 of 500 left",
    "0 of 500 left",
  ]);
  const raised = { ...position, reason: null, allowed: true, overage: { credits: null, remaining: null } };
  expect(describeNow({ ...denial, now: { ...raised, shortfall: null } }, nameOf)[0]).toBe(
    "The same request would be allowed now. It would cost 50 credits, 38 of them overage; the balance is 12.",
  );
  expect(describeNow({ ...denial, now: { ...raised, balance: 0, shortfall: null } }, nameOf)[0]).toMatch(
    / It would cost 50 credits, all of them overage; the balance is 0\.$/,
  );
  const lost = { ...denial, overage: null, shortfall: null };
  expect(whyDenied(lost, format).slice(0, 2)).toEqual([
    "5 × image.render cost 50 credits. Only 12 credits were left.",
    "The overage remaining at the time is no longer on record.",
  ]);
  expect(sumOf(lost).map(({ name }) => name)).toEqual(["Required", "Available"]);
});

const ITEMS = [
  { feature: "export", quantity: 2 },
  { feature: "image.render", quantity: 5 },
];

test("the credits required for a denied item include the cost of earlier items", () => {
  const denial = { ...DENIAL, items: ITEMS };
  expect(whyDenied(denial, format)[0]).toBe(
    "5 × image.render and the earlier items that use the same pool cost 50 credits. Only 12 credits were left. That is 38 credits short.",
  );
  expect(sumOf(denial)[0]).toMatchObject({ name: "Required, including earlier items", value: 50 });
  expect(describeRequired(denial)).toBe("50 credits, including earlier items that use the same pool");
  const first = { ...denial, items: ITEMS.toReversed() };
  expect(whyDenied(first, format)).toEqual(whyDenied(DENIAL, format));
  expect([sumOf(first), describeRequired(first)]).toEqual([sumOf(DENIAL), "50 credits"]);
});

test("the same request can now be denied because of a different item", () => {
  const nowFor = (reason: string | null): Denial => ({
    ...DENIAL,
    items: ITEMS,
    now: { ...POSITION, feature: "export", limit: LIMIT, allowed: reason === null, reason },
  });
  expect(describeNow(nowFor("limit_reached"), nameOf)).toEqual([
    "The same request would now be denied because of another item, HD export. 4 of 5 are used, and the request asks for 2.",
  ]);
  const other = { ...POSITION, feature: "export", limit: LIMIT, reason: "limit_reached" };
  expect(sumOf({ ...DENIAL, items: ITEMS }, other).map(({ value }) => value)).toEqual([5, 4, 2, 1]);
  expect(describeNow(nowFor("customer_blocked"), nameOf)).toEqual([
    "The same request would now be denied for another reason. The customer is blocked.",
  ]);
  expect(describeNow(nowFor(null), nameOf)[0]).toBe("The same request would be allowed now.");
  const unknown = { ...DENIAL, items: ITEMS, now: null };
  expect(describeNow(unknown, nameOf)).toEqual(["A feature in the request no longer exists."]);
  expect(nextStepsOf(unknown)).toEqual([]);
});

test("a denial for a reached limit shows the allowed, used, requested and excess quantities", () => {
  const denial = { ...DENIAL, reason: "limit_reached", quantity: 2, limit: LIMIT };
  expect(whyDenied(denial, format)).toEqual([
    "Pro limits image.render to 5 a day. 4 were used, and the request asked for 2 more.",
    "The limit resets on 2026-11-16.",
  ]);
  expect(sumOf(denial).map(({ value }) => value)).toEqual([5, 4, 2, 1]);
  const [used] = whyDenied({ ...denial, limit: { ...LIMIT, used: 5 } }, format);
  expect(used).toBe("Pro limits image.render to 5 a day. All 5 had already been used.");
  const [one] = whyDenied({ ...denial, limit: { ...LIMIT, quantity: 1, used: 1 } }, format);
  expect(one).toBe("Pro limits image.render to 1 a day. That one had already been used.");
  const counted = { ...denial, unit: "image", limit: { ...LIMIT, used: 5 } };
  expect(whyDenied(counted, format)[0]).toBe(
    "Pro allows at most 5 images a day. All 5 had already been used.",
  );
  expect(whyDenied({ ...counted, limitPeriod: null }, format)[0]).toMatch(
    /^Pro allows at most 5 images per period\./,
  );
});

test.for([
  ["feature_not_in_plan", /^Pro does not include image\.render\./],
  ["customer_blocked", /^The customer was blocked\./],
  ["no_active_plan", /^The customer had no plan\./],
  ["customer_not_found", /^The customer did not exist/],
  ["seat_missing", /^Seat missing\.$/],
] as const)("a denial with reason %s is explained without a calculation", ([reason, text]) => {
  const denial = { ...DENIAL, reason };
  expect(whyDenied(denial, format)).toEqual([expect.stringMatching(text)]);
  expect(sumOf(denial)).toEqual([]);
});

test("a denial under an override names the override instead of the plan", () => {
  const denial = { ...DENIAL, isOverridden: true };
  expect(whyDenied(denial, format)[1]).toBe("An override for this customer sets the cost.");
  const limited = {
    ...denial,
    ...{ reason: "limit_reached", limit: LIMIT, quantity: 2 },
    now: { ...POSITION, allowed: false, reason: "limit_reached" },
  };
  expect(whyDenied(limited, format)[0]).toBe(
    "An override for this customer limits image.render to 5 a day. 4 were used, and the request asked for 2 more.",
  );
  expect(nextStepsOf(limited)).toEqual([{ kind: "edit-overrides" }]);
  expect(nextStepsOf({ ...limited, reason: "insufficient_credits" })[0]).toEqual({ kind: "assign-plan" });
  expect(whyDenied({ ...denial, reason: "feature_not_in_plan" }, format)).toEqual([
    "An override for this customer excludes image.render. Adding credits does not change that.",
  ]);
});

test("the current outcome of a denied request is explained, even for a missing feature or an erased customer", () => {
  const now = { ...POSITION, allowed: true, reason: null, balance: 512 };
  expect(describeNow({ ...DENIAL, now }, nameOf)).toEqual([
    "The same request would be allowed now. It would cost 50 credits; the balance is 512.",
    "Send the request with a new idempotency key. The old key always returns this denial.",
  ]);
  expect(describeNow({ ...DENIAL, now: { ...now, creditsRequired: 0 } }, nameOf)[0]).toBe(
    "The same request would be allowed now.",
  );
  expect(describeNow(DENIAL, nameOf)).toEqual([
    "The same request would still be denied. It needs 50 credits. Only 12 credits are left. That is 38 credits short.",
  ]);
  const dearer = {
    ...{ ...POSITION, allowed: false, reason: "insufficient_credits" },
    ...{ creditsRequired: 100, shortfall: 88 },
  };
  expect(describeNow({ ...DENIAL, now: dearer }, nameOf)).toEqual([
    "The same request would still be denied. It needs 100 credits now. Only 12 credits are left. That is 88 credits short.",
  ]);
  const blocked = { ...now, allowed: false, reason: "customer_blocked" };
  expect(describeNow({ ...DENIAL, now: blocked }, nameOf)).toEqual([
    "The same request would now be denied for another reason. The customer is blocked.",
  ]);
  expect(describeNow({ ...DENIAL, now: null }, nameOf)).toEqual(["The feature Image no longer exists."]);
  expect(describeNow({ ...DENIAL, customerId: null, now: null }, nameOf)[0]).toMatch(/erased/);
});

test("suggested next steps depend on the current state, not on the past denial", () => {
  const kinds = (denial: Denial): string[] => nextStepsOf(denial).map(({ kind }) => kind);
  const nowFor = (reason: string | null): Denial => ({
    ...DENIAL,
    now: { ...POSITION, allowed: reason === null, reason, limit: LIMIT },
  });
  expect(nextStepsOf(DENIAL)[0]).toEqual({ kind: "add-credits", missing: 38 });
  expect(kinds(DENIAL)).toEqual(["add-credits", "assign-plan"]);
  expect(kinds(nowFor("limit_reached"))).toEqual(["assign-plan", "edit-plan"]);
  expect(kinds(nowFor("feature_not_in_plan"))).toEqual(["assign-plan", "edit-plan"]);
  expect(kinds(nowFor("no_active_plan"))).toEqual(["assign-plan"]);
  expect(kinds(nowFor("customer_blocked"))).toEqual(["unblock"]);
  expect(kinds(nowFor(null))).toEqual([]);
  expect(kinds({ ...DENIAL, now: null })).toEqual(["define-feature"]);
  expect(kinds({ ...DENIAL, customerId: null, now: null })).toEqual([]);
  expect(describeWait(DENIAL, format)).toBe("You can wait until plan credits renew on 2026-12-01.");
  expect(describeWait(nowFor("limit_reached"), format)).toBe(
    "You can wait until the limit resets on 2026-11-16.",
  );
  expect(describeWait({ ...nowFor("limit_reached"), quantity: 51 }, format)).toMatch(
    /^Waiting will not help/,
  );
  expect(describeWait(nowFor("customer_blocked"), format)).toBe(null);
});

test("test requests are summarized by response", () => {
  const allowed = { count: 1, status: 200, isReplay: false, body: { allowed: true, reason: null } };
  const replays = { ...allowed, count: 31, isReplay: true };
  expect(summarizeAnswers("consume", [allowed, replays])).toBe("1 charge, 31 replays");
  expect(summarizeAnswers("check", [{ ...allowed, count: 32 }])).toBe("32 × available");
  const denied = { ...allowed, body: { allowed: false, reason: "insufficient_credits" } };
  expect(summarizeAnswers("consume", [denied, replays])).toBe("1 denial, 31 replays");
  expect(explainAnswer(denied)).toBe("Not enough credits");
  const refused = { ...allowed, count: 5, status: 404, body: { code: "feature_not_found" } };
  expect([summarizeAnswers("consume", [refused]), explainAnswer(refused)]).toEqual([
    "5 rejected",
    "Unknown feature",
  ]);
});

const CHARGE: KeyHistory["charges"][number] = {
  consumeId: "con_1",
  recordedAt: "2026-11-15T10:00:00.000Z",
  item: null,
  feature: "image.render",
  quantity: 1,
  credits: 10,
  overageCredits: 0,
  balanceAfter: 90,
  overrides: null,
  memberId: null,
  metadata: { a: 1 },
  reversedQuantity: 0,
  reversedCredits: 0,
  reversedOverageCredits: 0,
};

const STORY: KeyHistory = {
  idempotencyKey: "k",
  state: "kept",
  endpoint: "consume",
  recordedAt: "2026-11-15T10:00:00.000Z",
  customerId: "ada",
  customerName: "Ada Films",
  answer: {},
  charge: CHARGE,
  charges: [CHARGE],
  denial: null,
  hold: null,
  event: null,
  uses: [],
};

function reuse(
  differs: string[],
  changes: Partial<KeyHistory["uses"][number]> = {},
): KeyHistory["uses"][number] {
  return {
    id: "log_1",
    requestId: "req_1",
    traceId: null,
    counts: null,
    recordedAt: "2026-11-15T10:01:00.000Z",
    endpoint: "consume",
    status: 409,
    code: "idempotency_key_reused",
    reason: null,
    isReplay: false,
    feature: "image.render",
    event: null,
    idempotencyKey: "k",
    customerId: "ada",
    customerName: null,
    durationMs: 1,
    refused: { differs, quantity: 2, timestamp: null },
    ...changes,
  };
}

test("a rejected reuse of an idempotency key is compared with the original request", () => {
  const differing = (differs: string[], changes = {}) =>
    compareReuse(STORY, reuse(differs, changes)).filter((line) => line.differs);
  expect(differing(["quantity"])).toEqual([{ field: "quantity", first: "1", refused: "2", differs: true }]);
  expect(differing(["metadata", "feature"], { feature: "export" })).toEqual([
    { field: "feature", first: "image.render", refused: "export", differs: true },
    { field: "metadata", first: '{"a":1}', refused: "different (not logged)", differs: true },
  ]);
  expect(differing(["customerId"], { customerId: null })[0]).toMatchObject({ refused: "unknown customer" });
  expect(differing(["endpoint"], { endpoint: "events", feature: null, event: "e" })).toEqual([
    { field: "endpoint", first: "consume", refused: "events", differs: true },
  ]);
  expect(compareReuse({ ...STORY, charge: null }, reuse(["environment"]))).toEqual([
    { field: "environment", first: "other environment", refused: "this environment", differs: true },
  ]);
});

test("a rejected reuse of a key for a request with items is compared by items", () => {
  const answer = { items: ITEMS };
  const first = "export × 2, image.render × 5";
  const itemsOf = (history: KeyHistory, differs: string[]) =>
    compareReuse(history, reuse(differs)).filter(({ field }) => /items|feature|quantity/.test(field));
  expect(itemsOf({ ...STORY, answer }, ["items"])).toEqual([
    { field: "items", first, refused: "different (not logged)", differs: true },
  ]);
  expect(itemsOf({ ...STORY, answer }, ["metadata"])).toEqual([
    { field: "items", first, refused: first, differs: false },
  ]);
  expect(itemsOf({ ...STORY, answer }, ["endpoint"])).toEqual([]);
  expect(itemsOf(STORY, ["items"])).toEqual([
    { field: "items", first: null, refused: "different (not logged)", differs: true },
  ]);
});

test("the key of a partial reversal is described and compared by the reversed items", () => {
  const answer = {
    creditsReturned: 20,
    items: [{ feature: "image.render", quantity: 2, creditsReturned: 20 }],
  };
  const history: KeyHistory = { ...STORY, endpoint: "consume/reverse", answer };
  expect(describeKey(history, NAMES)).toBe("Reversed 2 × Image and returned 20 credits to Ada Films.");
  const rows = compareReuse(history, reuse(["consumeId"]));
  expect(rows.filter(({ differs }) => differs)).toMatchObject([
    { field: "consumeId", first: CHARGE.consumeId },
  ]);
  expect(rows.map(({ first }) => first)).toContain("image.render");
});

test("one sentence describes what an idempotency key did, and its uses are counted by outcome", () => {
  expect(describeKey(STORY, NAMES)).toBe("Charged Ada Films 10 credits for 1 × Image.");
  const charges = [CHARGE, { ...CHARGE, item: 1, credits: 6 }];
  expect(describeKey({ ...STORY, charges }, NAMES)).toBe("Charged Ada Films 16 credits for 2 items.");
  const nothing = { customerId: null, charge: null, charges: [], denial: null, hold: null, event: null };
  expect(describeKey({ ...nothing, event: { event: "tokens", quantity: 1_200 } }, NAMES)).toBe(
    "Recorded 1,200 × Generated tokens for an erased customer.",
  );
  const denial = { feature: "export", quantity: 2, reason: "limit_reached" };
  expect(describeKey({ ...nothing, customerId: "ada", denial }, NAMES)).toMatch(
    /^Denied 2 × HD export for ada: limit reached/,
  );
  expect(describeKey(nothing, NAMES)).toMatch(/history/);
  const use = { isReplay: false, refused: null, code: null };
  expect(
    countUses([
      use,
      { ...use, isReplay: true },
      { ...use, isReplay: true },
      { ...use, code: "idempotency_key_reused" },
      { ...use, code: "overloaded" },
    ]),
  ).toBe("1 original request, 2 replays, 1 rejected (different request), 1 error");
});
