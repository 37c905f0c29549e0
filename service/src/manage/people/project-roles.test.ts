import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { connectTo, createTestProject } from "../../../test/harness.ts";
import { cookieOf, type Managed, send, setupManage } from "../../../test/manage.ts";
import { callerWith, join, logIn, memberIdOf, tokenOf, type WantedRole } from "../../../test/members.ts";

const MEMBERS = "/manage/v1/members";
const TOKENS = "/manage/v1/tokens";
const email = "pia@example.com";

async function setup() {
  const managed = await setupManage();
  const { projectId } = await createTestProject(managed.database, "Another product");
  const here = String(managed.project.projectId);
  const role = (
    role: WantedRole["role"],
    environment: WantedRole["environment"] = null,
    projectId = here,
  ): WantedRole => ({ projectId, environment, role });
  const change = (id: string, body: object) => managed.manage("PATCH", `${MEMBERS}/${id}`, { body });
  return { managed, here, other: String(projectId), role, change };
}

const status = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body["code"],
];

async function logInAgain(managed: Managed, { email, password }: { email: string; password: string }) {
  const reply = await logIn(managed, email, password);
  return callerWith(cookieOf(reply, managed.service.url), managed.service.url);
}

test("an invited member of one project has these roles in the list, the session and the audit log", async () => {
  const { managed, here, role } = await setup();
  const projectRoles = [role("viewer"), role("operator", "test")];
  const body = { email, name: "Pia", role: null, projectRoles };
  const invited = await managed.manage("POST", MEMBERS, { body });
  expect(invited.body["member"]).toMatchObject({ role: null, projectRoles, status: "invited" });
  const accept = { token: tokenOf(invited), password: "pia-has-a-long-password" };
  const accepted = await send(`${managed.service.url}/manage/v1/links`, "POST", { body: accept });
  expect(accepted.body).toMatchObject({ role: null, projectRoles });
  const call = callerWith(cookieOf(accepted, managed.service.url), managed.service.url);
  expect((await call("GET", "/manage/v1/session")).body).toMatchObject({ role: null, projectRoles });
  const listed = (await managed.manage("GET", MEMBERS)).body["items"] as object[];
  expect(listed.at(-1)).toMatchObject({ email, role: null, projectRoles });
  const [row] = await managed.database.query(
    "select after from control.audit where action = 'member.invited'",
  );
  expect(row?.["after"]).toMatchObject({ email, role: null, projectRoles });
  // Both roles apply: operator in Test, viewer in Live.
  const customer = (environment: string) =>
    call("PUT", `/manage/v1/projects/${here}/${environment}/customers/ada`, { name: "Ada" });
  expect((await customer("test")).status).toBe(200);
  expect(status(await customer("live"))).toEqual([403, "role_missing"]);
});

test("a member needs a role, and each project, environment and role must be valid and named once", async () => {
  const { managed, role } = await setup();
  const invite = async (body: object) =>
    status(await managed.manage("POST", MEMBERS, { body: { email, name: "Pia", role: null, ...body } }));
  expect(await invite({})).toEqual([400, "invalid_request"]);
  expect(await invite({ projectRoles: [] })).toEqual([400, "invalid_request"]);
  expect(await invite({ projectRoles: [role("owner")] })).toEqual([400, "invalid_request"]);
  expect(await invite({ projectRoles: [role("viewer"), role("admin")] })).toEqual([400, "invalid_request"]);
  const many = Array.from({ length: 51 }, (_, i) => role("viewer", null, String(i + 1)));
  expect(await invite({ projectRoles: many })).toEqual([400, "invalid_request"]);
  expect(await invite({ projectRoles: [role("viewer", null, "999")] })).toEqual([404, "not_found"]);
  expect(await invite({ projectRoles: [role("viewer", null, "x")] })).toEqual([404, "not_found"]);
  expect(await managed.database.count("control.members")).toBe(1);
  const pia = await join(managed, null, "pia", [role("viewer")]);
  const reply = await managed.manage("PATCH", `${MEMBERS}/${pia.id}`, { body: { projectRoles: [] } });
  expect(status(reply)).toEqual([400, "invalid_request"]);
});

