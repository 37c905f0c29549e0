import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { countKinds } from "../../../test/customers.ts";
import { PRO } from "../../../test/seed.ts";
import { countAllowed, setupTwo, times } from "../../../test/two-services.ts";
import { setDefaultPlan } from "./operations.ts";
import { publishPlan } from "./publish-plan.ts";

test("ten concurrent publications of a plan create ten versions with consecutive numbers", async () => {
  const { cell, context, database } = await setupTwo();
  const outcomes = await Promise.all(times(10, () => publishPlan(cell, context, { ...PRO, reach: "now" })));
  expect(countKinds(outcomes)).toEqual({ published: 10 });
  const numbers = await database.query("select number from cell.plan_versions order by number");
  expect(numbers.map(({ number }) => number)).toEqual(times(11, (i) => i + 1));
  expect(await database.count("cell.plans")).toBe(1);
});

test("a plan with a missing feature or pool is not published and leaves no rows", async () => {
  const { cell, context, database } = await setupTwo();
  const read = () =>
    database.query("select c.version, (select count(*) from cell.plans) from cell.catalogs as c");
  const before = await read();
  const feature = { ...PRO, key: "new", features: [{ feature: "nothing", limit: null }] };
  const allowance = { pool: "nothing", credits: 1, period: "month", rollover: 0, overage: 0 } as const;
  expect(await publishPlan(cell, context, feature)).toEqual({ kind: "feature_not_found", key: "nothing" });
  expect(await publishPlan(cell, context, { ...PRO, key: "new", allowances: [allowance] })).toEqual({
    kind: "pool_not_found",
    key: "nothing",
  });
  expect(await read()).toEqual(before);
});

test("setting the same default plan again changes nothing, and a missing plan is rejected", async () => {
  const { cell, context, database } = await setupTwo();
  const outcomes = await Promise.all(times(8, () => setDefaultPlan(cell, context, { plan: "pro" })));
  expect(countKinds(outcomes)).toEqual({ set: 1, unchanged: 7 });
  expect(await setDefaultPlan(cell, context, { plan: "nothing" })).toEqual({ kind: "plan_not_found" });
  expect(await database.count("cell.audit", "action = 'default_plan.set'")).toBe(1);
  expect(await setDefaultPlan(cell, context, { plan: null })).toEqual({ kind: "set" });
});

test("customers on the default plan move to a new default plan, and customers with an assigned plan keep it", async () => {
  const { cell, context, publish, check, renderAt } = await setupTwo();
  await publish({
    key: "free",
    name: "Free",
    allowances: [{ pool: "credits", credits: 20, period: "month", rollover: 0, overage: 0 }],
  });
  await setDefaultPlan(cell, context, { plan: "free" });
  expect((await renderAt(0, { customerId: "new" })).body).toMatchObject({ allowed: true, balance: 10 });
  await setDefaultPlan(cell, context, { plan: "pro" });
  expect((await check({ customerId: "new", feature: "image.render" })).body["balance"]).toBe(100);
  // If the customer returns to a plan within the period, the remaining allowance resumes.
  await setDefaultPlan(cell, context, { plan: "free" });
  expect((await check({ customerId: "new", feature: "image.render" })).body["balance"]).toBe(10);
  expect((await check({ customerId: "ada", feature: "image.render" })).body["balance"]).toBe(100);
  await setDefaultPlan(cell, context, { plan: null });
  expect((await check({ customerId: "new", feature: "image.render" })).body["reason"]).toBe("no_active_plan");
});

test("switching the default plan during charges creates no credits", async () => {
  const { cell, context, publish, renderAt, database } = await setupTwo();
  await publish({ key: "free", name: "Free" });
  await setDefaultPlan(cell, context, { plan: "free" });
  const consumes = times(200, async (i) => {
    await new Promise((resolve) => setTimeout(resolve, 3 * i));
    return renderAt(i, { customerId: `new-${i % 5}` });
  });
  const flips = (async () => {
    for (let i = 0; i < 20; i++) await setDefaultPlan(cell, context, { plan: i % 2 === 0 ? "pro" : "free" });
  })();
  const replies = await Promise.all(consumes);
  await flips;
  // Each of the two plans grants 100 credits, so a customer never spends more than 200.
  const late = await Promise.all(times(100, (i) => renderAt(i, { customerId: `new-${i % 5}` })));
  await setDefaultPlan(cell, context, { plan: "pro" });
  const last = await Promise.all(times(100, (i) => renderAt(i, { customerId: `new-${i % 5}` })));
  expect(countAllowed([...replies, ...late, ...last])).toBe(5 * 20);
  await expectSoundBooks(database);
});

test("purchased credits are not affected by plan changes", async () => {
  const { cell, context, publish, topUp, assign, check } = await setupTwo();
  await topUp("bob", 77);
  const balance = async (): Promise<unknown> =>
    (await check({ customerId: "bob", feature: "image.render" })).body["balance"];
  expect(await balance()).toBe(77);
  await assign("bob");
  expect(await balance()).toBe(177);
  await publish({ reach: "now", allowances: [] });
  expect(await balance()).toBe(77);
  await setDefaultPlan(cell, context, { plan: "pro" });
  await publish({ reach: "now" });
  expect(await balance()).toBe(177);
});
