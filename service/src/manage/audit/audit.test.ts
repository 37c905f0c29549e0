import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { join } from "../../../test/members.ts";

const AUDIT = "/manage/v1/audit";

type Item = {
  id: string;
  recordedAt: string;
  actor: { kind: string; id: string | null; name: string | null };
  action: string;
  subject: string;
  projectId: string | null;
  environment: string | null;
  customerId: string | null;
  requestId: string | null;
};

/** Reads all pages of the audit log. Returns the entries and the number of pages. */
async function readAll(
  { manage }: Managed,
  path: string,
  query = "",
): Promise<{ items: Item[]; pages: number }> {
  const items: Item[] = [];
  for (let cursor = "", pages = 1; ; pages++) {
    const reply = await manage("GET", `${path}?${query}${cursor}`);
    expect(reply.status, reply.text).toBe(200);
    items.push(...(reply.body["items"] as Item[]));
    if (reply.body["nextCursor"] === null) return { items, pages };
    cursor = `&cursor=${reply.body["nextCursor"]}`;
  }
}

const actionsOf = ({ items }: { items: Item[] }): string[] => items.map(({ action }) => action);

/** Makes alternating changes in the control plane, the test environment and a second project. */
async function doMuch({ manage }: Managed): Promise<void> {
  const made = await manage("POST", "/manage/v1/projects", { body: { name: "Second" } });
  const { id } = made.body["project"] as { id: string };
  for (const i of [1, 2, 3, 4]) {
    await manage("PUT", `customers/c${i}`, { body: { name: `Company ${i}` } });
    await manage("POST", "api-keys", { body: { name: `Key ${i}`, scopes: ["check"] } });
    await manage("PUT", `/manage/v1/projects/${id}/live/customers/c${i}`, { body: { name: "Other" } });
    await manage("PATCH", "/manage/v1/workspace", { body: { name: `Name ${i}` } });
  }
}

test("both audit tables form one list, newest first, without gaps or duplicates at any page size", async () => {
  const managed = await setupManage();
  await doMuch(managed);
  const { database } = managed;
  const total = (await database.count("control.audit")) + (await database.count("cell.audit"));
  const whole = await readAll(managed, AUDIT, "limit=200");
  expect(whole.items).toHaveLength(total);
  const ids = whole.items.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort().reverse());
  expect(actionsOf(whole).slice(0, 4)).toEqual([
    "workspace.changed",
    "customer.created",
    "api_key.created",
    "customer.created",
  ]);
  for (const limit of [1, 3, 7, total - 1, total]) {
    const paged = await readAll(managed, AUDIT, `limit=${limit}`);
    expect(paged.items).toEqual(whole.items);
    expect(paged.pages).toBe(Math.ceil(total / limit));
  }
});

test("audit entries show actor, action and scope, and keep the actor's name after a member or token is removed", async () => {
  const managed = await setupManage();
  const { manage, project } = managed;
  const ada = await join(managed, "admin", "ada");
  const made = await ada.call("POST", `${managed.here}/api-keys`, { name: "Hers", scopes: ["check"] });
  await manage("PUT", "customers/acme", { body: { name: "Acme" } });
  await manage("DELETE", `/manage/v1/members/${ada.id}`);
  const { items } = await readAll(managed, AUDIT);
  const here = { projectId: String(project.projectId), environment: "test" };
  expect(items.find(({ subject }) => subject === "Hers")).toMatchObject({
    action: "api_key.created",
    actor: { kind: "member", id: ada.id, name: "ada" },
    ...here,
    customerId: null,
    requestId: made.headers.get("x-request-id"),
    after: { name: "Hers", scopes: ["check"] },
  });
  expect(items.find(({ customerId }) => customerId === "acme")).toMatchObject({
    action: "customer.created",
    actor: { kind: "token", name: "The owner's" },
    ...here,
  });
  expect(items[0]).toMatchObject({ action: "member.removed", projectId: null, environment: null });
});

