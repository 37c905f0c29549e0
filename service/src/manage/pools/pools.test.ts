import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { times } from "../../../test/two-services.ts";
import { definePool } from "./define-pool.ts";

test("an environment starts with one pool, and a further one has a balance of its own", async () => {
  const { cell, context, database } = await setupCredits();
  const keys = async (): Promise<unknown[]> =>
    (await database.query("select key from cell.pools order by id")).map(({ key }) => key);
  expect(await keys()).toEqual(["credits"]);
  await definePool(cell, context, { key: "seconds", name: "Seconds" });
  expect(await keys()).toEqual(["credits", "seconds"]);
});

test("defining a pool again renames it, and is audited with before and after", async () => {
  const { cell, context, database } = await setupCredits();
  const first = await definePool(cell, context, { key: "seconds", name: "Seconds" });
  expect(await definePool(cell, context, { key: "seconds", name: "Speech" })).toBe(first);
  const [audit] = await database.query(
    "select actor_id, before, after from cell.audit where action = 'pool.defined' order by id desc limit 1",
  );
  expect(audit).toEqual({
    actor_id: "ada",
    before: { id: first, key: "seconds", name: "Seconds" },
    after: { key: "seconds", name: "Speech" },
  });
});

test("a pool defined ten times at once is one pool, and the catalog's version counts each edit", async () => {
  const { cell, context, database } = await setupCredits();
  const version = async (): Promise<number> =>
    Number((await database.query("select version from cell.catalogs"))[0]?.["version"]);
  const before = await version();
  const ids = await Promise.all(
    times(10, () => definePool(cell, context, { key: "seconds", name: "Seconds" })),
  );
  expect(new Set(ids).size).toBe(1);
  expect(await version()).toBe(before + 10);
  expect(await database.count("cell.pools")).toBe(2);
});

test("the first edits of an environment at once make one catalog and one first pool", async () => {
  const { cell, context, project, database } = await setupCredits();
  const live = { ...context, environmentId: project.live.environmentId };
  await Promise.all(times(8, (i) => definePool(cell, live, { key: `pool-${i}`, name: "Pool" })));
  expect(await database.count("cell.catalogs")).toBe(2);
  expect(await database.count("cell.pools", `environment_id = ${live.environmentId}`)).toBe(9);
});
