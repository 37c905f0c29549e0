import { expect, test } from "vitest";
import { ageHistory } from "../../../test/age-history.ts";
import { setupManage } from "../../../test/manage.ts";
import { DAY_MS } from "../../../test/wind-back.ts";
import { verifyDatabase } from "../../commands/verify/verify-database.ts";

const RENDER = { customerId: "ada", feature: "image.render" };

/** Customer `ada` has the `pro` plan with 100 credits a month. */
async function setup() {
  const managed = await setupManage();
  const { manage } = managed;
  return {
    ...managed,
    put: (body: object) => manage("PUT", "customers/ada/overrides", { body }),
    read: async () => (await manage("GET", "customers/ada")).body,
  };
}

test("overrides are shown on the customer, the charge and the denial, and in the audit log", async () => {
  const { put, read, manage, consume, database } = await setup();
  const terms = {
    features: { "image.render": { cost: { credits: 4, per: 1 }, limit: { quantity: 3, period: "day" } } },
    allowances: { credits: { credits: 250, period: "month" } },
    endsAt: "2999-01-01T00:00:00.000Z",
  };
  const set = await put(terms);
  expect(set.body).toMatchObject({ outcome: "changed", customer: { overrides: { number: 1, ...terms } } });
  expect(await read()).toEqual(set.body["customer"]);
  expect((await consume({ ...RENDER, quantity: 3, idempotencyKey: "a" })).body).toMatchObject({
    allowed: true,
    creditsCharged: 12,
    balance: 88,
    limit: { quantity: 3, used: 3, remaining: 0 },
  });
  expect((await consume({ ...RENDER, idempotencyKey: "b" })).body).toMatchObject({
    allowed: false,
    reason: "limit_reached",
    affordableQuantity: 0,
  });
  const { body: ledger } = await manage("GET", "customers/ada/ledger?limit=1");
  expect(ledger["items"]).toMatchObject([{ kind: "consume", amount: -12, overrides: 1 }]);
  const { body: denials } = await manage("GET", "customers/ada/denials");
  const [denial] = denials["items"] as { denialId: string }[];
  expect(denial).toMatchObject({ reason: "limit_reached", overrides: 1 });
  expect((await manage("GET", `denials/${denial?.denialId}`)).body).toMatchObject({
    overrides: 1,
    isOverridden: true,
    sentences: expect.arrayContaining([
      "The customer's overrides (number 1) allow a quantity of at most 3 a day for image.render.",
    ]),
  });
  const { body: audit } = await manage("GET", "audit?limit=1");
  expect(audit["items"]).toMatchObject([
    { action: "overrides.set", before: { overrides: null }, after: { overrides: { number: 1, ...terms } } },
  ]);
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
});

test("setting the same overrides again changes nothing, even after the feature's price has changed", async () => {
  const { put, manage, database } = await setup();
  await manage("PUT", "features/disk", { body: { name: "Disk", cost: { credits: 5 } } });
  const terms = { features: { disk: { included: true } } };
  expect((await put(terms)).body["outcome"]).toBe("changed");
  await manage("PUT", "features/disk", { body: { name: "Disk", cost: { credits: 9 } } });
  const rows = await database.count("cell.overrides");
  expect((await put(terms)).body["outcome"]).toBe("unchanged");
  expect(await database.count("cell.overrides")).toBe(rows);
  expect(await database.count("cell.audit", "action = 'overrides.set'")).toBe(1);
});

test("current and earlier overrides are listed, newest first", async () => {
  const { put, manage } = await setup();
  for (const credits of [1, 2, 3]) await put({ features: { "image.render": { cost: { credits } } } });
  await put({});
  const first = await manage("GET", "customers/ada/overrides?limit=3");
  expect(first.body["items"]).toMatchObject([
    { number: 4, features: {} },
    { number: 3, features: { "image.render": { cost: { credits: 3, per: 1 } } } },
    { number: 2, setAt: expect.any(String) },
  ]);
  const next = await manage("GET", `customers/ada/overrides?limit=3&cursor=${first.body["nextCursor"]}`);
  expect(next.body).toMatchObject({ items: [{ number: 1 }], nextCursor: null });
  expect((await manage("GET", "customers/nobody/overrides")).status).toBe(404);
});

