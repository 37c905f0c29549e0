import { expect, test } from "vitest";
import { openHolds } from "../../../test/holds.ts";
import { setupManage } from "../../../test/manage.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

async function setup() {
  const managed = await setupManage();
  const { open, read } = openHolds(managed);
  return { ...managed, open, read: async (path: string) => read(`/v1/customers/${path}`) };
}

test("a customer's plan, credits and features are shown, and nothing changes", async () => {
  const { read, open, topUp, database } = await setup();
  await topUp("ada", 5);
  await open({ feature: "image.render", quantity: 2 });
  const decided = await database.query("select decided_at from cell.wallets");
  const { status, body } = await read("ada");
  expect(status).toBe(200);
  expect(body).toEqual({
    customerId: "ada",
    plan: { key: "pro", name: "Pro", version: 1, isDefault: false, endsAt: null },
    nextPlan: null,
    pools: [
      {
        pool: "credits",
        balance: 85,
        held: 20,
        overage: null,
        resetsAt: expect.stringMatching(/Z$/),
        nextExpiries: [{ expiresAt: expect.stringMatching(/Z$/), credits: 80 }],
      },
    ],
    features: [
      {
        feature: "export",
        allowed: true,
        reason: null,
        pool: "credits",
        cost: { credits: 0, per: 1 },
        affordableQuantity: 5,
        limit: { quantity: 5, used: 0, remaining: 5, resetsAt: expect.stringMatching(/Z$/) },
      },
      {
        feature: "image.render",
        allowed: true,
        reason: null,
        pool: "credits",
        cost: { credits: 10, per: 1 },
        affordableQuantity: 8,
        limit: null,
      },
      {
        feature: "text.generate",
        allowed: true,
        reason: null,
        pool: "credits",
        cost: { credits: 3, per: 1_000 },
        affordableQuantity: 28_333,
        limit: null,
      },
      {
        feature: "video.render",
        allowed: false,
        reason: "feature_not_in_plan",
        pool: "credits",
        cost: { credits: 50, per: 1 },
        affordableQuantity: 0,
        limit: null,
      },
    ],
  });
  expect(await database.query("select decided_at from cell.wallets")).toEqual(decided);
});

test("each feature has the result of a check for one unit", async () => {
  const { read, check, consume } = await setup();
  await consume({ customerId: "ada", feature: "image.render", quantity: 10, idempotencyKey: "all" });
  await consume({ customerId: "ada", feature: "export", quantity: 5, idempotencyKey: "exports" });
  const { features } = (await read("ada?features=text.generate,export,image.render")).body as {
    features: { feature: string; allowed: boolean; reason: string | null; affordableQuantity: number }[];
  };
  expect(features.map(({ feature }) => feature)).toEqual(["text.generate", "export", "image.render"]);
  for (const { feature, allowed, reason, affordableQuantity } of features) {
    const { body } = await check({ customerId: "ada", feature });
    expect({ allowed, reason }).toEqual({ allowed: body["allowed"], reason: body["reason"] });
    expect(affordableQuantity).toBe(0);
  }
});

test("an unknown customer gets the results that a check would return, and is not created", async () => {
  const { read, cell, context, database } = await setup();
  const unknown = (await read("nobody?features=export")).body;
  expect(unknown).toMatchObject({ plan: null, pools: [{ balance: 0 }] });
  expect(unknown["features"]).toMatchObject([{ allowed: false, reason: "customer_not_found" }]);
  await setDefaultPlan(cell, context, { plan: "pro" });
  expect((await read("nobody?features=image.render")).body).toMatchObject({
    plan: { key: "pro", isDefault: true },
    pools: [{ balance: 100 }],
    features: [{ allowed: true, affordableQuantity: 10 }],
  });
  expect(await database.count("cell.customers", "customer_id = 'nobody'")).toBe(0);
});

test("a customer's block and plan end are shown, and an unknown feature or an invalid query is rejected", async () => {
  const { read, manage } = await setup();
  await manage("POST", "customers/ada/plan", {
    body: { plan: "pro", endsAt: "2100-01-01T00:00:00Z", shorten: true },
  });
  await manage("PUT", "customers/ada/block", { body: { blocked: true } });
  expect((await read("ada?features=export")).body).toMatchObject({
    plan: { endsAt: "2100-01-01T00:00:00.000Z" },
    features: [{ allowed: false, reason: "customer_blocked", affordableQuantity: 0 }],
  });
  expect((await read("ada?features=no.such")).body).toMatchObject({ status: 404, code: "feature_not_found" });
  const many = Array.from({ length: 51 }, (_, index) => `feature${index}`).join(",");
  expect((await read(`ada?features=${many}`)).status).toBe(400);
  expect((await read("ada?features=")).status).toBe(400);
  expect((await read("ada?feature=export")).status).toBe(400);
});

test("reading a customer requires only the `check` scope", async () => {
  const { read, database, project } = await setup();
  const allow = (scopes: string) =>
    database.query("update control.api_keys set scopes = $1 where id = $2", [scopes, project.test.key.id]);
  await allow("{consume,events}");
  expect((await read("ada")).body["code"]).toBe("scope_missing");
});
