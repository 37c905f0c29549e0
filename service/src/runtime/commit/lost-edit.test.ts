import { expect, test } from "vitest";
import { post, type TestDatabase } from "../../../test/harness.ts";
import { setupTwo } from "../../../test/two-services.ts";
import { defineFeature } from "../../manage/features/define-feature.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

/** Saves the catalog's rows and counters, and returns a function that restores them, like a failover that loses edits. */
async function rememberCatalog(database: TestDatabase): Promise<() => Promise<void>> {
  await database.query("create temporary table kept as select * from cell.catalogs");
  const [last] = await database.query("select coalesce(max(id), 0) as id from cell.plan_versions");
  const columns = await database.query(
    "select column_name as name from information_schema.columns where table_schema = 'cell' and table_name = 'catalogs'",
  );
  const restored = columns.map(({ name }) => `${String(name)} = kept.${String(name)}`).join(", ");
  return async () => {
    await database.query("set session_replication_role = replica");
    for (const [table, id] of [
      ["plan_features", "plan_version_id"],
      ["plan_allowances", "plan_version_id"],
      ["plan_versions", "id"],
    ])
      await database.query(`delete from cell.${table} where ${id} > $1`, [last?.["id"]]);
    await database.query(
      `update cell.catalogs as c set ${restored} from kept where c.environment_id = kept.environment_id`,
    );
    await database.query(
      `alter table cell.plan_versions alter column id restart with ${Number(last?.["id"]) + 1}`,
    );
    await database.query("reset session_replication_role");
  };
}

test("after a failover loses an edit, another edit with the same number is not mistaken for the lost edit", async () => {
  const { cell, context, database, publish, urls, project } = await setupTwo();
  const allowances = [{ pool: "credits", credits: 900, period: "month", rollover: 0, overage: 0 }] as const;
  await publish({ key: "big", name: "Big", allowances });
  const balanceAt = async (turn: 0 | 1): Promise<unknown> => {
    const body = { customerId: "newcomer", feature: "image.render" };
    return (await post(`${urls[turn]}/v1/check`, project.test.key.secret, body)).body["balance"];
  };
  const lose = await rememberCatalog(database);
  await setDefaultPlan(cell, context, { plan: "pro" });
  expect(await balanceAt(0)).toBe(100);
  await lose();
  await setDefaultPlan(cell, context, { plan: "big" });
  expect([await balanceAt(0), await balanceAt(1)]).toEqual([900, 900]);
});

test("a plan version that reuses the ID of a version lost in a failover charges its own cost", async () => {
  const { cell, context, database, publish, urls, project } = await setupTwo();
  const publishAt = async (credits: number): Promise<void> => {
    const cost = { credits, per: 1 };
    await defineFeature(cell, context, { key: "image.render", name: "R", unit: null, pool: "credits", cost });
    await publish({ reach: "now" });
  };
  const costAt = async (turn: 0 | 1): Promise<unknown> => {
    const body = { customerId: "ada", feature: "image.render" };
    return (await post(`${urls[turn]}/v1/check`, project.test.key.secret, body)).body["creditsRequired"];
  };
  const lose = await rememberCatalog(database);
  await publishAt(20);
  const [before] = await database.query("select max(id) as id from cell.plan_versions");
  expect(await costAt(0)).toBe(20);
  await lose();
  await publishAt(30);
  const [after] = await database.query("select max(id) as id from cell.plan_versions");
  expect(after).toEqual(before);
  expect([await costAt(0), await costAt(1)]).toEqual([30, 30]);
});
