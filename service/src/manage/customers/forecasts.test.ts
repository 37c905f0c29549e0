import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { ask, settle } from "../../../test/usage.ts";

type Pool = { pool: string; balance: number; usedPerDay: number; outlook: string; daysLeft: number | null };
type Item = {
  customerId: string;
  customerName: string | null;
  pools: (Pool & { renewsAt: string | null })[];
};

async function list(managed: Managed, query = ""): Promise<Item[]> {
  return (await ask<{ items: Item[] }>(managed, `forecasts?${query}`)).items;
}

const shown = (items: readonly Item[]) =>
  items.map(({ customerId, pools: [first] }) => [
    customerId,
    first?.outlook,
    first?.daysLeft == null ? null : Math.round(first.daysLeft * 10) / 10,
  ]);

/** Sets up customers who were created 20 days ago and charged today. An image costs 10 credits. */
async function setupUse(images: Readonly<Record<string, number>>): Promise<Managed> {
  const managed = await setupManage();
  const { consume, topUp, assign, publish, database } = managed;
  await publish({ key: "bare", name: "Bare", allowances: [] });
  for (const [customerId, quantity] of Object.entries(images)) {
    await assign(customerId, "bare");
    await topUp(customerId, 1_000);
    if (quantity > 0)
      await consume({ customerId, feature: "image.render", quantity, idempotencyKey: customerId });
  }
  await settle(managed);
  await database.query("update cell.customers set created_at = created_at - interval '20 days'");
  return managed;
}

test("customers are listed by when their credits run out at their average usage of the last two weeks", async () => {
  const managed = await setupUse({ slow: 5, fast: 90, unused: 0, middle: 50 });
  const { manage } = managed;
  await manage("PUT", "customers/fast", { body: { name: "Fast Films" } });
  const items = await list(managed);
  expect(items.map(({ customerId, customerName }) => [customerId, customerName])).toEqual([
    ["fast", "Fast Films"],
    ["middle", null],
    ["slow", null],
  ]);
  // 900 credits were used in 14 days and part of today. 100 credits are left.
  const [fast, , slow] = items.map(({ pools }) => pools[0]);
  expect(fast?.usedPerDay).toBeGreaterThan(900 / 15);
  expect(fast?.usedPerDay).toBeLessThanOrEqual(900 / 14);
  expect(fast?.daysLeft).toBeCloseTo(100 / (fast?.usedPerDay ?? 0), 3);
  expect(slow).toMatchObject({ pool: "credits", balance: 950, outlook: "runs_out", renewsAt: null });
  expect(shown(await list(managed, "days=7")).map(([id]) => id)).toEqual(["fast"]);
  expect(shown(await list(managed, "limit=2")).map(([id]) => id)).toEqual(["fast", "middle"]);
});

test("with `empty=true`, customers without credits who were recently charged or denied come first", async () => {
  const managed = await setupUse({ charged: 100, nearly: 98, denied: 0, idle: 0, renewing: 0 });
  const { manage, consume, database } = managed;
  const email = "billing@denied.example";
  await manage("PUT", "customers/denied", { body: { name: "Denied", email } });
  for (const customer of ["denied", "idle"]) await manage("POST", `customers/${customer}/grants/1/revoke`);
  for (const key of ["1", "2", "3"])
    await consume({ customerId: "denied", feature: "image.render", quantity: 1, idempotencyKey: key });
  await settle(managed);
  await database.query("update cell.customers set created_at = created_at - interval '20 days'");
  const found = await list(managed, "empty=true");
  expect(shown(found).map(([id, outlook]) => [id, outlook])).toEqual([
    ["denied", "empty"],
    ["charged", "empty"],
    ["nearly", "runs_out"],
  ]);
  expect(found[0]).toMatchObject({ customerName: "Denied", customerEmail: email });
  expect(shown(await list(managed)).map(([id]) => id)).toEqual(["nearly"]);
  expect((await manage("GET", "forecasts?sort=balance&balanceBelow=5&empty=true")).status).toBe(400);
});

test("customers with the lowest balances are listed with their forecasts", async () => {
  const managed = await setupUse({ nearly: 98, empty: 100, unused: 0 });
  const low = await list(managed, "sort=balance&balanceBelow=1001");
  expect(shown(low).map(([id, outlook]) => [id, outlook])).toEqual([
    ["empty", "empty"],
    ["nearly", "runs_out"],
    ["ada", "not_used"],
    ["unused", "not_used"],
  ]);
  for (const query of ["sort=balance", "balanceBelow=5", "sort=balance&balanceBelow=5&days=7"])
    expect((await managed.manage("GET", `forecasts?${query}`)).status).toBe(400);
});

test("customers whose allowance renews in time, or who have unlimited overage, are not listed", async () => {
  const managed = await setupManage();
  const { consume, assign, publish, database } = managed;
  await publish({
    key: "open",
    name: "Open",
    allowances: [{ pool: "credits", credits: 100, period: "month", rollover: 0, overage: null }],
  });
  await assign("over", "open");
  await consume({ customerId: "over", feature: "image.render", quantity: 30, idempotencyKey: "o" });
  await consume({ customerId: "ada", feature: "image.render", quantity: 2, idempotencyKey: "a" });
  await settle(managed);
  await database.query("update cell.customers set created_at = created_at - interval '20 days'");
  expect(await list(managed)).toEqual([]);
  const low = await list(managed, "sort=balance&balanceBelow=1000");
  expect(shown(low)).toEqual([
    ["over", "unlimited", null],
    ["ada", "renews", null],
  ]);
  expect(low[1]?.pools[0]?.renewsAt).not.toBeNull();
});

test("a customer's position depends on the pool that runs out first, even if other pools are full", async () => {
  const managed = await setupUse({ one: 60, two: 50 });
  const { manage } = managed;
  await manage("PUT", "pools/minutes", { body: { name: "Minutes" } });
  await manage("POST", "customers/one/credits", {
    body: { credits: 1_000_000, kind: "manual", pool: "minutes" },
  });
  const items = await list(managed);
  expect(items.map(({ customerId }) => customerId)).toEqual(["one", "two"]);
  expect(items[0]?.pools.map(({ pool, outlook }) => [pool, outlook])).toEqual([
    ["credits", "runs_out"],
    ["minutes", "not_used"],
  ]);
});

test("a forecast ignores usage before the history window or the last two weeks", async () => {
  const managed = await setupUse({ earlier: 50 });
  const { database } = managed;
  const setDays = (days: number | null) =>
    database.query("update control.workspace_plans set history_days_max = $1", [days]);
  await database.query("update cell.usage_customer_days set day = day - 5");
  const low = () => list(managed, "sort=balance&balanceBelow=600");
  expect(shown(await low()).find(([id]) => id === "earlier")?.[1]).toBe("runs_out");
  expect(shown(await list(managed)).map(([id]) => id)).toEqual(["earlier"]);
  await setDays(3);
  expect(await list(managed)).toEqual([]);
  expect(shown(await low()).find(([id]) => id === "earlier")?.[1]).toBe("not_used");
  await setDays(null);
  await database.query("update cell.usage_customer_days set day = day - 20");
  expect(shown(await low()).find(([id]) => id === "earlier")?.[1]).toBe("not_used");
});
