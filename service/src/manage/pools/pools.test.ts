import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
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

test("renaming a pool is audited with its old and new names", async () => {
  const { cell, context, database } = await setupCredits();
  const read = () => database.query("select id from cell.pools where key = 'seconds'");
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  const first = await read();
  await definePool(cell, context, { key: "seconds", name: "Speech" });
  expect(await read()).toEqual(first);
  const [audit] = await database.query(
    "select actor_id, before, after from cell.audit where action = 'pool.defined' order by id desc limit 1",
  );
  expect(audit).toEqual({
    actor_id: "ada",
    before: { key: "seconds", name: "Seconds" },
    after: { key: "seconds", name: "Speech" },
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

test("concurrent first edits of a catalog create one catalog and one pool", async () => {
  const { cell, context, project, database } = await setupCredits();
  const live = { ...context, environmentId: project.live.environmentId };
  await Promise.all(times(8, (i) => definePool(cell, live, { key: `pool-${i}`, name: "Pool" })));
  expect(await database.count("cell.catalogs")).toBe(2);
  expect(await database.count("cell.pools", `environment_id = ${live.environmentId}`)).toBe(9);
});