test("lowering or removing a project role ends sessions and links, raising or repeating it does not", async () => {
  const { managed, other, role, change } = await setup();
  const pia = await join(managed, null, "pia", [role("operator")]);
  const read = async () => (await pia.call("GET", "/manage/v1/session")).status;
  await change(pia.id, { projectRoles: [role("operator")] });
  await change(pia.id, { projectRoles: [role("operator"), role("viewer", null, other)] });
  await change(pia.id, { projectRoles: [role("viewer", null, other), role("admin")] });
  expect(await read()).toBe(200);
  expect(await managed.database.count("control.audit", "action = 'member.changed'")).toBe(2);
  await managed.manage("POST", `${MEMBERS}/${pia.id}/link`);
  await change(pia.id, { projectRoles: [role("admin", "test"), role("viewer", null, other)] });
  expect(await read()).toBe(401);
  expect(await managed.database.count("control.links", "purpose = 'password' and used_at is null")).toBe(0);
  const call = await logInAgain(managed, pia);
  expect((await call("GET", "/manage/v1/session")).body["projectRoles"]).toEqual([
    role("admin", "test"),
    role("viewer", null, other),
  ]);
});

test("a workspace admin who becomes a project admin loses tokens, and API keys only if they are listed", async () => {
  const { managed, here, role, change } = await setup();
  const adam = await join(managed, "admin", "adam");
  const token = (await adam.call("POST", TOKENS, { name: "T", role: "admin" })).body;
  const keys = `/manage/v1/projects/${here}/test/api-keys`;
  const create = async (name: string) => {
    const { body } = await adam.call("POST", keys, { name, scopes: ["check"] });
    return (body["apiKey"] as { id: string }).id;
  };
  const [first] = [await create("First"), await create("Second")];
  const demotion = { role: null, projectRoles: [role("admin")], revokeApiKeys: [first] };
  expect((await change(adam.id, demotion)).body).toMatchObject({ role: null });
  // Safe to repeat.
  expect((await change(adam.id, demotion)).status).toBe(200);
  const secret = String(token["secret"]);
  expect((await send(`${managed.service.url}${keys}`, "GET", { token: secret })).status).toBe(401);
  const listed = (await managed.manage("GET", "api-keys")).body["items"] as {
    name: string;
    isValid: boolean;
  }[];
  expect(listed.map(({ name, isValid }) => [name, isValid])).toMatchObject([
    ["Second", true],
    ["First", false],
    [expect.anything(), true],
  ]);
});

test("a token is not valid while its creator has no role in the whole workspace", async () => {
  const { managed, role } = await setup();
  const adam = await join(managed, "admin", "adam", [role("admin")]);
  const { body } = await adam.call("POST", TOKENS, { name: "T", role: "viewer" });
  const call = () =>
    send(`${managed.service.url}${managed.here}/customers`, "GET", { token: String(body["secret"]) });
  expect((await call()).status).toBe(200);
  // Without the demotion's revocation, as if the token had been created at the same moment.
  await managed.database.query("update control.members set role = 'none' where id = $1", [adam.id]);
  expect((await call()).status).toBe(401);
});

test("a project admin manages API keys of the project, but no members, links, tokens or projects", async () => {
  const { managed, here, other, role } = await setup();
  const pia = await join(managed, null, "pia", [role("admin", "test")]);
  const keys = (id: string, environment: string) => `/manage/v1/projects/${id}/${environment}/api-keys`;
  const key = { name: "Backend", scopes: ["check"] };
  const created = await pia.call("POST", keys(here, "test"), key);
  const { id } = created.body["apiKey"] as { id: string };
  const rotated = await pia.call("POST", `${keys(here, "test")}/${id}/rotate`, { overlapSeconds: 0 });
  expect([created.status, rotated.status]).toEqual([200, 200]);
  expect((await pia.call("POST", `${keys(here, "test")}/${id}/revoke`)).status).toBe(200);
  for (const path of [keys(here, "live"), keys(other, "test")])
    expect(status(await pia.call("POST", path, key))).toEqual([404, "not_found"]);
  const where = { projectId: here, environment: "test" };
  for (const [method, path, body] of [
    ["GET", MEMBERS],
    ["POST", MEMBERS, { email, name: "Eve", role: null, projectRoles: [role("viewer", "test")] }],
    ["PATCH", `${MEMBERS}/${pia.id}`, { role: "viewer" }],
    ["POST", `${MEMBERS}/${pia.id}/link`],
    ["GET", `${MEMBERS}/${pia.id}/access`],
    ["GET", TOKENS],
    ["POST", TOKENS, { name: "T", role: "viewer", ...where }],
    ["POST", "/manage/v1/projects", { name: "Mine" }],
  ] as const) {
    expect([path, ...status(await pia.call(method, path, body))]).toEqual([path, 403, "role_missing"]);
  }
});

