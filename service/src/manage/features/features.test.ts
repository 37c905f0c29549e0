import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { times } from "../../../test/two-services.ts";
import { definePool } from "../pools/operations.ts";
import { defineFeature, type FeatureInput } from "./define-feature.ts";

const RENDER: FeatureInput = {
  key: "image.render",
  name: "Render",
  unit: "image",
  pool: "credits",
  cost: { credits: 25, per: 1 },
};

test("a new feature cost applies only after its plan is published again", async () => {
  const { cell, context, check, publish } = await setupCredits();
  const price = async (): Promise<unknown> =>
    (await check({ customerId: "ada", feature: "image.render" })).body["creditsRequired"];
  expect((await defineFeature(cell, context, RENDER)).kind).toBe("defined");
  expect(await price()).toBe(10);
  await publish({ reach: "new_assignments" });
  expect(await price()).toBe(10);
  await publish({ reach: "now" });
  expect(await price()).toBe(25);
});

test("a feature moved to another pool spends from the pinned pool until its plan is published again", async () => {
  const { cell, context, consume } = await setupCredits();
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  await defineFeature(cell, context, { ...RENDER, pool: "seconds" });
  const reply = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
  expect(reply.body).toMatchObject({ allowed: true, creditsCharged: 10, balance: 90 });
});

test("editing a feature changes its name and cost and keeps its ID", async () => {
  const { cell, context, database } = await setupCredits();
  const before = await database.query("select id from cell.features where key = 'image.render'");
  const outcomes = await Promise.all(times(10, () => defineFeature(cell, context, RENDER)));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: "defined", ...before[0] });
  expect(await database.count("cell.features", "key = 'image.render'")).toBe(1);
});

test.each([
  ["a cost below 0", { credits: -1, per: 1 }],
  ["a cost above 10^9", { credits: 1_000_000_001, per: 1 }],
  ["a cost per 0 units", { credits: 1, per: 0 }],
])("%s is rejected and changes nothing", async (_name, cost) => {
  const { cell, context, database } = await setupCredits();
  const read = () =>
    database.query("select f.*, c.version from cell.features as f, cell.catalogs as c order by f.id");
  const before = await read();
  await expect(defineFeature(cell, context, { ...RENDER, cost })).rejects.toThrow(
    "violates check constraint",
  );
  expect(await read()).toEqual(before);
});

test("a feature with a missing pool is rejected and changes nothing, including the catalog version", async () => {
  const { cell, context, database } = await setupCredits();
  const before = await database.query("select version, changed_at from cell.catalogs");
  expect(await defineFeature(cell, context, { ...RENDER, pool: "nothing" })).toEqual({
    kind: "pool_not_found",
  });
  expect(await database.query("select version, changed_at from cell.catalogs")).toEqual(before);
});
