import { expect, test } from "vitest";
import type { Reply } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

const LIVE = "/manage/v1/projects/1/live";

type Listed = { noun: string; key: string; change: string; before: unknown; after: unknown };

/** Lists the changed items as `change noun key`. */
function changesOf({ body }: Reply): string[] {
  return (body["changes"] as Listed[])
    .filter(({ change }) => change !== "unchanged")
    .map(({ change, noun, key }) => `${change} ${noun} ${key}`);
}

/** Creates a catalog with a second pool, an archived plan and feature, an event key, a default plan, and an older pinned cost. */
async function furnish({ manage, publish }: Managed): Promise<void> {
  const put = async (path: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
    expect((await manage("PUT", path, { body, headers })).status).toBe(200);
  };
  await put("pools/seconds", { name: "Seconds", lowBalances: [5, 50] });
  await put("features/speech", { name: "Speech", unit: "second", pool: "seconds", cost: { credits: 2 } });
  await publish({
    key: "talk",
    name: "Talk",
    allowances: [{ pool: "seconds", credits: 60, period: "once", rollover: 0, overage: 0 }],
    features: [
      { feature: "speech", limit: { quantity: 0, period: "year" } },
      { feature: "image.render", limit: null },
    ],
  });
  await put("event-keys/Seiten%20gelesen", { name: "Pages", unit: "page" });
  await put("default-plan", { plan: "pro" });
  const moved = { name: "Speech", unit: "second", cost: { credits: 7, per: 3 } };
  await put("features/speech", moved, { "if-match": "*" });
  await manage("POST", "features/speech/archive");
  await manage("POST", "plans/talk/archive");
}

test("a catalog applied to another environment is exported from there as the same document", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await furnish(managed);
  const exported = await manage("GET", "catalog");
  expect(exported.body).toMatchObject({
    pools: [
      { key: "credits", lowBalances: [] },
      { key: "seconds", name: "Seconds", lowBalances: [50, 5] },
    ],
    features: [
      { key: "export" },
      { key: "image.render", unit: null, pool: "credits", cost: { credits: 10, per: 1 } },
      { key: "speech", unit: "second", pool: "credits", cost: { credits: 7, per: 3 }, archived: true },
      { key: "text.generate" },
      { key: "video.render" },
    ],
    plans: [
      { key: "pro", features: [{ feature: "export" }, { feature: "image.render" }, {}] },
      {
        key: "talk",
        archived: true,
        allowances: [{ pool: "seconds", credits: 60, period: "once", rollover: 0, overage: 0 }],
        features: [
          { feature: "image.render", limit: null },
          {
            feature: "speech",
            limit: { quantity: 0, period: "year" },
            pinned: { pool: "seconds", cost: { credits: 2, per: 1 } },
          },
        ],
      },
    ],
    eventKeys: [{ key: "Seiten gelesen", name: "Pages", unit: "page" }],
    defaultPlan: "pro",
  });
  expect(exported.text).not.toContain('"archived":false');
  const body = { catalog: exported.body, reach: "now" };
  const compared = await manage("POST", `${LIVE}/catalog/diff`, { body });
  const applied = await manage("POST", `${LIVE}/catalog/apply`, { body });
  expect(applied.body).toEqual({ outcome: "applied", version: 1, changes: compared.body["changes"] });
  expect((await manage("GET", `${LIVE}/catalog`)).text).toBe(exported.text);
  // The plan keeps its pinned cost, although the feature's cost has changed.
  expect((await manage("GET", `${LIVE}/plans/talk`)).body["versions"]).toMatchObject([
    { number: 1, features: [{}, { feature: "speech", pool: "seconds", cost: { credits: 2, per: 1 } }] },
  ]);

  const state = () =>
    database.query(
      "select version, changed_at, (select count(*) from cell.audit), (select count(*) from cell.plan_versions) from cell.catalogs order by environment_id",
    );
  const before = await state();
  for (const path of ["catalog/apply", `${LIVE}/catalog/apply`]) {
    const again = await manage("POST", path, { body });
    expect([again.body["outcome"], changesOf(again)]).toEqual(["unchanged", []]);
  }
  expect(await state()).toEqual(before);
});

