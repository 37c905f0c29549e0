import { expect, test } from "vitest";
import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { brandAs, type CustomerId, type Instant } from "../../service/src/primitives/brand.ts";
import { expectSoundBooks } from "../../service/test/books.ts";
import { setupCredits } from "../../service/test/credits.ts";
import { ADA, TOP_UP } from "../../service/test/customers.ts";
import { setupManage } from "../../service/test/manage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

// These tests read results through HTTP where possible.

const RENDER = { customerId: "ada", feature: "image.render" };

test("after a plan is assigned, consume requests are allowed until the balance is spent", async () => {
  const { assign, consume, check } = await setupCredits();
  const action = { customerId: "bob", feature: "image.render", quantity: 10 };
  expect((await check(action)).body).toMatchObject({ allowed: false, reason: "customer_not_found" });
  await assign("bob");
  expect((await check(action)).body["allowed"]).toBe(true);
  expect((await consume({ ...action, idempotencyKey: "a" })).body).toMatchObject({
    allowed: true,
    balance: 0,
  });
  expect((await consume({ ...action, idempotencyKey: "b" })).body).toMatchObject({ allowed: false });
  expect((await check(action)).body).toMatchObject({ allowed: false, reason: "insufficient_credits" });
});

test("assigning the current plan again with the same end changes no row, and another anchor is rejected", async () => {
  const { cell, context, consume, publish, database, check } = await setupCredits();
  await consume({ ...RENDER, quantity: 4, idempotencyKey: "a" });
  // A new version of the same plan.
  await publish({
    allowances: [{ pool: "credits", credits: 1_000, period: "month", rollover: 0, overage: 0 }],
  });
  const changed = await changedTables(database, async () => {
    for (const extra of [{}, { endsAt: null }, { shorten: true }, {}]) {
      const repeat = { customerId: ADA, plan: "pro", anchor: null, ...extra };
      expect(await assignPlan(cell, context, repeat)).toEqual({ kind: "unchanged" });
    }
    const moved = { customerId: ADA, plan: "pro", anchor: brandAs<Instant>(Date.now() - 10 * DAY_MS) };
    expect((await assignPlan(cell, context, moved)).kind).toBe("anchor_fixed");
  });
  expect(changed).toEqual([]);
  expect((await check(RENDER)).body["balance"]).toBe(60);
});

test("a duplicate notification for a new customer assigns the plan once", async () => {
  const { cell, context, database } = await setupCredits();
  const notification = { customerId: brandAs<CustomerId>("bob"), plan: "pro", anchor: null };
  expect((await assignPlan(cell, context, notification)).kind).toBe("changed");
  const changed = await changedTables(database, () => assignPlan(cell, context, notification));
  expect(changed).toEqual([]);
});

test("a renewal extends the plan, and a late duplicate of an earlier renewal does not shorten it", async () => {
  const { cell, context, database } = await setupCredits();
  const bob = brandAs<CustomerId>("bob");
  const renew = async (days: number): Promise<string> => {
    const endsAt = brandAs<Instant>(start + days * DAY_MS);
    return (await assignPlan(cell, context, { customerId: bob, plan: "pro", anchor: null, endsAt })).kind;
  };
  const start = Date.now();
  expect(await renew(30)).toBe("changed");
  expect(await renew(60)).toBe("changed");
  expect(await renew(30)).toBe("would_shorten");
  const [row] = await database.query("select ends_at from cell.assignments order by id desc limit 1");
  expect(row).toEqual({ ends_at: new Date(start + 60 * DAY_MS) });
});

test("a downgrade and a cancellation at the end of the period leave the paid period unchanged", async () => {
  const { manage, publish, check, database } = await setupManage();
  const assign = (body: object) => manage("POST", "customers/ada/plan", { body });
  const allowances = [{ pool: "credits", credits: 20, period: "month", rollover: 0, overage: 0 } as const];
  await publish({ key: "basic", name: "Basic", allowances });
  const startsAt = (await check(RENDER)).body["resetsAt"];
  const downgrade = { plan: "basic", startsAt, asOf: new Date().toISOString() };
  expect((await assign(downgrade)).body["outcome"]).toBe("changed");
  // A renewal of the paid period that is older than the downgrade does not undo it.
  const renewal = {
    plan: "pro",
    endsAt: "2999-01-01T00:00:00Z",
    shorten: true,
    asOf: "2026-01-01T00:00:00Z",
  };
  for (const again of [downgrade, renewal, renewal, downgrade])
    expect((await assign(again)).status).toBe(200);
  expect((await check(RENDER)).body["balance"]).toBe(100);
  await windBack(database, 40 * DAY_MS);
  expect((await check(RENDER)).body["balance"]).toBe(20);
  expect((await assign({ plan: "basic", endsAt: "period_end", shorten: true })).status).toBe(200);
  expect((await check(RENDER)).body["allowed"]).toBe(true);
  await windBack(database, 40 * DAY_MS);
  expect((await check(RENDER)).body["reason"]).toBe("no_active_plan");
  await expectSoundBooks(database);
});

test("leaving a plan and returning within its period creates no credits", async () => {
  const { assign, publish, consume, check, database } = await setupCredits();
  await publish({ key: "free", name: "Free", allowances: [] });
  await consume({ ...RENDER, quantity: 7, idempotencyKey: "a" });
  for (let round = 0; round < 3; round++) {
    await assign("ada", "free");
    expect((await check(RENDER)).body).toMatchObject({ balance: 0, reason: "insufficient_credits" });
    await assign("ada", "pro");
    expect((await check(RENDER)).body["balance"]).toBe(30);
  }
  await expectSoundBooks(database);
});

