import { expect, test } from "vitest";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { createTestProject, post, type Reply } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

// Validation rules that are the same for check and consume.

const BODY = { customerId: "ada", feature: "image.render", quantity: 2, idempotencyKey: "key-1" };
const OPERATIONS = [{ name: "check" }, { name: "consume" }] as const;

/** Each body gets a 400 that names the field. */
const MISTAKES: readonly [field: string, code: string, change: object][] = [
  ["customerId", "required", { customerId: undefined }],
  ["customerId", "wrong_type", { customerId: null }],
  ["customerId", "wrong_type", { customerId: 42 }],
  ["customerId", "too_short", { customerId: "" }],
  ["customerId", "too_long", { customerId: "x".repeat(256) }],
  ["customerId", "wrong_form", { customerId: "nul\0" }],
  ["customerId", "wrong_form", { customerId: "\ud800" }],
  ["feature", "required", { feature: undefined }],
  ["feature", "wrong_type", { feature: ["image.render"] }],
  ["feature", "too_short", { feature: "" }],
  ["feature", "too_long", { feature: "x".repeat(121) }],
  ["feature", "wrong_form", { feature: "nul\0" }],
  ["quantity", "too_small", { quantity: 0 }],
  ["quantity", "too_small", { quantity: -1 }],
  ["quantity", "too_large", { quantity: 1_000_001 }],
  ["quantity", "wrong_type", { quantity: 1.5 }],
  ["quantity", "wrong_type", { quantity: "1" }],
  ["quantity", "wrong_type", { quantity: null }],
  ["quantity", "wrong_type", { quantity: true }],
  ["idempotencyKey", "wrong_type", { idempotencyKey: null }],
  ["idempotencyKey", "too_short", { idempotencyKey: "" }],
  ["idempotencyKey", "too_long", { idempotencyKey: "k".repeat(256) }],
  ["idempotencyKey", "wrong_form", { idempotencyKey: "a b" }],
  ["idempotencyKey", "wrong_form", { idempotencyKey: "clé" }],
  ["metadata", "wrong_type", { metadata: null }],
  ["metadata", "wrong_type", { metadata: [] }],
  ["metadata", "wrong_form", { metadata: { a: "\0" } }],
  ["metadata", "wrong_form", { metadata: { a: 2 ** 53 } }],
  ["event", "unknown_field", { event: "image.render" }],
  ["timestamp", "unknown_field", { timestamp: "2026-11-14T10:00:00Z" }],
  ["creditsRequired", "unknown_field", { creditsRequired: 0 }],
];

test.each(OPERATIONS)(
  "each invalid field gets a 400 that names it, and nothing is stored ($name)",
  async ({ name }) => {
    const credits = await setupCredits();
    const changed = await changedTables(credits.database, async () => {
      for (const [field, code, change] of MISTAKES) {
        const reply = await credits[name]({ ...BODY, ...change });
        expect({ change, ...reply }).toMatchObject({
          change,
          status: 400,
          body: { code: "invalid_request", errors: [{ field, code }] },
        });
      }
    });
    expect(changed).toEqual([]);
  },
);

test.each(OPERATIONS)("quantity is an integer from 1 to 1,000,000 ($name)", async ({ name }) => {
  const credits = await setupCredits();
  for (const [index, quantity] of [1, 1_000_000].entries()) {
    const reply = await credits[name]({ ...BODY, quantity, idempotencyKey: `key-${index}` });
    expect(reply.body).toMatchObject({ allowed: quantity === 1, quantity, creditsRequired: 10 * quantity });
  }
});

test.each(OPERATIONS)(
  "a customer ID of 255 characters and a feature of 120 are accepted and returned unchanged ($name)",
  async ({ name }) => {
    const credits = await setupCredits();
    const feature = "é".repeat(120);
    const unit = { key: feature, name: feature, unit: null, pool: "credits", cost: { credits: 1, per: 1 } };
    await defineFeature(credits.cell, credits.context, unit);
    for (const customerId of ["🙂".repeat(255), ' "quoted"\\\n', "erased:ada"]) {
      const reply = await credits[name]({ ...BODY, customerId, feature });
      expect(reply.body).toMatchObject({ customerId, feature, reason: "customer_not_found" });
    }
  },
);

