import { expect, test } from "vitest";
import { at, makeCatalog, monthly, STORAGE } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

const catalog = makeCatalog({
  pro: [{ features: { image: null, text: null, export: { quantity: 5, period: "month" } } }],
  bare: [{ allowances: [] }],
  scale: [{ allowances: [monthly(1000)] }],
  team: [
    {
      allowances: [monthly(100), { pool: STORAGE, credits: 50, period: "month", rollover: 0, overage: 0 }],
      features: { image: null, export: { quantity: 5, period: "month" }, disk: null },
    },
  ],
});

function customerOn(plan: string): Timeline {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", plan);
  return customer;
}

test("a reversal returns credits to the grants they came from, last spent first", () => {
  const customer = customerOn("pro");
  customer.topUp("2026-01-01", 50);
  const { entry } = customer.consume("2026-01-02", "image", 12);
  expect(entry?.parts).toEqual([
    { grant: 1, amount: -100 },
    { grant: 2, amount: -20 },
  ]);
  expect(customer.reverse("2026-01-03", entry, 3)).toMatchObject({
    kind: "reversed",
    credits: 30,
    quantity: 3,
  });
  expect(customer.wallet.grants.map(({ number, remaining }) => [number, remaining])).toEqual([
    [1, 10],
    [2, 50],
  ]);
  expect(customer.reverse("2026-01-03", entry, 10)).toEqual({ kind: "too_much", reversible: 9 });
  expect(customer.reverse("2026-01-03", entry)).toMatchObject({ credits: 90, quantity: 9 });
  expect(customer.reverse("2026-01-03", entry)).toEqual({ kind: "nothing_left" });
  expect(customer.balance).toBe(150);
});

test("after every partial reversal, the remaining charge is the cost of the remaining quantity", () => {
  const customer = customerOn("pro");
  const { entry } = customer.consume("2026-01-02", "text", 2_500); // ceil(7.5) = 8
  expect(customer.balance).toBe(92);
  expect(customer.reverse("2026-01-03", entry, 1)).toMatchObject({ credits: 0 }); // 2,499 still cost 8
  expect(customer.reverse("2026-01-03", entry, 1_499)).toMatchObject({ credits: 5 }); // 1,000 cost 3
  expect(customer.reverse("2026-01-03", entry)).toMatchObject({ credits: 3 });
  expect(customer.balance).toBe(100);
});

test("a reversal lowers only the limit counter that counted the charge", () => {
  const customer = customerOn("pro");
  const january = customer.consume("2026-01-02", "export", 4);
  customer.reverse("2026-01-03", january.entry, 3);
  expect(customer.check("2026-01-03", "export").before?.limit?.used).toBe(1);
  customer.consume("2026-02-02", "export", 2);
  customer.reverse("2026-02-03", january.entry);
  expect(customer.check("2026-02-03", "export").before?.limit?.used).toBe(2);
});

test("a reversal returns no more to an allowance than a new plan version grants", () => {
  const smaller = { reach: "now" as const, publishedAt: at("2026-01-10"), allowances: [monthly(50)] };
  for (const isPaused of [false, true]) {
    const customer = new Timeline(makeCatalog({ pro: [{}, smaller], other: [{ allowances: [] }] }));
    customer.assign("2026-01-01", "pro");
    const { entry } = customer.consume("2026-01-02", "image", 8);
    // 80 credits are used, more than the new allowance of 50.
    expect(customer.check("2026-01-11", "image").before?.balance).toBe(0);
    if (isPaused) customer.assign("2026-01-12", "other");
    customer.reverse("2026-01-13", entry, 2);
    customer.reverse("2026-01-14", entry, 3);
    if (isPaused) customer.assign("2026-01-15", "pro");
    // After the two reversals, 30 are used.
    expect(customer.check("2026-01-16", "image").before?.balance).toBe(20);
    customer.reverse("2026-01-17", entry);
    expect(customer.check("2026-01-18", "image").before?.balance).toBe(50);
  }
});

