import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

const RENDER = { name: "Render", unit: "image", cost: { credits: 25, per: 1 } };

async function etagOf({ manage }: Managed, path: string): Promise<string> {
  return (await manage("GET", path)).headers.get("etag") ?? "";
}

test("a feature can be created, read with its plans, edited with its ETag, and listed", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const made = await manage("PUT", "features/audio.mix", { body: { name: "Mixing", cost: { credits: 2 } } });
  expect([made.status, made.body]).toEqual([
    200,
    {
      key: "audio.mix",
      name: "Mixing",
      unit: null,
      pool: "credits",
      cost: { credits: 2, per: 1 },
      archivedAt: null,
      usedBy: [],
    },
  ]);
  expect(made.headers.get("etag")).toBe(await etagOf(managed, "features/audio.mix"));
  const headers = { "if-match": await etagOf(managed, "features/image.render") };
  const changed = await manage("PUT", "features/image.render", { body: RENDER, headers });
  expect(changed.body).toMatchObject({ ...RENDER, usedBy: ["pro"] });
  const { body } = await manage("GET", "features?limit=2");
  const next = await manage("GET", `features?limit=200&cursor=${body["nextCursor"]}`);
  const keys = [body, next.body].flatMap(({ items }) => (items as { key: string }[]).map(({ key }) => key));
  expect(keys).toEqual(["audio.mix", "export", "image.render", "text.generate", "video.render"]);
  expect(next.body["nextCursor"]).toBeNull();
});

test("an edit of a feature is rejected without If-Match, with an old ETag, or with If-None-Match", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const put = async (headers: Record<string, string>, body: object = RENDER) =>
    (await manage("PUT", "features/image.render", { body, headers })).body["code"] ?? "done";
  const old = await etagOf(managed, "features/image.render");
  expect(await put({})).toBe("precondition_required");
  expect(await put({ "if-none-match": "*" })).toBe("changed_meanwhile");
  expect(await put({ "if-match": old.slice(1, -1) })).toBe("changed_meanwhile");
  expect(await put({ "if-match": `W/${old}` })).toBe("changed_meanwhile");
  expect(await put({ "if-match": `"other", ${old}` })).toBe("done");
  expect(await put({ "if-match": old })).toBe("changed_meanwhile");
  expect(await put({ "if-match": "*" }, { ...RENDER, name: "By force" })).toBe("done");
  const made = await manage("PUT", "features/new", { body: RENDER, headers: { "if-match": "*" } });
  expect(made.body["code"]).toBe("changed_meanwhile");
  const [audit] = await database.query(
    "select before, after, actor_kind, request_id from cell.audit where action = 'feature.defined' order by id desc limit 1",
  );
  expect(audit).toMatchObject({
    before: { key: "image.render", name: "Render", archived: false },
    after: { name: "By force" },
    actor_kind: "token",
    request_id: expect.stringMatching(/^req_/),
  });
});

test("if ten concurrent edits use the same ETag, one succeeds and nine get 412", async () => {
  const managed = await setupManage();
  const headers = { "if-match": await etagOf(managed, "features/image.render") };
  const replies = await Promise.all(
    times(10, (i) =>
      managed.manage("PUT", "features/image.render", { body: { ...RENDER, name: `Editor ${i}` }, headers }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...times(9, () => 412)]);
  const winner = replies.find(({ status }) => status === 200)?.body["name"];
  expect((await managed.manage("GET", "features/image.render")).body["name"]).toBe(winner);
});

test("an archived feature cannot be added to a plan, but stays in plans that include it", async () => {
  const { manage, check } = await setupManage();
  const archived = await manage("POST", "features/image.render/archive");
  expect(archived.body).toMatchObject({ usedBy: ["pro"], archivedAt: expect.any(String) });
  expect((await manage("POST", "features/image.render/archive", { body: {} })).body).toEqual(archived.body);
  expect((await check({ customerId: "ada", feature: "image.render" })).body["allowed"]).toBe(true);
  const draft = { name: "Plan", allowances: [], features: [{ feature: "image.render" }] };
  const fresh = await manage("PUT", "plans/fresh/draft", { body: draft });
  expect([fresh.status, fresh.body["code"]]).toEqual([422, "unknown_key"]);
  expect(fresh.body["detail"]).toContain("`image.render`");
  expect((await manage("PUT", "plans/pro/draft", { body: draft })).status).toBe(200);
  expect((await manage("POST", "plans/pro/publish", { body: { reach: "now" } })).status).toBe(200);
  expect((await manage("GET", "features?archived=true")).body["items"]).toMatchObject([
    { key: "image.render" },
  ]);
  const back = await manage("POST", "features/image.render/archive", { body: { archived: false } });
  expect(back.body["archivedAt"]).toBeNull();
  expect((await manage("PUT", "plans/fresh/draft", { body: draft })).status).toBe(200);
});

test("a pool can be created and renamed, and a feature with a missing pool is rejected with the pool's name", async () => {
  const { manage, project } = await setupManage();
  const live = `/manage/v1/projects/${project.projectId}/live`;
  expect((await manage("GET", `${live}/pools`)).body["items"]).toEqual([
    { key: "credits", name: "Credits", lowBalances: [] },
  ]);
  const feature = { name: "Speech", pool: "seconds", cost: { credits: 1 } };
  const refused = await manage("PUT", "features/speech", { body: feature });
  expect([refused.status, refused.body["code"], refused.body["detail"]]).toEqual([
    422,
    "unknown_key",
    "There is no pool `seconds` in this environment.",
  ]);
  expect((await manage("PUT", "pools/seconds", { body: { name: "Secs" } })).body["name"]).toBe("Secs");
  expect((await manage("PUT", "pools/seconds", { body: { name: "Seconds" } })).status).toBe(200);
  expect((await manage("PUT", "features/speech", { body: feature })).body["pool"]).toBe("seconds");
  expect((await manage("GET", "pools")).body["items"]).toEqual([
    { key: "credits", name: "Credits", lowBalances: [] },
    { key: "seconds", name: "Seconds", lowBalances: [] },
  ]);
  expect((await manage("GET", `${live}/features/speech`)).body["code"]).toBe("not_found");
  expect((await manage("POST", `${live}/features/speech/archive`)).body["code"]).toBe("not_found");
});