test("audit entries can be filtered by scope, actor, action, customer and time", async () => {
  const managed = await setupManage();
  const { project } = managed;
  await doMuch(managed);
  const ada = await join(managed, "admin", "ada");
  await ada.call("PUT", `${managed.here}/customers/c2`, { name: "Hers" });
  const scope = `projectId=${project.projectId}&environment=test`;
  const test = await readAll(managed, AUDIT, scope);
  expect(test.items.every(({ environment }) => environment === "test")).toBe(true);
  expect(actionsOf(test)).toContain("api_key.created");
  expect(actionsOf(await readAll(managed, AUDIT, `${scope}&action=api_key.`))).toEqual(
    Array(5).fill("api_key.created"),
  );
  const hers = await readAll(managed, AUDIT, `actor=member:${ada.id}`);
  expect(actionsOf(hers).sort()).toEqual(["customer.changed", "member.joined", "member.signed_in"]);
  expect(actionsOf(await readAll(managed, AUDIT, "action=workspace&limit=1"))).toHaveLength(4);
  expect(actionsOf(await readAll(managed, AUDIT, "action=_orkspace"))).toEqual([]);
  expect(actionsOf(await readAll(managed, AUDIT, "actor=system&action=member."))).toEqual(["member.created"]);
  const c2 = await readAll(managed, AUDIT, "customerId=c2&limit=1");
  expect(c2.items.map(({ environment, customerId }) => [environment, customerId])).toEqual([
    ["test", "c2"],
    ["live", "c2"],
    ["test", "c2"],
  ]);
  expect(await readAll(managed, AUDIT, `${scope}&customerId=c2&actor=member:${ada.id}`)).toMatchObject({
    items: [{ action: "customer.changed" }],
  });
  const { recordedAt } = c2.items[0] as Item;
  const [from, to] = [`from=${recordedAt}`, `to=${recordedAt}`];
  const [since, until] = [await readAll(managed, AUDIT, from), await readAll(managed, AUDIT, to)];
  expect(since.items.at(-1)?.id).toBe(c2.items[0]?.id);
  expect(since.items.length + until.items.length).toBe((await readAll(managed, AUDIT)).items.length);
  expect((await readAll(managed, AUDIT, `${from}&${to}`)).items).toEqual([]);
});

test("invalid audit filters are rejected, and another workspace's environment is not found", async () => {
  const { manage, project } = await setupManage();
  const statusOf = async (query: string) => (await manage("GET", `${AUDIT}?${query}`)).status;
  for (const query of [
    "cursor=nonsense",
    `cursor=${Buffer.from('["nonsense"]').toString("base64url")}`,
    "actor=ada",
    "actor=member:0",
    "from=yesterday",
    "to=2026-01-01T00:00:00",
    `projectId=${project.projectId}`,
    "environment=test",
    "limit=201",
    "unknown=1",
  ]) {
    expect([query, await statusOf(query)]).toEqual([query, 400]);
  }
  expect(await statusOf("projectId=99&environment=test")).toBe(404);
  expect(await statusOf("customerId=nobody")).toBe(200);
  expect(await statusOf("from=1000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z")).toBe(200);
});

test("a token for one environment reads only that environment's audit entries", async () => {
  const managed = await setupManage();
  const { manage, project } = managed;
  await doMuch(managed);
  const body = {
    name: "Narrow",
    role: "viewer",
    projectId: String(project.projectId),
    environment: "test",
  };
  const { secret } = (await manage("POST", "/manage/v1/tokens", { body })).body as { secret: string };
  const narrow = await manage("GET", "audit?limit=200", { token: secret });
  const items = narrow.body["items"] as Item[];
  expect(items[0]).toMatchObject({ action: "token.created", subject: "Narrow", environment: "test" });
  expect(items.every(({ environment }) => environment === "test")).toBe(true);
  const scope = `projectId=${project.projectId}&environment=test`;
  expect(items).toEqual((await readAll(managed, AUDIT, `${scope}&limit=200`)).items);
  expect((await manage("GET", AUDIT, { token: secret })).status).toBe(403);
  const live = managed.here.replace("test", "live/audit");
  expect((await manage("GET", live, { token: secret })).status).toBe(404);
});

test("audit entries about an erased customer remain without identifying them", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await manage("PUT", "customers/gone", { body: { name: "Gone" } });
  const before = await readAll(managed, AUDIT, "customerId=gone");
  expect(before.items).toHaveLength(1);
  await database.query(
    "update cell.customers set erased_at = now(), customer_id = 'x' where customer_id = 'gone'",
  );
  expect((await readAll(managed, AUDIT, "customerId=gone")).items).toEqual([]);
  const { items } = await readAll(managed, AUDIT);
  expect(items.find(({ id }) => id === before.items[0]?.id)).toMatchObject({ customerId: null });
});

test("an audit filter with few matches returns short pages, and following the cursors finds all matches", async () => {
  const managed = await setupManage();
  const { database } = managed;
  // Inserts 2,500 entries into each schema. Every 1,000th entry matches.
  for (const [schema, owner] of [
    ["control", "workspace_id"],
    ["cell", "environment_id"],
  ]) {
    await database.query(`
      insert into ${schema}.audit (${owner}, id, recorded_at, actor_kind, action, subject)
      select 1, (lpad(to_hex(i), 12, '0') || '70008000000000000000')::uuid, to_timestamp(i / 1000.0), 'system',
        case when i % 1000 = 0 then 'rare.thing' else 'common.thing' end, '${schema}'
      from generate_series(1, 2500) as i`);
  }
  const rare = await readAll(managed, AUDIT, "action=rare.&limit=10");
  expect(rare.items.map(({ subject }) => subject).sort()).toEqual(["cell", "cell", "control", "control"]);
  expect(rare.pages).toBeGreaterThan(1);
  const ids = rare.items.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort().reverse());
});
