import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { cookieOf, setupManage } from "../../../test/manage.ts";
import { callerWith, join, logIn } from "../../../test/members.ts";

const MEMBERS = "/manage/v1/members";
const TOKENS = "/manage/v1/tokens";
const PASSWORD = "a-brand-new-password";

test("a repeated demotion revokes the API keys it names", async () => {
  const managed = await setupManage();
  const { manage, database, here } = managed;
  const adam = await join(managed, "admin", "adam");
  const made = await adam.call("POST", `${here}/api-keys`, { name: "K", scopes: ["check"] });
  const { id } = made.body["apiKey"] as { id: string };
  const demote = (body: object) =>
    manage("PATCH", `${MEMBERS}/${adam.id}`, { body: { role: "viewer", ...body } });
  expect((await demote({})).status).toBe(200);
  const foreign = String(managed.project.test.key.id);
  expect((await demote({ revokeApiKeys: [id, foreign] })).status).toBe(404);
  const isRevoked = `id = ${id} and revoked_at is not null`;
  expect(await database.count("control.api_keys", isRevoked)).toBe(0);
  for (let i = 0; i < 2; i++) expect((await demote({ revokeApiKeys: [id] })).status).toBe(200);
  expect(await database.count("control.api_keys", isRevoked)).toBe(1);
  expect(await database.count("control.audit", "action = 'api_key.revoked'")).toBe(1);
});

test("a member can create at most 500 active tokens, and a removal quickly revokes thousands of older tokens", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const adam = await join(managed, "admin", "adam");
  const first = await adam.call("POST", TOKENS, { name: "A", role: "admin", managesAccess: true });
  const plant = (from: number, to: number) =>
    database.query(
      `insert into control.management_tokens
        (workspace_id, name, role, secret_hash, last_four, root_member_id, created_by_kind, created_by_id, revoked_at)
      select 1, 'T' || i, 'viewer', sha256(i::text::bytea), 'four', $1::integer, 'member', $1::integer::text,
        case when i <= 10 then now() end
      from generate_series($2::integer, $3::integer) as i`,
      [adam.id, from, to],
    );
  await plant(1, 508);
  const call = callerWith({ authorization: `Bearer ${first.body["secret"]}` }, managed.service.url);
  const body = { name: "C", role: "viewer" };
  expect((await call("POST", TOKENS, body)).status).toBe(200);
  for (const create of [call, adam.call]) {
    const reply = await create("POST", TOKENS, body);
    expect([reply.status, reply.body["code"]]).toEqual([422, "too_many_tokens"]);
  }
  expect((await manage("POST", TOKENS, { body })).status).toBe(200);

  await plant(509, 5_000);
  expect((await manage("DELETE", `${MEMBERS}/${adam.id}`)).status).toBe(200);
  const isHers = `root_member_id = ${adam.id}`;
  expect(await database.count("control.management_tokens", `${isHers} and revoked_at is null`)).toBe(0);
  expect(await database.count("control.audit", "action = 'token.revoked'")).toBe(4_992);
  expect((await call("GET", TOKENS)).status).toBe(401);
}, 60_000);

test("a session that a new password has ended cannot create a token", async () => {
  const managed = await setupManage();
  const { database, service } = managed;
  const adam = await join(managed, "admin", "adam");
  const stolen = callerWith(
    cookieOf(await logIn(managed, adam.email, adam.password), service.url),
    service.url,
  );
  const before = await database.count("control.management_tokens");
  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("select from control.workspaces for update");
  const isWaiting =
    "datname = current_database() and wait_event_type = 'Lock' and query like '/* members.lock_workspaces */%'";
  const passwords = { current: adam.password, new: PASSWORD };
  const changed = adam.call("POST", "/manage/v1/session/password", passwords);
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  const minted = stolen("POST", TOKENS, { name: "T", role: "admin" });
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(2);
  await holder.query("commit");
  expect((await changed).status).toBe(200);
  const { status, body } = await minted;
  expect([status, body["code"]]).toEqual([401, "sign_in_required"]);
  expect(await database.count("control.management_tokens")).toBe(before);
});