test("an admin can invite and edit members with project roles, and the last owner keeps the role", async () => {
  const { managed, role, change } = await setup();
  const adam = await join(managed, "admin", "adam");
  const body = { email, name: "Pia", role: null, projectRoles: [role("admin")] };
  const invited = await adam.call("POST", MEMBERS, body);
  const id = memberIdOf(invited);
  expect((await adam.call("POST", `${MEMBERS}/${id}/link`)).status).toBe(200);
  expect((await adam.call("DELETE", `${MEMBERS}/${id}`)).status).toBe(200);
  const demoted = await change("1", { role: null, projectRoles: [role("admin")] });
  expect(status(demoted)).toEqual([409, "last_owner"]);
});

test("a link of an inviter who now has only project roles is invalid", async () => {
  const { managed, role, change } = await setup();
  const adam = await join(managed, "admin", "adam");
  const invited = await adam.call("POST", MEMBERS, { email, name: "Pia", role: "viewer" });
  await change(adam.id, { role: null, projectRoles: [role("admin")] });
  const accept = { token: tokenOf(invited), password: "pia-has-a-long-password" };
  expect((await send(`${managed.service.url}/manage/v1/links`, "POST", { body: accept })).status).toBe(410);
});

test("a caller whose roles are lowered during a request creates only what the new roles allow", async () => {
  const { managed, here, role } = await setup();
  const { database } = managed;
  const adam = await join(managed, "admin", "adam");
  const pia = await join(managed, null, "pia", [role("admin")]);
  const changer = await connectTo(database);
  await changer.query("begin");
  await changer.query("select from control.workspaces for update");
  await changer.query("update control.members set role = 'none' where id = $1", [adam.id]);
  await changer.query(
    "insert into control.member_roles (member_id, project_id, role) values ($1, $2, 'admin')",
    [adam.id, here],
  );
  await changer.query("update control.member_roles set role = 'viewer' where member_id = $1", [pia.id]);
  const keys = `/manage/v1/projects/${here}/test/api-keys`;
  const key = { name: "K", scopes: ["check"] };
  const waiting = [
    adam.call("POST", TOKENS, { name: "T", role: "viewer" }),
    adam.call("POST", MEMBERS, { email, name: "F", role: "viewer" }),
    adam.call("POST", "/manage/v1/projects", { name: "P" }),
    pia.call("POST", keys, key),
    adam.call("POST", keys, key),
  ];
  const isWaiting =
    "datname = current_database() and wait_event_type = 'Lock' and query like '/* members.lock_workspaces */%'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(waiting.length);
  await changer.query("commit");
  const replies = await Promise.all(waiting);
  const refused = [403, "role_missing"];
  expect(replies.map(status)).toEqual([refused, refused, refused, refused, [200, undefined]]);
});

test("a caller who loses the role while the body arrives changes nothing", async () => {
  const { managed, here, role, change } = await setup();
  const { database, service } = managed;
  const adam = await join(managed, "admin", "adam");
  const { secret } = (await adam.call("POST", TOKENS, { name: "Slow", role: "admin" })).body;
  const url = `${service.url}/manage/v1/projects/${here}/test/customers/ada`;
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const slow = request(url, { method: "PUT", headers });
  slow.write('{"name":');
  await expect
    .poll(() => database.count("control.management_tokens", "name = 'Slow' and last_used_at is not null"))
    .toBe(1);
  await change(adam.id, { role: null, projectRoles: [role("admin", "live")] });
  await setTimeout(1_100);
  slow.end('"Mallory"}');
  const [response] = (await once(slow, "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(401);
  expect((await managed.manage("GET", "customers/ada")).body["name"]).not.toBe("Mallory");
});

test("project roles are rejected until the upgrade is finished", async () => {
  const { managed, role, change } = await setup();
  const ben = await join(managed, "viewer", "ben");
  await managed.database.query("update cell.identity set data_format = 1");
  const body = { email, name: "Pia", role: null, projectRoles: [role("viewer")] };
  const refused = [409, "upgrade_unfinished"];
  expect(status(await managed.manage("POST", MEMBERS, { body }))).toEqual(refused);
  expect(status(await change(ben.id, { projectRoles: [role("admin")] }))).toEqual(refused);
  expect(status(await change(ben.id, { role: null }))).toEqual(refused);
  expect((await change(ben.id, { role: "operator" })).status).toBe(200);
});