test.each(OPERATIONS)(
  "an unknown feature gets 404 feature_not_found, and nothing is stored ($name)",
  async ({ name }) => {
    const credits = await setupCredits();
    const changed = await changedTables(credits.database, async () => {
      const reply = await credits[name]({ ...BODY, feature: "image.rendr" });
      expect(reply).toMatchObject({ status: 404, body: { code: "feature_not_found" } });
      expect(reply.body["detail"]).toContain("image.rendr");
      expect(reply.body["detail"]).not.toContain("live");
      // Even for an unknown customer.
      const unknown = await credits[name]({ ...BODY, customerId: "nobody", feature: "image.rendr" });
      expect(unknown.status).toBe(404);
    });
    expect(changed).toEqual([]);
  },
);

test.each(OPERATIONS)(
  "a feature that exists only in the other environment gets 404, and the detail names that environment ($name)",
  async ({ name }) => {
    const credits = await setupCredits();
    const { project, service, database } = credits;
    const ask = (secret: string): Promise<Reply> => post(`${service.url}/v1/${name}`, secret, BODY);
    const reply = await ask(project.live.key.secret);
    expect(reply).toMatchObject({ status: 404, body: { code: "feature_not_found" } });
    expect(reply.body["detail"]).toMatch(/exists in test.*belongs to live/);

    const other = await createTestProject(database, "Another product");
    const foreign = await ask(other.live.key.secret);
    expect(foreign).toMatchObject({ status: 404, body: { code: "feature_not_found" } });
    expect(foreign.body["detail"]).not.toContain("exists in");
  },
);

const REFUSALS: readonly [code: string, status: number, make: (ask: Ask) => Promise<Reply>][] = [
  ["invalid_json", 400, (ask) => ask("{")],
  ["invalid_json", 400, (ask) => ask('{"__proto__":{"quantity":1}}')],
  ["api_key_invalid", 401, (ask) => ask(BODY, { authorization: "Bearer nonsense" })],
  ["browser_not_allowed", 403, (ask) => ask(BODY, { origin: "https://app.example.com" })],
  ["browser_not_allowed", 403, (ask) => ask(BODY, { "sec-fetch-site": "none" })],
  ["body_too_large", 413, (ask) => ask(JSON.stringify(BODY).padEnd(64 * 1024 + 1))],
  ["unsupported_media_type", 415, (ask) => ask(BODY, { "content-type": "text/plain" })],
];

type Ask = (body: unknown, headers?: Record<string, string>) => Promise<Reply>;

test.each(OPERATIONS)("every error has the same format and stores nothing ($name)", async ({ name }) => {
  const credits = await setupCredits();
  const changed = await changedTables(credits.database, async () => {
    for (const [code, status, make] of REFUSALS)
      await expectProblem(await make(asker(credits, name)), { code, status });
  });
  expect(changed).toEqual([]);
});

test("consume needs an API key with the `consume` scope", async () => {
  const { consume, database, project, service } = await setupCredits();
  await database.query("update control.api_keys set scopes = '{check,events}' where id = $1", [
    project.test.key.id,
  ]);
  const changed = await changedTables(database, async () => {
    await expectProblem(await consume(BODY), { code: "scope_missing", status: 403 });
    await expectProblem(await post(`${service.url}/v1/consume`, null, BODY), {
      code: "api_key_missing",
      status: 401,
    });
  });
  expect(changed).toEqual([]);
});

test.each(OPERATIONS)("the operation accepts only POST ($name)", async ({ name }) => {
  const { service, project } = await setupCredits();
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    const reply = await fetch(`${service.url}/v1/${name}`, {
      method,
      headers: { authorization: `Bearer ${project.test.key.secret}` },
    });
    expect(reply.status, method).toBe(405);
    expect(reply.headers.get("allow")).toBe("POST");
  }
});

function asker({ service, project }: Credits, name: string): Ask {
  return (body, headers) => post(`${service.url}/v1/${name}`, project.test.key.secret, body, headers);
}

async function expectProblem(
  reply: Reply,
  { code, status }: { code: string; status: number },
): Promise<void> {
  expect(reply).toMatchObject({ status, body: { code, status, type: `/docs/errors/${code}` } });
  expect(reply.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(reply.body["requestId"]).toBe(reply.headers.get("x-request-id"));
}
