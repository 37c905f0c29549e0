import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

const LIVE = "/manage/v1/projects/1/live";

/** Inserts features as if they had been created one by one. */
async function addFeatures({ database, context }: Managed, count: number): Promise<string[]> {
  const keys = times(count, (i) => `feature.${i}`);
  await database.query(
    `insert into cell.features (environment_id, key, name, pool_id, cost_credits, cost_per)
     select $1, key, 'Feature', (select id from cell.pools where environment_id = $1), 1, 1
     from unnest($2::text[]) as key`,
    [context.environmentId, keys],
  );
  await database.query("update cell.catalogs set version = version + 1");
  return keys;
}

test("a catalog of the maximum size can be exported and applied to another environment", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const keys = await addFeatures(managed, 1_200);
  const features = keys.map((feature) => ({ feature, limit: { quantity: 1_000_000, period: "month" } }));
  for (const key of times(12, (i) => `large-${i}`)) {
    const drafted = await manage("PUT", `plans/${key}/draft`, {
      body: { name: "Large", allowances: [], features },
    });
    expect(drafted.status).toBe(200);
    expect((await manage("POST", `plans/${key}/publish`, { body: { reach: "now" } })).status).toBe(200);
  }
  const exported = await manage("GET", "catalog");
  expect(exported.text.length).toBeGreaterThan(1024 * 1024);
  const body = { catalog: exported.body, reach: "now" };
  const applied = await manage("POST", `${LIVE}/catalog/apply`, { body });
  expect([applied.status, applied.body["outcome"]]).toEqual([200, "applied"]);
  expect((await manage("GET", `${LIVE}/catalog`)).text).toBe(exported.text);
}, 60_000);

test("every edit that exceeds the catalog's limits is rejected", async () => {
  const managed = await setupManage();
  const { manage, database, context } = managed;
  const [known] = await database.query(
    "select count(*)::integer as n from cell.features where environment_id = $1",
    [context.environmentId],
  );
  await addFeatures(managed, 2_000 - Number(known?.["n"]));
  const cost = { credits: 1 };
  const one = await manage("PUT", "features/one.more", { body: { name: "One", cost } });
  const file = { features: [{ key: "one.more", name: "One", cost }] };
  const applied = await manage("POST", "catalog/apply", { body: { catalog: file, reach: "now" } });
  for (const refused of [one, applied]) {
    expect([refused.status, refused.body["code"]]).toEqual([409, "catalog_too_large"]);
  }
  expect((await manage("GET", "features/one.more")).status).toBe(404);

  const draft = { name: "Pro", allowances: [], features: [{ feature: "image.render" }] };
  await manage("PUT", "plans/other/draft", { body: draft });
  await database.query("update cell.plans set document_bytes = 32 * 1024 * 1024 - 1000");
  const published = await manage("POST", "plans/other/publish", { body: { reach: "now" } });
  expect([published.status, published.body["code"]]).toEqual([409, "catalog_too_large"]);
  expect(published.body["detail"]).toContain("33554432");

  const tooLarge = await manage("POST", "catalog/diff", {
    body: { catalog: {}, more: "x".repeat(33_700_000) },
  });
  expect([tooLarge.status, tooLarge.body["code"]]).toEqual([413, "body_too_large"]);
}, 60_000);
