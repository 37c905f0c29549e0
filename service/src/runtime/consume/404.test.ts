import { expect, test } from "vitest";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { createTestProject, post } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

const MISSING = { customerId: "ada", feature: "image.rendr", idempotencyKey: "key-1" };

test("an unknown feature gets 404, and nothing is stored, not even a customer with the default plan", async () => {
  const { consume, cell, context, database } = await setupCredits();
  await setDefaultPlan(cell, context, { plan: "pro" });
  const reply = await consume({ ...MISSING, customerId: "new" });
  expect(reply).toMatchObject({ status: 404, body: { code: "feature_not_found", status: 404 } });
  expect(reply.headers.get("content-type")).toContain("application/problem+json");
  expect(await database.count("cell.customers", "customer_id = 'new'")).toBe(0);
  expect(await database.count("cell.keyed_requests")).toBe(0);
  expect(await database.count("cell.denials")).toBe(0);
});

test("a 404 does not use up the key: after the feature is created, the same request is decided", async () => {
  const credits = await setupCredits();
  expect((await credits.consume(MISSING)).status).toBe(404);
  await define(credits, MISSING.feature);
  const reply = await credits.consume(MISSING);
  expect(reply.body).toMatchObject({ allowed: false, reason: "feature_not_in_plan" });
  expect(reply.headers.has("idempotent-replayed")).toBe(false);
});

test("one unknown feature among 40 concurrent requests does not make any other request fail", async () => {
  const { consume } = await setupCredits({ LANES: "1" });
  const replies = await Promise.all(
    times(40, (i) =>
      consume({
        customerId: "ada",
        feature: i === 17 ? "nothing" : "text.generate",
        idempotencyKey: `key-${i}`,
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(times(40, (i) => (i === 17 ? 404 : 200)));
});

test("feature keys are compared exactly, including case and spaces", async () => {
  const { check } = await setupCredits();
  for (const feature of ["Image.render", "image.render ", "image render", "__proto__", "constructor"])
    expect([feature, (await check({ customerId: "ada", feature })).status]).toEqual([feature, 404]);
});

test("the hint names the environment that has the feature, live or test", async () => {
  const credits = await setupCredits();
  const { service, project, cell, context } = credits;
  const live = { ...context, environmentId: project.live.environmentId };
  const cost = { credits: 1, per: 1 };
  await defineFeature(cell, live, { key: "only.live", name: "Live", unit: null, pool: "credits", cost });
  const ask = async (secret: string, feature: string): Promise<unknown> =>
    (await post(`${service.url}/v1/consume`, secret, { ...MISSING, feature })).body["detail"];
  expect(await ask(project.test.key.secret, "only.live")).toMatch(/in the test environment.*exists in live/);
  expect(await ask(project.live.key.secret, "image.render")).toMatch(
    /in the live environment.*exists in test/,
  );
  expect(await ask(project.live.key.secret, "neither")).not.toMatch(/exists in/);
});

test("a feature in another project is not mentioned in a hint", async () => {
  const credits = await setupCredits();
  const other = await createTestProject(credits.database, "Another product");
  for (const { key } of [other.test, other.live]) {
    const reply = await post(`${credits.service.url}/v1/check`, key.secret, {
      ...MISSING,
      feature: "image.render",
    });
    expect(reply.status).toBe(404);
    expect(reply.body["detail"]).not.toMatch(/exists in/);
  }
});

async function define({ cell, context }: Credits, key: string): Promise<void> {
  const cost = { credits: 1, per: 1 };
  await defineFeature(cell, context, { key, name: key, unit: null, pool: "credits", cost });
}