test("a reversal returns credits to an allowance that ended before the plan's version changed", () => {
  const monthlyRolled = { ...monthly(100), rollover: 2, overage: 0 };
  const smaller = { reach: "next_period" as const, publishedAt: at("2026-01-20"), allowances: [monthly(50)] };
  for (const isSeen of [false, true]) {
    const customer = new Timeline(makeCatalog({ pro: [{ allowances: [monthlyRolled] }, smaller] }));
    customer.assign("2026-01-01", "pro", { endsAt: at("2026-03-01") });
    const { entry } = customer.consume("2026-01-02", "image", 8);
    if (isSeen) customer.topUp("2026-02-10", 1);
    customer.reverse("2026-03-05", entry, 1);
    customer.assign("2026-03-06", "pro");
    // The rest of January's allowance, and all of March's.
    expect(customer.check("2026-03-06", "image").before?.balance).toBe(30 + 50 + (isSeen ? 1 : 0));
  }
});

test("reversing a request reverses all its charges, in order and with their positions in the request", () => {
  const customer = customerOn("team");
  const { wallet } = customer;
  const request = customer.consumeItems("2026-01-02", { image: 3, disk: 20, export: 4 });
  const charges = request.items.map(({ entry }) => entry?.sequence);
  expect(customer.reverseItems("2026-01-03", request)).toMatchObject({
    kind: "reversed",
    quantity: 27,
    credits: 50,
    items: [
      { item: 0, quantity: 3, credits: 30 },
      { item: 1, quantity: 20, credits: 20 },
      { item: 2, quantity: 4, credits: 0 },
    ],
  });
  expect(customer.entries.slice(-3).map(({ kind, usage }) => [kind, usage?.reverses, usage?.place])).toEqual([
    ["reverse", charges[0], { index: 0, of: 3 }],
    ["reverse", charges[1], { index: 1, of: 3 }],
    ["reverse", charges[2], { index: 2, of: 3 }],
  ]);
  expect(customer.wallet.grants).toEqual(wallet.grants);
  expect(customer.check("2026-01-03", "export").before?.limit?.used).toBe(0);
  expect(customer.reverseItems("2026-01-03", request)).toEqual({ kind: "nothing_left" });
});

test("one item of a request can be reversed alone, in part or completely", () => {
  const customer = customerOn("team");
  const request = customer.consumeItems("2026-01-02", { image: 3, export: 4, disk: 20 });
  const [image, , disk] = request.items;
  expect(customer.reverse("2026-01-03", disk?.entry ?? null, 5)).toMatchObject({
    credits: 5,
    quantity: 5,
    items: [{ item: 2, quantity: 5, credits: 5 }],
  });
  expect(customer.reverse("2026-01-03", disk?.entry ?? null, 16)).toEqual({
    kind: "too_much",
    reversible: 15,
  });
  expect(customer.balance).toBe(70);
  expect(customer.reverse("2026-01-03", image?.entry ?? null)).toMatchObject({
    items: [{ item: 0, quantity: 3, credits: 30 }],
  });
  expect(customer.balance).toBe(100);
  expect(customer.check("2026-01-03", "export").before?.limit?.used).toBe(4);
  expect(customer.check("2026-01-03", "disk").before?.balance).toBe(35);
});

test("after partial reversals, reversing the request returns only what is left", () => {
  const customer = customerOn("team");
  const request = customer.consumeItems("2026-01-02", { image: 3, export: 4, disk: 20 });
  const [image, limited] = request.items;
  customer.reverse("2026-01-03", image?.entry ?? null);
  customer.reverse("2026-01-03", limited?.entry ?? null, 1);
  expect(customer.reverseItems("2026-01-04", request)).toMatchObject({
    quantity: 23,
    credits: 20,
    items: [
      { item: 1, quantity: 3, credits: 0 },
      { item: 2, quantity: 20, credits: 20 },
    ],
  });
  expect(customer.reverseItems("2026-01-04", request)).toEqual({ kind: "nothing_left" });
  expect(customer.balance).toBe(100);
});