test("applying a changed file updates only the items in it, and publishes plans with the requested reach", async () => {
  const managed = await setupManage();
  const { manage, check, database } = managed;
  const catalog = {
    features: [{ key: "image.render", name: "Rendering", cost: { credits: 20 } }],
    plans: [
      {
        key: "pro",
        name: "Pro",
        allowances: [{ credits: 500, period: "month" }],
        features: [{ feature: "image.render" }],
      },
      { key: "free", name: "Free", allowances: [], features: [{ feature: "image.render" }] },
    ],
    defaultPlan: "free",
  };
  const applied = await manage("POST", "catalog/apply", { body: { catalog, reach: "now" } });
  expect(changesOf(applied)).toEqual([
    "change feature image.render",
    "create plan free",
    "change plan pro",
    "change default_plan default_plan",
  ]);
  const [change] = (applied.body["changes"] as Listed[]).filter(({ key }) => key === "pro");
  expect(change).toMatchObject({
    before: { features: [{}, { feature: "image.render", cost: { credits: 10, per: 1 } }, {}] },
    after: { features: [{ feature: "image.render", limit: null, cost: { credits: 20, per: 1 } }] },
  });
  const answer = await check({ customerId: "ada", feature: "image.render" });
  expect(answer.body).toMatchObject({ creditsRequired: 20, balance: 500 });
  expect((await manage("GET", "features/video.render")).body["archivedAt"]).toBeNull();
  const audits = await database.query(
    "select action, request_id from cell.audit where request_id = $1 order by action",
    [applied.headers.get("x-request-id")],
  );
  expect(audits.map(({ action }) => action)).toEqual([
    "default_plan.set",
    "feature.defined",
    "plan.published",
    "plan.published",
  ]);
  // A new name does not create a version.
  const renamed = { plans: catalog.plans.map((plan) => ({ ...plan, name: "Renamed" })) };
  await manage("POST", "catalog/apply", { body: { catalog: renamed, reach: "now" } });
  expect((await manage("GET", "plans/pro")).body).toMatchObject({
    name: "Renamed",
    versions: [{ number: 2 }, { number: 1 }],
  });
});

test("with `archiveMissing`, items missing from a list in the file are archived", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await furnish(managed);
  const apply = (catalog: object) =>
    manage("POST", "catalog/apply", { body: { catalog, reach: "now", archiveMissing: true } });
  expect(changesOf(await apply({ pools: [], eventKeys: [] }))).toEqual([]);
  const features = [{ key: "export", name: "export", cost: { credits: 0 } }];
  expect(changesOf(await apply({ features }))).toEqual([
    "archive feature image.render",
    "archive feature text.generate",
    "archive feature video.render",
  ]);
  const refused = await apply({ plans: [] });
  expect([refused.status, refused.body["code"]]).toEqual([409, "in_use"]);
  expect(changesOf(await apply({ plans: [], defaultPlan: null }))).toEqual([
    "archive plan pro",
    "change default_plan default_plan",
  ]);
  // A file that lists an archived plan with `archived: false` unarchives it.
  const { body } = await manage("GET", "catalog");
  const plans = (body["plans"] as object[]).map((plan) => ({ ...plan, archived: false }));
  expect(changesOf(await apply({ plans, defaultPlan: "pro" }))).toEqual([
    "change plan pro",
    "change plan talk",
    "change default_plan default_plan",
  ]);
});

test.each([
  ["a feature's pool", { features: [{ key: "f", name: "F", pool: "x", cost: { credits: 1 } }] }, "pool `x`"],
  [
    "an allowance's pool",
    {
      plans: [{ key: "p", name: "P", allowances: [{ pool: "x", credits: 1, period: "day" }], features: [] }],
    },
    "pool `x`",
  ],
  [
    "a plan's feature",
    { plans: [{ key: "p", name: "P", allowances: [], features: [{ feature: "x" }] }] },
    "feature `x`",
  ],
  [
    "a pinned pool",
    {
      plans: [
        {
          key: "p",
          name: "P",
          allowances: [],
          features: [{ feature: "export", pinned: { pool: "x", cost: { credits: 1 } } }],
        },
      ],
    },
    "pool `x`",
  ],
  ["the default plan", { defaultPlan: "x" }, "plan `x`"],
])("a file is rejected as a whole if %s does not exist", async (_name, catalog, named) => {
  const { manage } = await setupManage();
  const before = await manage("GET", "catalog");
  const body = { catalog: { ...catalog, pools: [{ key: "new", name: "New" }] }, reach: "now" };
  for (const path of ["catalog/diff", "catalog/apply"]) {
    const refused = await manage("POST", path, { body });
    expect([refused.status, refused.body["code"]]).toEqual([422, "unknown_key"]);
    expect(refused.body["detail"]).toContain(named);
  }
  expect((await manage("GET", "catalog")).text).toBe(before.text);
});

test("if several files are applied to the same catalog version concurrently, exactly one is applied in full", async () => {
  const { manage } = await setupManage();
  const { body: seen } = await manage("POST", "catalog/diff", { body: { catalog: {} } });
  const replies = await Promise.all(
    times(8, (i) => {
      const pools = [
        { key: "a", name: `Pool ${i}` },
        { key: "b", name: `Pool ${i}` },
      ];
      const body = { catalog: { pools }, reach: "now", expectedVersion: seen["version"] };
      return manage("POST", "catalog/apply", { body });
    }),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...times(7, () => 412)]);
  const [a, b] = (await manage("GET", "pools")).body["items"] as { name: string }[];
  expect(a?.name).toBe(b?.name);
});
