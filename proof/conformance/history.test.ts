import { expect, test } from "vitest";
import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { setOverrides } from "../../service/src/manage/customers/overrides.ts";
import { definePool } from "../../service/src/manage/pools/operations.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { ADA, TOP_UP } from "../../service/test/customers.ts";
import { changedTables } from "./changed-tables.ts";

const RENDER = { customerId: "ada", feature: "image.render" };

test.each([
  "update cell.ledger set amount = 0",
  "update cell.ledger set balance_after = balance_after + 1",
  "delete from cell.ledger",
  "truncate cell.ledger",
  "update cell.grants set credits = 1",
  "delete from cell.grants",
  "update cell.denials set reason = 1",
  "delete from cell.denials",
  "update cell.assignments set plan_id = 1",
  "delete from cell.overrides",
  "update cell.plan_features set cost_credits = 1",
])("history is append-only: even the schema owner cannot `%s`", async (statement) => {
  const { consume, cell, context, database } = await setupCredits();
  await consume({ ...RENDER, idempotencyKey: "a" });
  await consume({ ...RENDER, quantity: 99, idempotencyKey: "b" });
  const terms = { features: { "image.render": { included: false } } };
  await setOverrides(cell, context, { customerId: ADA, terms, endsAt: null });
  const changed = await changedTables(database, async () => {
    await expect(database.query(statement)).rejects.toThrow("refused");
  });
  expect(changed).toEqual([]);
});

test("credits and plans in one environment do not exist in the other environment", async () => {
  const credits = await setupCredits();
  const live = { ...credits.context, environmentId: credits.project.live.environmentId };
  await definePool(credits.cell, credits.context, { key: "seconds", name: "Seconds" });
  const seconds = { ...TOP_UP, pool: "seconds" };
  expect(await addCredits(credits.cell, live, seconds)).toEqual({ kind: "pool_not_found" });
  expect(await assignPlan(credits.cell, live, { customerId: ADA, plan: "pro", anchor: null })).toEqual({
    kind: "plan_not_found",
  });
  const { body } = await credits.consume({ ...RENDER, idempotencyKey: "a" });
  const consumeId = String(body["consumeId"]);
  expect(await reverseConsume(credits.cell, live, { consumeId, quantity: null })).toEqual({
    kind: "consume_not_found",
  });
  expect(await countCustomers(credits, live.environmentId)).toBe(0);
});

function countCustomers({ database }: Credits, environmentId: number): Promise<number> {
  return database.count("cell.customers", `environment_id = ${environmentId}`);
}