test("if reversing one charge would exceed the maximum balance, no charge in the request is reversed", () => {
  const customer = customerOn("bare");
  const largest = Number.MAX_SAFE_INTEGER - 2 ** 51;
  expect(customer.topUp("2026-01-01", largest)).toBe("added");
  const request = customer.consumeItems("2026-01-02", { image: 1, text: 1_000 }); // 10 and 3 credits
  expect(customer.topUp("2026-01-03", 1)).toBe("added");
  const { wallet } = customer;
  expect(customer.reverseItems("2026-01-04", request)).toEqual({ kind: "balance_too_large" });
  expect(customer.wallet).toBe(wallet);
  const [image, text] = request.items;
  expect(customer.reverse("2026-01-04", image?.entry ?? null)).toMatchObject({
    kind: "reversed",
    credits: 10,
  });
  expect(customer.reverse("2026-01-04", text?.entry ?? null)).toEqual({ kind: "balance_too_large" });
});

test("credits returned to an allowance from a past period expire immediately", () => {
  const customer = customerOn("pro");
  const { entry } = customer.consume("2026-01-02", "image");
  customer.consume("2026-02-02", "image");
  customer.reverse("2026-02-03", entry);
  expect(customer.balance).toBe(90);
  expect(customer.entries.slice(-2).map(({ kind, amount }) => [kind, amount])).toEqual([
    ["reverse", 10],
    ["expire", -10],
  ]);
});

test("credits returned to a paused plan are available when it resumes", () => {
  const customer = customerOn("pro");
  const { entry } = customer.consume("2026-01-02", "image");
  customer.assign("2026-01-05", "scale");
  customer.reverse("2026-01-06", entry);
  expect(customer.balance).toBe(1000);
  customer.assign("2026-01-07", "pro");
  expect(customer.balance).toBe(100);
});

test("returning credits to a spent purchase reopens the purchase with its original expiry", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-01", 10, { expiresAt: at("2026-06-01") });
  const { entry } = customer.consume("2026-01-02", "image");
  expect(customer.wallet.grants).toEqual([]);
  customer.reverse("2026-01-03", entry);
  expect(customer.wallet.grants).toMatchObject([{ number: 1, remaining: 10, expiresAt: at("2026-06-01") }]);
});

test("grants with the same kind and expiry share a slot; revoking a grant removes only its own remaining credits", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-01", 30);
  customer.topUp("2026-01-02", 20);
  expect(customer.wallet.grants).toHaveLength(1);
  customer.consume("2026-01-03", "image", 4); // all of the first grant, and 10 of the second
  expect(customer.revoke("2026-01-04", 1)).toBe(0);
  expect(customer.revoke("2026-01-04", 2)).toBe(10);
  expect(customer.balance).toBe(0);
});

test("credits returned to a revoked grant are revoked", () => {
  const customer = customerOn("bare");
  customer.topUp("2026-01-01", 30);
  const { entry } = customer.consume("2026-01-02", "image");
  expect(customer.revoke("2026-01-03", 1)).toBe(20);
  customer.reverse("2026-01-04", entry);
  expect(customer.balance).toBe(0);
  expect(customer.revoke("2026-01-05", 1)).toBe(0);
});

test("a wallet holds at most 50 open grants", () => {
  const customer = customerOn("bare");
  for (let day = 1; day <= 50; day++) {
    const expiresAt = at(`2027-01-01T00:00:${String(day).padStart(2, "0")}`);
    expect(customer.topUp("2026-01-01", 1, { expiresAt })).toBe("added");
  }
  expect(customer.topUp("2026-01-01", 1)).toBe("too_many_grants");
  expect(customer.topUp("2026-01-01", 1, { expiresAt: at("2027-01-01T00:00:01") })).toBe("added");
});

test("a balance above 2^53-1 and an expiry in the past are rejected", () => {
  const customer = customerOn("bare");
  expect(customer.topUp("2026-01-01", Number.MAX_SAFE_INTEGER)).toBe("balance_too_large");
  expect(customer.topUp("2026-01-02", 1, { expiresAt: at("2026-01-02") })).toBe("expires_in_the_past");
});