test("a plan change replaces the allowance and keeps purchased credits", async () => {
  const { cell, context, assign, publish, check, database } = await setupCredits();
  await addCredits(cell, context, TOP_UP);
  await publish({
    key: "team",
    name: "Team",
    allowances: [{ pool: "credits", credits: 500, period: "month", rollover: 0, overage: 0 }],
  });
  expect((await check(RENDER)).body["balance"]).toBe(150);
  await assign("ada", "team");
  expect((await check(RENDER)).body["balance"]).toBe(550);
  await expectSoundBooks(database);
});

test("without a reference, a repeated top-up adds credits again, each time with its own ledger entry", async () => {
  const { cell, context, check, database } = await setupCredits();
  for (const balance of [150, 200, 250]) {
    expect(await addCredits(cell, context, TOP_UP)).toMatchObject({
      kind: "added",
      balanceBefore: balance - 50,
      balanceAfter: balance,
    });
    expect((await check(RENDER)).body["balance"]).toBe(balance);
  }
  const entries = await database.query(
    "select amount, balance_after from cell.ledger where kind = 1 order by sequence",
  );
  expect(entries.map((entry) => Object.values(entry))).toEqual([
    ["100", "100"],
    ["50", "150"],
    ["50", "200"],
    ["50", "250"],
  ]);
  expect(await database.count("cell.grants")).toBe(4);
});

test("a top-up with a reference adds credits once, however often it is repeated", async () => {
  const { cell, context, check, database } = await setupCredits();
  const paid = { ...TOP_UP, reference: "pay_1", price: { amount: 900, currency: "EUR" } };
  const first = await addCredits(cell, context, paid);
  expect(first).toMatchObject({ kind: "added", grant: 2 });
  const changed = await changedTables(database, async () => {
    expect(await addCredits(cell, context, paid)).toEqual({ kind: "already_added", grant: 2, balance: 150 });
  });
  expect(changed).toEqual([]);
  expect((await check(RENDER)).body["balance"]).toBe(150);
});

test.each([
  ["another amount", { credits: 51 }],
  ["another customer", { customerId: brandAs<CustomerId>("bob") }],
  ["another kind", { kind: "manual" as const }],
])("a reused reference with %s is rejected and changes nothing", async (_name, change) => {
  const { cell, context, database } = await setupCredits();
  await addCredits(cell, context, { ...TOP_UP, reference: "pay_1" });
  const changed = await changedTables(database, async () => {
    const outcome = await addCredits(cell, context, { ...TOP_UP, reference: "pay_1", ...change });
    expect(outcome).toMatchObject({ kind: "reference_reused" });
  });
  expect(changed).toEqual([]);
});

test("a reversal returns a charge's credits and restores the limit it used, and both entries stay in the ledger", async () => {
  const credits = await setupCredits();
  const { cell, context, consume, check, database } = credits;
  const charged = await consume({ ...RENDER, quantity: 6, idempotencyKey: "a" });
  const quota = await consume({ customerId: "ada", feature: "export", quantity: 5, idempotencyKey: "b" });
  const reverse = (reply: { body: Record<string, unknown> }, quantity: number | null) =>
    reverseConsume(cell, context, { consumeId: String(reply.body["consumeId"]), quantity });

  expect(await reverse(charged, 2)).toMatchObject({ kind: "reversed", credits: 20, quantity: 2 });
  expect((await check(RENDER)).body["balance"]).toBe(60);
  expect(await reverse(charged, 5)).toEqual({ kind: "too_much", reversible: 4 });
  expect(await reverse(charged, null)).toMatchObject({ kind: "reversed", credits: 40, quantity: 4 });
  expect(await reverse(charged, null)).toEqual({ kind: "nothing_left" });
  expect((await check(RENDER)).body["balance"]).toBe(100);

  expect(await reverse(quota, 3)).toMatchObject({ kind: "reversed", credits: 0, quantity: 3 });
  const { body } = await check({ customerId: "ada", feature: "export", quantity: 3 });
  expect(body).toMatchObject({ allowed: true, limit: { used: 2, remaining: 3 } });
  expect(await database.count("cell.ledger", "kind = 2")).toBe(2);
  expect(await database.count("cell.ledger", "kind = 5")).toBe(3);
  await expectSoundBooks(database);
});

test("partial reversals of a rounded charge add up to exactly the charge", async () => {
  const { cell, context, consume, check } = await setupCredits();
  const text = { customerId: "ada", feature: "text.generate" };
  const { body } = await consume({ ...text, quantity: 1_000, idempotencyKey: "a" });
  const consumeId = String(body["consumeId"]);
  const back: number[] = [];
  for (const quantity of [1, 332, 334, 333]) {
    const outcome = await reverseConsume(cell, context, { consumeId, quantity });
    back.push(outcome.kind === "reversed" ? outcome.credits : Number.NaN);
  }
  expect(back).toEqual([0, 0, 2, 1]);
  expect((await check(text)).body["balance"]).toBe(100);
});

test("credits purchased without a plan are usable once a plan is assigned", async () => {
  const credits = await setupCredits();
  const { topUp, assign, consume, check } = credits;
  await topUp("bob", 70);
  const bob = { customerId: "bob", feature: "image.render" };
  expect((await check(bob)).body).toMatchObject({ allowed: false, reason: "no_active_plan", balance: 70 });
  await assign("bob");
  expect((await consume({ ...bob, quantity: 17, idempotencyKey: "a" })).body).toMatchObject({
    allowed: true,
    balance: 0,
  });
});
