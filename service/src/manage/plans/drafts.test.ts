import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

const DRAFT = {
  name: "Professional",
  allowances: [{ credits: 300, period: "month", rollover: 1, overage: 0 }],
  features: [
    { feature: "video.render", limit: { quantity: 3, period: "week" } },
    { feature: "image.render", limit: { quantity: 9, period: "day" } },
    { feature: "export", limit: { quantity: 5, period: "day" } },
  ],
};

const etagOf = async ({ manage }: Managed, path = "plans/pro"): Promise<string> =>
  (await manage("GET", path)).headers.get("etag") ?? "";

/** Sets the cost of image.render to 25. */
async function raisePrice(managed: Managed): Promise<void> {
  const headers = { "if-match": await etagOf(managed, "features/image.render") };
  const body = { name: "Render", cost: { credits: 25 } };
  expect((await managed.manage("PUT", "features/image.render", { body, headers })).status).toBe(200);
}

test("a draft can be saved, compared, replaced with the plan's ETag, and published", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const begun = await manage("PUT", "plans/pro/draft", { body: { ...DRAFT, name: "Pro" } });
  expect(begun.body).toMatchObject({
    name: "Pro",
    isDefault: false,
    versions: [{ number: 1 }],
    draft: {
      allowances: [{ pool: "credits", credits: 300, period: "month", rollover: 1, overage: 0 }],
      features: [{ feature: "export" }, { feature: "image.render" }, { feature: "video.render" }],
    },
  });
  expect(begun.headers.get("etag")).toBe(await etagOf(managed));
  expect((await manage("PUT", "plans/pro/draft", { body: DRAFT })).body["code"]).toBe(
    "precondition_required",
  );
  const headers = { "if-match": begun.headers.get("etag") ?? "" };
  expect((await manage("PUT", "plans/pro/draft", { body: DRAFT, headers })).status).toBe(200);
  await raisePrice(managed);
  const allowance = { pool: "credits", period: "month" };
  const diff = await manage("GET", "plans/pro/diff");
  expect(diff.body).toEqual({
    catalogVersion: expect.any(Number),
    latest: 1,
    name: { before: "Pro", after: "Professional" },
    allowances: {
      added: [],
      removed: [],
      changed: [
        {
          pool: "credits",
          before: { ...allowance, credits: 100, rollover: 0, overage: 0 },
          after: { ...allowance, credits: 300, rollover: 1, overage: 0 },
        },
      ],
    },
    features: {
      added: [
        {
          feature: "video.render",
          pool: "credits",
          cost: { credits: 50, per: 1 },
          limit: { quantity: 3, period: "week" },
        },
      ],
      removed: [{ feature: "text.generate", pool: "credits", cost: { credits: 3, per: 1000 }, limit: null }],
    },
    limits: [{ feature: "image.render", before: null, after: { quantity: 9, period: "day" } }],
    costs: [
      {
        feature: "image.render",
        before: { pool: "credits", cost: { credits: 10, per: 1 } },
        after: { pool: "credits", cost: { credits: 25, per: 1 } },
      },
    ],
    customersOnPlan: { count: 1, isExact: true },
  });
  const published = await manage("POST", "plans/pro/publish", { body: { reach: "now" } });
  expect(published.body).toMatchObject({
    name: "Professional",
    draft: null,
    versions: [{ number: 2, reach: "now" }, { number: 1 }],
  });
  expect(published.body["versions"]).toMatchObject([
    { features: [{}, { feature: "image.render", cost: { credits: 25, per: 1 } }, {}] },
    { features: [{}, { feature: "image.render", cost: { credits: 10, per: 1 } }, {}] },
  ]);
  for (const [method, path] of [
    ["POST", "publish"],
    ["GET", "diff"],
    ["DELETE", "draft"],
  ] as const) {
    const body = method === "POST" ? { body: { reach: "now" } } : {};
    expect((await manage(method, `plans/pro/${path}`, body)).body["code"]).toBe("not_found");
  }
  const actions = await database.query(
    "select action, request_id is not null as has_request from cell.audit where action like 'plan%' order by recorded_at desc limit 3",
  );
  expect(actions).toEqual(
    ["plan.published", "plan_draft.saved", "plan_draft.saved"].map((action) => ({
      action,
      has_request: true,
    })),
  );
});

