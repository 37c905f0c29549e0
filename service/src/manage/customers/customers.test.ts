import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupCredits } from "../../../test/credits.ts";
import { ADA, BOB, countKinds } from "../../../test/customers.ts";
import { rounds } from "../../../test/rounds.ts";
import { countAllowed, setupTwo, times } from "../../../test/two-services.ts";
import { brandAs, type CustomerId, type Instant } from "../../words/brand.ts";
import { setDefaultPlan } from "../plans/set-default-plan.ts";
import { assignPlan } from "./assign-plan.ts";
import { blockCustomer } from "./block-customer.ts";
import { endPlan } from "./end-plan.ts";

test("a plan assigned many times at once to a customer nobody knew is assigned once", async () => {
  const { cell, context, database } = await setupCredits();
  for (const round of rounds(10)) {
    const customerId = brandAs<CustomerId>(`customer-${round}`);
    const assign = () => assignPlan(cell, context, { customerId, plan: "pro", anchor: null });
    expect(countKinds(await Promise.all(times(8, assign)))).toEqual({ changed: 1, unchanged: 7 });
    expect(await database.count("cell.customers")).toBe(2 + round);
    expect(await database.count("cell.grants")).toBe(2 + round);
    expect(await database.count("cell.assignments")).toBe(2 + round);
    expect(await database.count("cell.audit", "action = 'plan.assigned'")).toBe(2 + round);
  }
  await expectSoundBooks(database);
});

test("two plans assigned at once, back and forth, while the customer consumes: no more than both allowances", async () => {
  const { cell, context, publish, renderAt, database } = await setupTwo();
  await publish({ key: "team", name: "Team" });
  const consumes = times(150, async (i) => {
    await new Promise((resolve) => setTimeout(resolve, 2 * i));
    return renderAt(i);
  });
  const assigns = times(2, async (side) => {
    for (let i = side; i < 15; i++)
      await assignPlan(cell, context, { customerId: ADA, plan: i % 2 === 0 ? "team" : "pro", anchor: null });
  });
  const [replies] = await Promise.all([Promise.all(consumes), ...assigns]);
  const rest: typeof replies = [];
  for (const plan of ["pro", "team"]) {
    await assignPlan(cell, context, { customerId: ADA, plan, anchor: null });
    rest.push(...(await Promise.all(times(20, (i) => renderAt(i)))));
  }
  expect(countAllowed([...replies, ...rest])).toBe(20);
  await expectSoundBooks(database);
});

test("a plan that is not there, or that would end in the past, leaves not even a customer behind", async () => {
  const { cell, context, database } = await setupCredits();
  const past = brandAs<Instant>(Date.now() - 1_000);
  expect(await assignPlan(cell, context, { customerId: BOB, plan: "nothing", anchor: null })).toEqual({
    kind: "plan_not_found",
  });
  expect(
    await assignPlan(cell, context, { customerId: BOB, plan: "pro", anchor: null, endsAt: past }),
  ).toEqual({
    kind: "ends_in_the_past",
  });
  expect(await database.count("cell.customers")).toBe(1);
});

test("a plan that is ended many times at once ends once, and what comes after is denied", async () => {
  const { cell, context, renderAt, database } = await setupTwo();
  const running = times(40, (i) => renderAt(i));
  const ends = times(8, () => endPlan(cell, context, { customerId: ADA }));
  expect(countKinds(await Promise.all(ends))).toEqual({ ended: 1, no_assignment: 7 });
  const after = await Promise.all(times(10, (i) => renderAt(i)));
  expect(new Set(after.map(({ body }) => body["reason"]))).toEqual(new Set(["no_active_plan"]));
  expect(countAllowed(await Promise.all(running))).toBeLessThanOrEqual(10);
  await expectSoundBooks(database);
});

test("a plan ends at its end, for whoever comes next, and the default plan takes over", async () => {
  const { cell, context, check, publish } = await setupCredits();
  const endsAt = brandAs<Instant>(Date.now() + 1_500);
  await assignPlan(cell, context, { customerId: BOB, plan: "pro", anchor: null, endsAt });
  const ask = async () => (await check({ customerId: "bob", feature: "image.render" })).body;
  expect(await ask()).toMatchObject({ allowed: true, balance: 100 });
  await expect.poll(async () => (await ask())["reason"], { timeout: 5_000 }).toBe("no_active_plan");
  expect(Date.now()).toBeGreaterThanOrEqual(endsAt - 5);
  await publish({ key: "free", name: "Free", allowances: [] });
  await setDefaultPlan(cell, context, { plan: "free" });
  expect(await ask()).toMatchObject({ allowed: false, reason: "insufficient_credits", balance: 0 });
  // Neither is an assignment that somebody could end.
  expect(await endPlan(cell, context, { customerId: BOB })).toEqual({ kind: "no_assignment" });
});

test("once a customer is blocked nothing more is allowed, and once unblocked all is as it was", async () => {
  const { cell, context, renderAt, check, database } = await setupTwo();
  const block = (isBlocked: boolean) => blockCustomer(cell, context, { customerId: ADA, isBlocked });
  const running = times(30, (i) => renderAt(i, { feature: "text.generate" }));
  expect(countKinds(await Promise.all(times(6, () => block(true))))).toEqual({ changed: 1, unchanged: 5 });
  const after = await Promise.all(times(20, (i) => renderAt(i)));
  expect(new Set(after.map(({ body }) => body["reason"]))).toEqual(new Set(["customer_blocked"]));
  const spent = countAllowed(await Promise.all(running));
  await block(false);
  expect((await check({ customerId: "ada", feature: "image.render" })).body).toMatchObject({
    allowed: true,
    balance: 100 - spent,
  });
  await expectSoundBooks(database);
});

test("a customer nobody knows cannot be blocked, nor their plan ended", async () => {
  const { cell, context, database } = await setupCredits();
  expect(await blockCustomer(cell, context, { customerId: BOB, isBlocked: true })).toEqual({
    kind: "customer_not_found",
  });
  expect(await endPlan(cell, context, { customerId: BOB })).toEqual({ kind: "customer_not_found" });
  expect(await database.count("cell.customers")).toBe(1);
});
