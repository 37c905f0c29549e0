import { expect, test } from "vitest";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { setupCredits } from "../../service/test/credits.ts";
import { post } from "../../service/test/harness.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { changedTables } from "./changed-tables.ts";

const ADA = { customerId: "ada", feature: "image.render" };

test("a check response has exactly the documented fields, in order", async () => {
  const { check } = await setupCredits();
  const reply = await check({ ...ADA, quantity: 2 });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const resetsAt = String(reply.body["resetsAt"]);
  expect(resetsAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(reply.text).toBe(
    '{"allowed":true,"reason":null,"customerId":"ada","feature":"image.render","quantity":2,' +
      `"creditsRequired":20,"balance":100,"resetsAt":"${resetsAt}","limit":null}`,
  );
});

test("a check response includes the feature's limit, with the limit's fields in order", async () => {
  const { check } = await setupCredits();
  const { body } = await check({ customerId: "ada", feature: "export", quantity: 2 });
  expect(Object.keys(body["limit"] ?? {})).toEqual(["quantity", "used", "remaining", "resetsAt"]);
  expect(body).toMatchObject({
    allowed: true,
    creditsRequired: 0,
    limit: { quantity: 5, used: 0, remaining: 5, resetsAt: expect.stringMatching(/\.\d{3}Z$/) },
  });
});

test("quantity is optional and defaults to 1", async () => {
  const { check } = await setupCredits();
  const omitted = await check(ADA);
  const explicit = await check({ ...ADA, quantity: 1 });
  expect(omitted.text).toBe(explicit.text);
  expect(omitted.body).toMatchObject({ quantity: 1, creditsRequired: 10 });
});

test("a check changes no row in any table", async () => {
  const { check, cell, context, database } = await setupCredits();
  await setDefaultPlan(cell, context, { plan: "pro" });
  const changed = await changedTables(database, async () => {
    const answers = [
      await check(ADA),
      await check({ ...ADA, idempotencyKey: "key-1", metadata: { a: 1 } }),
      await check({ ...ADA, quantity: 1_000 }),
      await check({ ...ADA, feature: "video.render" }),
      await check({ ...ADA, customerId: "on the default plan" }),
      await check({ ...ADA, feature: "nothing" }),
      await check({ ...ADA, quantity: 0 }),
    ];
    expect(answers.map(({ status, body }) => body["allowed"] ?? status)).toEqual([
      true,
      true,
      false,
      false,
      true,
      404,
      400,
    ]);
  });
  expect(changed).toEqual([]);
});

test("a check applies the end of a period without writing anything", async () => {
  const { check, consume, database } = await setupCredits();
  await consume({ ...ADA, quantity: 9, idempotencyKey: "key-1" });
  expect((await check(ADA)).body).toMatchObject({ allowed: true, balance: 10 });
  await windBack(database, 32 * DAY_MS);
  const changed = await changedTables(database, async () => {
    expect((await check({ ...ADA, quantity: 10 })).body).toMatchObject({ allowed: true, balance: 100 });
  });
  expect(changed).toEqual([]);
});

test("a check returns the balance before the charge, and a consume request returns the balance after it", async () => {
  const { check, consume } = await setupCredits();
  const used = (count: number, resetsAt: unknown): object => ({
    quantity: 5,
    used: count,
    remaining: 5 - count,
    resetsAt,
  });
  const exported = { customerId: "ada", feature: "export", quantity: 2 };
  const before = await check(exported);
  const { resetsAt } = Object(before.body["limit"]);
  expect(before.body["limit"]).toEqual(used(0, resetsAt));
  const after = await consume({ ...exported, idempotencyKey: "key-1" });
  expect(after.body["limit"]).toEqual(used(2, resetsAt));
  expect((await check(exported)).body["limit"]).toEqual(used(2, resetsAt));

  expect((await check(ADA)).body["balance"]).toBe(100);
  expect((await consume({ ...ADA, idempotencyKey: "key-2" })).body["balance"]).toBe(90);
  expect((await check(ADA)).body["balance"]).toBe(90);
});

test("a check accepts and ignores the fields of a consume request", async () => {
  const { check, consume } = await setupCredits();
  const body = { ...ADA, idempotencyKey: "key-1", metadata: { model: "small" } };
  expect((await check(body)).text).toBe((await check(ADA)).text);
  const reply = await consume(body);
  expect(reply.body["allowed"]).toBe(true);
  expect(reply.headers.has("idempotent-replayed")).toBe(false);
  // The same key again, and metadata that consume would reject.
  expect((await check({ ...body, quantity: 2 })).status).toBe(200);
  expect((await check({ ...body, metadata: { a: "x".repeat(9_000) } })).status).toBe(200);
});

test("a consume request right after a check gets the same decision", async () => {
  const { check, consume } = await setupCredits();
  const questions = [
    { ...ADA, quantity: 4 },
    { customerId: "ada", feature: "export", quantity: 3 },
    { customerId: "ada", feature: "text.generate", quantity: 1_001 },
    { customerId: "ada", feature: "export", quantity: 3 },
    { ...ADA, quantity: 6 },
    { customerId: "ada", feature: "video.render" },
    { customerId: "ada", feature: "text.generate", quantity: 18_667 },
    { customerId: "nobody", feature: "export" },
    { customerId: "ada", feature: "text.generate", quantity: 18_666 },
    { ...ADA, quantity: 1 },
  ];
  const verdicts: unknown[] = [];
  for (const [index, question] of questions.entries()) {
    const checked = await check(question);
    const consumed = await consume({ ...question, idempotencyKey: `key-${index}` });
    for (const field of ["allowed", "reason", "creditsRequired", "quantity", "resetsAt"])
      expect([field, checked.body[field]]).toEqual([field, consumed.body[field]]);
    const balance = Number(checked.body["balance"]) - Number(consumed.body["creditsCharged"]);
    expect(Number(consumed.body["balance"])).toBe(balance);
    verdicts.push(checked.body["reason"]);
  }
  expect(verdicts).toEqual([
    null,
    null,
    null,
    "limit_reached",
    "insufficient_credits",
    "feature_not_in_plan",
    "insufficient_credits",
    "customer_not_found",
    null,
    "insufficient_credits",
  ]);
});

test("an unknown customer is checked against the default plan and not created", async () => {
  const { check, cell, context, database } = await setupCredits();
  await setDefaultPlan(cell, context, { plan: "pro" });
  const changed = await changedTables(database, async () => {
    const { body } = await check({ ...ADA, customerId: "unknown" });
    expect(body).toMatchObject({ allowed: true, reason: null, balance: 100 });
    expect((await check({ ...ADA, customerId: "unknown", quantity: 11 })).body).toMatchObject({
      allowed: false,
      reason: "insufficient_credits",
    });
  });
  expect(changed).toEqual([]);
});

test("without a default plan, a check for an unknown customer returns customer_not_found without a balance", async () => {
  const { check } = await setupCredits();
  expect((await check({ ...ADA, customerId: "unknown", quantity: 3 })).body).toEqual({
    allowed: false,
    reason: "customer_not_found",
    customerId: "unknown",
    feature: "image.render",
    quantity: 3,
    creditsRequired: 30,
    balance: null,
    resetsAt: null,
    limit: null,
    affordableQuantity: 0,
  });
});

test("a key without the `check` scope is rejected", async () => {
  const { check, database, project } = await setupCredits();
  const allow = (scopes: string): Promise<unknown> =>
    database.query("update control.api_keys set scopes = $1 where id = $2", [scopes, project.test.key.id]);
  await allow("{consume,events}");
  expect(await check(ADA)).toMatchObject({ status: 403, body: { code: "scope_missing" } });
});

test("a key with only the `check` scope can check", async () => {
  const { check, database, project } = await setupCredits();
  await database.query("update control.api_keys set scopes = '{check}' where id = $1", [project.test.key.id]);
  expect((await check(ADA)).status).toBe(200);
});

test("browsers and callers without a key are rejected", async () => {
  const { service, project } = await setupCredits();
  const url = `${service.url}/v1/check`;
  for (const headers of [{ origin: "https://app.example.com" }, { "sec-fetch-site": "same-origin" }]) {
    expect(await post(url, project.test.key.secret, ADA, headers)).toMatchObject({
      status: 403,
      body: { code: "browser_not_allowed" },
    });
  }
  expect(await post(url, null, ADA)).toMatchObject({ status: 401, body: { code: "api_key_missing" } });
});
