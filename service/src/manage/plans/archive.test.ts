import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

test("customers on an archived plan keep and renew it, but it cannot be assigned to others", async () => {
  const { manage, check } = await setupManage();
  const archived = await manage("POST", "plans/pro/archive");
  expect([archived.status, archived.body["archivedAt"]]).toEqual([200, expect.any(String)]);
  expect(archived.headers.get("etag")).toMatch(/^"[0-9a-f]{64}"$/);
  const assign = async (customer: string): Promise<unknown> => {
    const { body } = await manage("POST", `customers/${customer}/plan`, { body: { plan: "pro" } });
    return body["outcome"] ?? body["code"];
  };
  expect(await assign("bob")).toBe("unknown_key");
  expect(await assign("ada")).toBe("unchanged");
  expect((await check({ customerId: "ada", feature: "image.render" })).body["allowed"]).toBe(true);
  expect((await manage("GET", "plans?archived=false")).body["items"]).toEqual([]);
  expect((await manage("GET", "plans?archived=true")).body["items"]).toMatchObject([{ key: "pro" }]);
  await manage("POST", "plans/pro/archive", { body: { archived: false } });
  expect(await assign("bob")).toBe("changed");
});

test("the default plan cannot be archived, and an archived plan cannot become the default", async () => {
  const { manage, database } = await setupManage();
  expect((await manage("PUT", "default-plan", { body: { plan: "pro" } })).body).toEqual({ plan: "pro" });
  expect((await manage("GET", "plans/pro")).body["isDefault"]).toBe(true);
  const refused = await manage("POST", "plans/pro/archive");
  expect([refused.status, refused.body["code"]]).toEqual([409, "in_use"]);
  expect((await manage("PUT", "default-plan", { body: { plan: null } })).body).toEqual({ plan: null });
  const stale = { "if-match": '"old"' };
  expect((await manage("POST", "plans/pro/archive", { headers: stale })).status).toBe(412);
  const { headers } = await manage("GET", "plans/pro");
  const match = { "if-match": headers.get("etag") ?? "" };
  expect((await manage("POST", "plans/pro/archive", { headers: match })).status).toBe(200);
  expect((await manage("PUT", "default-plan", { body: { plan: "pro" } })).body).toMatchObject({
    code: "unknown_key",
    detail: expect.stringContaining("archived"),
  });
  expect(await database.count("cell.audit", "action = 'plan.archived'")).toBe(1);
});

test("customers on a plan are counted by their current plan, assigned or default", async () => {
  const { manage, assign, database, publish } = await setupManage();
  await publish({ key: "free", name: "Free" });
  for (const customer of ["bob", "cleo", "dan"]) await assign(customer, "free");
  for (const customer of ["eve", "fay"]) await manage("PUT", `customers/${customer}`, { body: {} });
  const count = async (plan: string): Promise<unknown> => {
    const body = { name: plan, allowances: [], features: [] };
    await manage("PUT", `plans/${plan}/draft`, { body });
    return (await manage("GET", `plans/${plan}/diff`)).body["customersOnPlan"];
  };
  expect(await count("free")).toEqual({ count: 3, isExact: true });
  // One assignment ends, and one customer is erased.
  await database.query(
    `update cell.wallets set state = jsonb_set(state::jsonb, '{3,4}', '1')::text
     where customer_number = (select number from cell.customers where customer_id = 'bob')`,
  );
  await database.query("update cell.customers set erased_at = now() where customer_id = 'cleo'");
  expect(await count("free")).toEqual({ count: 1, isExact: true });
  await manage("PUT", "default-plan", { body: { plan: "pro" } });
  // Customer ada has the plan by assignment. Customers bob, eve and fay have it as the default plan.
  expect(await count("pro")).toEqual({ count: 4, isExact: true });
  expect(await count("free")).toEqual({ count: 1, isExact: true });
});