test("an unpublished plan is listed, cannot be assigned, and is deleted with its draft", async () => {
  const { manage, database } = await setupManage();
  const version = async () => (await database.query("select version from cell.catalogs"))[0];
  const before = await version();
  expect((await manage("PUT", "plans/new/draft", { body: DRAFT })).status).toBe(200);
  expect((await manage("GET", "plans")).body["items"]).toMatchObject([
    { key: "new", latest: null, hasDraft: true },
    { key: "pro", latest: { number: 1 }, hasDraft: false },
  ]);
  expect((await manage("GET", "plans/new/diff")).body).toMatchObject({
    latest: null,
    customersOnPlan: { count: 0, isExact: true },
  });
  const body = { plan: "new" };
  const bulk = { ...body, filter: {} };
  for (const refused of [
    await manage("PUT", "default-plan", { body }),
    await manage("POST", "customers/bob/plan", { body }),
    await manage("POST", "bulk-assignments/preview", { body: bulk }),
    await manage("POST", "bulk-assignments", { body: { ...bulk, expectedCount: 1 } }),
  ])
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "unknown_key", detail: expect.stringContaining("no published version. Publish it") },
    });
  expect((await manage("POST", "plans/new/archive")).body["code"]).toBe("not_found");
  expect((await manage("DELETE", "plans/new/draft")).body).toEqual({ outcome: "discarded" });
  expect((await manage("GET", "plans/new")).status).toBe(404);
  // Drafts do not make processes reload the catalog.
  expect(await version()).toEqual(before);
});

test("if concurrent edits of a draft use the same ETag, only one succeeds", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const write = (i: number, headers: Record<string, string>) =>
    manage("PUT", "plans/pro/draft", { body: { ...DRAFT, name: `Editor ${i}` }, headers });
  const begun = await Promise.all(times(6, (i) => write(i, {})));
  expect(begun.map(({ status }) => status).sort()).toEqual([200, ...times(5, () => 428)]);
  const headers = { "if-match": await etagOf(managed) };
  const replaced = await Promise.all(times(6, (i) => write(i + 10, headers)));
  expect(replaced.map(({ status }) => status).sort()).toEqual([200, ...times(5, () => 412)]);
  const winner = replaced.find(({ status }) => status === 200)?.body["draft"];
  expect((await manage("GET", "plans/pro")).body["draft"]).toEqual(winner);
});

test("publishing fails if the draft or a cost has changed since it was read", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await manage("PUT", "plans/pro/draft", { body: DRAFT });
  const seen = await etagOf(managed);
  const expectedVersion = (await manage("GET", "plans/pro/diff")).body["catalogVersion"];
  await raisePrice(managed);
  const publish = (body: object, headers: Record<string, string> = {}) =>
    manage("POST", "plans/pro/publish", { body: { reach: "now", ...body }, headers });
  expect((await publish({ expectedVersion })).body["code"]).toBe("changed_meanwhile");
  await manage("PUT", "plans/pro/draft", {
    body: { ...DRAFT, name: "Other" },
    headers: { "if-match": seen },
  });
  expect((await publish({}, { "if-match": seen })).body["code"]).toBe("changed_meanwhile");
  const latest = (await manage("GET", "plans/pro/diff")).body["catalogVersion"];
  const headers = { "if-match": await etagOf(managed) };
  expect((await publish({ expectedVersion: latest }, headers)).status).toBe(200);
});

test("a published version applies to new customers or to all customers, as requested", async () => {
  const { manage, check, assign } = await setupManage();
  const publish = async (credits: number, reach: string): Promise<void> => {
    const body = {
      name: "Pro",
      allowances: [{ credits, period: "month" }],
      features: [{ feature: "image.render" }],
    };
    expect((await manage("PUT", "plans/pro/draft", { body })).status).toBe(200);
    expect((await manage("POST", "plans/pro/publish", { body: { reach } })).status).toBe(200);
  };
  const balances = async (...customers: string[]): Promise<unknown[]> =>
    Promise.all(
      customers.map(
        async (customerId) => (await check({ customerId, feature: "image.render" })).body["balance"],
      ),
    );
  await publish(200, "new_assignments");
  await assign("bob");
  expect(await balances("ada", "bob")).toEqual([100, 200]);
  await publish(300, "next_period");
  await assign("cleo");
  expect(await balances("ada", "bob", "cleo")).toEqual([100, 200, 300]);
  await publish(400, "now");
  expect(await balances("ada", "bob", "cleo")).toEqual([400, 400, 400]);
});
