import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";
import { definePool } from "./operations.ts";

test("an environment starts with one pool, and a second pool has its own balance", async () => {
  const { cell, context, database } = await setupCredits();
  const keys = async (): Promise<unknown[]> =>
    (await database.query("select key from cell.pools order by id")).map(({ key }) => key);
  expect(await keys()).toEqual(["credits"]);
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  expect(await keys()).toEqual(["credits", "seconds"]);
});

test("an edit of a pool is audited with its old and new names and thresholds", async () => {
  const { cell, context, database } = await setupCredits();
  const read = () => database.query("select id from cell.pools where key = 'seconds'");
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  const first = await read();
  await definePool(cell, context, { key: "seconds", name: "Speech", lowBalances: [5, 60] });
  expect(await read()).toEqual(first);
  const [audit] = await database.query(
    "select actor_id, before, after from cell.audit where action = 'pool.defined' order by id desc limit 1",
  );
  expect(audit).toEqual({
    actor_id: "ada",
    before: { key: "seconds", name: "Seconds", lowBalances: [] },
    after: { key: "seconds", name: "Speech", lowBalances: [60, 5] },
  });
});

test("ten concurrent renames of a pool leave a single pool with that key, and each increments the catalog version", async () => {
  const { cell, context, database } = await setupCredits();
  const version = async (): Promise<number> =>
    Number((await database.query("select version from cell.catalogs"))[0]?.["version"]);
  const before = await version();
  await Promise.all(times(10, (i) => definePool(cell, context, { key: "seconds", name: `Seconds ${i}` })));
  expect(await version()).toBe(before + 10);
  expect(await database.count("cell.pools")).toBe(2);
});

test("redefining a pool without changes does not increment the catalog version", async () => {
  const { cell, context, database } = await setupCredits();
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  const read = () =>
    database.query("select version, changed_at, (select count(*) from cell.audit) from cell.catalogs");
  const before = await read();
  await Promise.all(times(5, () => definePool(cell, context, { key: "seconds", name: "Seconds" })));
  expect(await read()).toEqual(before);
});

test("a pool keeps its thresholds until a request names others, and shows them highest first", async () => {
  const { manage, database } = await setupManage();
  const put = async (body: object) =>
    (await manage("PUT", "pools/credits", { body: { name: "C", ...body } })).body;
  const pool = { key: "credits", name: "C" };
  expect(await put({})).toEqual({ ...pool, lowBalances: [] });
  expect(await put({ lowBalances: [10, 1_000_000_000_000, 100] })).toEqual({
    ...pool,
    lowBalances: [1_000_000_000_000, 100, 10],
  });
  const version = () => database.query("select version from cell.catalogs order by environment_id");
  const before = await version();
  expect(await put({ lowBalances: [100, 10, 1_000_000_000_000] })).toMatchObject({
    lowBalances: [1e12, 100, 10],
  });
  expect(await version()).toEqual(before);
  expect(await put({ name: "Renamed" })).toMatchObject({ name: "Renamed", lowBalances: [1e12, 100, 10] });
  expect((await manage("GET", "pools")).body["items"]).toMatchObject([{ lowBalances: [1e12, 100, 10] }]);
  expect(await put({ lowBalances: [] })).toMatchObject({ lowBalances: [] });
  expect((await manage("GET", "pools")).body["items"]).toEqual([{ ...pool, lowBalances: [] }]);
});

test("until the upgrade is finished, no pool can have thresholds", async () => {
  const { manage, database } = await setupManage();
  await database.query("update cell.identity set data_format = 1");
  const put = (lowBalances: number[]) =>
    manage("PUT", "pools/credits", { body: { name: "Renamed", lowBalances } });
  expect((await put([])).status).toBe(200);
  expect(await put([5])).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  const catalog = { pools: [{ key: "credits", name: "C", lowBalances: [5] }] };
  const applied = await manage("POST", "catalog/apply", { body: { catalog, reach: "now" } });
  expect(applied).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  expect((await manage("GET", "pools")).body["items"]).toMatchObject([{ name: "Renamed", lowBalances: [] }]);
});

test("concurrent first edits of a catalog create one catalog and one pool", async () => {
  const { cell, context, project, database } = await setupCredits();
  const live = { ...context, environmentId: project.live.environmentId };
  await Promise.all(times(8, (i) => definePool(cell, live, { key: `pool-${i}`, name: "Pool" })));
  expect(await database.count("cell.catalogs")).toBe(2);
  expect(await database.count("cell.pools", `environment_id = ${live.environmentId}`)).toBe(9);
});
