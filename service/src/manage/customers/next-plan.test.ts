import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";

const STARTS_AT = "2998-01-01T00:00:00.000Z";
const LATER = "2999-01-01T00:00:00.000Z";

/** Customer `ada` has the `pro` plan with 100 credits a month. The `basic` plan has 20. */
async function setup() {
  const managed = await setupManage();
  const { manage, publish } = managed;
  const allowances = [{ pool: "credits", credits: 20, period: "month", rollover: 0, overage: 0 } as const];
  await publish({ key: "basic", name: "Basic", allowances });
  return {
    ...managed,
    assignTo: (body: object) => manage("POST", "customers/ada/plan", { body }),
    read: async () => (await manage("GET", "customers/ada")).body,
  };
}

test("a pending plan change is shown with the customer, in the plan history and in the audit log", async () => {
  const { assignTo, read, manage, database } = await setup();
  const request = { plan: "basic", startsAt: STARTS_AT, endsAt: LATER, asOf: "2026-01-01T00:00:00Z" };
  const set = await assignTo(request);
  const nextPlan = {
    key: "basic",
    name: "Basic",
    startsAt: STARTS_AT,
    endsAt: LATER,
    anchor: STARTS_AT,
  };
  expect(set.body).toMatchObject({ outcome: "changed", customer: { plan: { key: "pro" }, nextPlan } });
  expect(await read()).toEqual(set.body["customer"]);
  const { body } = await manage("GET", "customers?search=ada");
  expect(body["items"]).toEqual([set.body["customer"]]);
  const rows = await database.count("cell.assignments");
  expect((await assignTo(request)).body["outcome"]).toBe("unchanged");
  expect(await database.count("cell.assignments")).toBe(rows);
  expect((await manage("GET", "customers/ada/plans")).body["items"]).toMatchObject([
    { change: "scheduled", plan: { key: "basic" }, effectiveAt: STARTS_AT, endsAt: LATER },
    { change: "started", plan: { key: "pro" } },
  ]);
  const { body: audit } = await manage("GET", "audit?limit=1");
  expect(audit["items"]).toMatchObject([
    { action: "plan.scheduled", after: { plan: "pro", nextPlan: "basic", startsAt: STARTS_AT } },
  ]);
  await expectSoundBooks(database);
});

test("a DELETE, a plan assignment and the end of the plan each drop the pending plan change", async () => {
  const { assignTo, read, manage, database } = await setup();
  for (const [drop, outcome] of [
    [() => manage("DELETE", "customers/ada/plan/next"), "changed"],
    [() => assignTo({ plan: "pro", endsAt: LATER, shorten: true }), "changed"],
    [() => manage("DELETE", "customers/ada/plan"), "ended"],
  ] as const) {
    await assignTo({ plan: "basic", startsAt: STARTS_AT });
    expect((await read())["nextPlan"]).not.toBeNull();
    expect((await drop()).body).toMatchObject({ outcome, customer: { nextPlan: null } });
    expect((await manage("GET", "customers/ada/plans")).body["items"]).toEqual(
      expect.arrayContaining([expect.objectContaining({ change: "unscheduled" })]),
    );
  }
  expect((await manage("DELETE", "customers/ada/plan/next")).body["outcome"]).toBe("unchanged");
  expect(await database.count("cell.audit", "action = 'plan.unscheduled'")).toBe(1);
});