test("an allowance override requires a period if the plan has no allowance in the pool", async () => {
  const { put, manage } = await setup();
  await manage("DELETE", "customers/ada/plan");
  const allowances = { credits: { credits: 5 } };
  expect(await put({ allowances })).toMatchObject({
    status: 400,
    body: { errors: [{ field: "allowances.credits.period", code: "missing" }] },
  });
  const monthly = { credits: { credits: 5, period: "month" } };
  expect((await put({ allowances: monthly })).body).toMatchObject({
    customer: { overrides: { allowances: monthly } },
  });
});

test("a PUT without terms removes the overrides", async () => {
  const { put, check, read } = await setup();
  expect((await put({})).body["outcome"]).toBe("unchanged");
  await put({ features: { "image.render": { included: false } } });
  expect((await check(RENDER)).body["reason"]).toBe("feature_not_in_plan");
  expect((await put({ features: {} })).body).toMatchObject({
    outcome: "changed",
    customer: { overrides: null },
  });
  expect((await check(RENDER)).body["allowed"]).toBe(true);
  expect((await read())["overrides"]).toBeNull();
});

test("a reversal uses the overridden price of its charge, even after the overrides have ended", async () => {
  const { put, consume, manage, check, database } = await setup();
  const endsAt = new Date(Date.now() + DAY_MS).toISOString();
  await put({ features: { "image.render": { cost: { credits: 1, per: 1 } } }, endsAt });
  await consume({ ...RENDER, quantity: 2, idempotencyKey: "a" });
  await ageHistory(database, 2 * DAY_MS);
  expect((await check(RENDER)).body["creditsRequired"]).toBe(10);
  // The charge ID contains the time of the charge, which has changed.
  const { body: ledger } = await manage("GET", "customers/ada/ledger?kind=consume");
  const [{ consumeId } = { consumeId: "" }] = ledger["items"] as { consumeId: string }[];
  const reverse = await manage("POST", `customers/ada/consumes/${consumeId}/reverse`, { body: {} });
  expect(reverse.body).toMatchObject({ quantity: 2, credits: 2 });
  expect((await check(RENDER)).body["balance"]).toBe(100);
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
});

test("overrides with unknown keys, archived features, past end dates or an end date without terms are rejected", async () => {
  const { put, manage, database } = await setup();
  await manage("PUT", "features/old", { body: { name: "Old", cost: { credits: 1 } } });
  await manage("POST", "features/old/archive", { body: {} });
  for (const [body, status, code] of [
    [{ features: { nothing: { included: true } } }, 422, "unknown_key"],
    [{ features: { old: { included: true } } }, 422, "unknown_key"],
    [{ allowances: { nothing: { credits: 1 } } }, 422, "unknown_key"],
    [
      { features: { "image.render": { included: true } }, endsAt: "2020-01-01T00:00:00Z" },
      422,
      "ends_in_the_past",
    ],
    [{ endsAt: "2999-01-01T00:00:00Z" }, 400, "invalid_request"],
    [{ features: { "image.render": {} } }, 400, "invalid_request"],
    [{ features: { "image.render": { price: 1 } } }, 400, "invalid_request"],
    [{ allowances: { credits: { credits: 0 } } }, 400, "invalid_request"],
  ] as const)
    expect(await put(body)).toMatchObject({ status, body: { code } });
  expect(await database.count("cell.overrides")).toBe(0);
  const missing = await manage("PUT", "customers/nobody/overrides", { body: {} });
  expect(missing).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("overrides are rejected until an upgrade is finished", async () => {
  const { put, database } = await setup();
  await database.query("update cell.identity set data_format = 1");
  const body = { features: { "image.render": { included: false } } };
  expect(await put(body)).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  expect((await put({})).body["outcome"]).toBe("unchanged");
});