test("a downgrade or cancellation at the end of the period takes effect without another call", async () => {
  const { assignTo, read, manage, consume, check, publish, database } = await setup();
  const render = { customerId: "ada", feature: "image.render" };
  const { plan } = (await read()) as { plan: { periodEndsAt: string } };
  const { body } = await assignTo({ plan: "basic", startsAt: "period_end" });
  const { nextPlan } = body["customer"] as { nextPlan: { startsAt: string } };
  expect(plan.periodEndsAt).toBe(nextPlan.startsAt);
  expect((await check(render)).body).toMatchObject({ balance: 100, resetsAt: nextPlan.startsAt });
  await windBack(database, 40 * DAY_MS);
  expect((await check(render)).body["balance"]).toBe(20);
  expect(await read()).toMatchObject({ plan: { key: "basic", isDefault: false }, nextPlan: null });
  await consume({ ...render, idempotencyKey: "a" });
  expect((await manage("GET", "customers/ada/plans")).body["items"]).toMatchObject([
    { change: "started", plan: { key: "basic" } },
    { change: "ended", plan: { key: "pro" } },
    { change: "scheduled", plan: { key: "basic" } },
    { change: "started", plan: { key: "pro" } },
  ]);
  const cancel = { plan: "basic", endsAt: "period_end", shorten: true };
  expect((await assignTo(cancel)).body["outcome"]).toBe("changed");
  await windBack(database, 40 * DAY_MS);
  expect((await check(render)).body["reason"]).toBe("no_active_plan");
  expect(await assignTo(cancel)).toMatchObject({ status: 422, body: { code: "no_running_period" } });
  await publish({ key: "free", name: "Free", allowances: [] });
  const { customer } = (await assignTo({ plan: "free" })).body;
  expect(customer).toMatchObject({ plan: { key: "free", periodEndsAt: null } });
  await expectSoundBooks(database);
});

test("customers with a due pending change are counted under the new plan before the change is written", async () => {
  const { assignTo, manage, database } = await setup();
  const count = async (plan: string): Promise<unknown> => {
    await manage("PUT", `plans/${plan}/draft`, { body: { name: plan, allowances: [], features: [] } });
    return (await manage("GET", `plans/${plan}/diff`)).body["customersOnPlan"];
  };
  await assignTo({ plan: "basic", startsAt: "period_end" });
  expect([await count("pro"), await count("basic")]).toMatchObject([{ count: 1 }, { count: 0 }]);
  await windBack(database, 40 * DAY_MS);
  expect([await count("pro"), await count("basic")]).toMatchObject([{ count: 0 }, { count: 1 }]);
});

test("`period_end` is rejected in a billing event", async () => {
  const { assignTo, read } = await setup();
  const before = await read();
  for (const times of [{ startsAt: "period_end" }, { endsAt: "period_end", shorten: true }])
    expect(await assignTo({ plan: "pro", asOf: "2026-01-01T00:00:00Z", ...times })).toMatchObject({
      status: 400,
      body: { code: "invalid_request", errors: [{ field: Object.keys(times)[0] }] },
    });
  expect(await read()).toEqual(before);
});

test("a plan's end date must be after its start", async () => {
  const { assignTo, read } = await setup();
  const before = await read();
  expect(await assignTo({ plan: "basic", startsAt: LATER, endsAt: STARTS_AT })).toMatchObject({
    status: 422,
    body: { code: "ends_in_the_past" },
  });
  expect(await read()).toEqual(before);
});

test("until an upgrade is finished, scheduling a plan change is rejected, and other plan calls work", async () => {
  const { assignTo, read, database } = await setup();
  await database.query("update cell.identity set data_format = 1");
  const before = await read();
  const scheduled = { plan: "basic", startsAt: STARTS_AT };
  expect(await assignTo(scheduled)).toMatchObject({
    status: 409,
    body: { code: "upgrade_unfinished", detail: expect.stringContaining("purser migrate --finish") },
  });
  expect(await read()).toEqual(before);
  const cancel = { plan: "pro", endsAt: "period_end", shorten: true };
  expect((await assignTo(cancel)).body["outcome"]).toBe("changed");
  expect((await assignTo({ plan: "basic", startsAt: "2026-01-01T00:00:00Z" })).status).toBe(200);
  expect(await database.count("cell.wallets", "state not like '[1,%'")).toBe(0);
  await database.query("update cell.identity set data_format = 2");
  expect((await assignTo({ ...scheduled, plan: "pro" })).status).toBe(200);
  expect(await database.count("cell.wallets", "state like '[2,%'")).toBe(1);
});

test("twenty concurrent calls that schedule the same plan record one pending change", async () => {
  const { assignTo, database } = await setup();
  const replies = await Promise.all(times(20, () => assignTo({ plan: "basic", startsAt: STARTS_AT })));
  const outcomes = replies.map(({ body }) => body["outcome"]);
  expect(outcomes.filter((outcome) => outcome === "changed")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "unchanged")).toHaveLength(19);
  expect(await database.count("cell.assignments", "change = 7")).toBe(1);
});
