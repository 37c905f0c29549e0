import { expect, test } from "vitest";
import { connectTo, post } from "../../../test/harness.ts";
import { type Managed, send, setupManage } from "../../../test/manage.ts";
import { type JoinedMember, join, memberIdOf, tokenOf } from "../../../test/members.ts";

const MEMBERS = "/manage/v1/members";
const TOKENS = "/manage/v1/tokens";
const PASSWORD = "a-brand-new-password";

type Token = { id: string; name: string; expiresAt: string | null; isValid: boolean };
type Created = { token: Token; secret: string };

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

const accept = ({ service }: Managed, token: string) =>
  send(`${service.url}/manage/v1/links`, "POST", { body: { token, password: PASSWORD } });

/** Creates a token in this member's session. */
async function createToken({ call }: JoinedMember, body: object): Promise<Created> {
  const reply = await call("POST", TOKENS, { name: "Hers", role: "admin", ...body });
  expect(reply.status, reply.text).toBe(200);
  return reply.body as unknown as Created;
}

const callWith =
  ({ service }: Managed, token: string) =>
  (method: string, path: string, body?: object) =>
    send(`${service.url}${path}`, method, { token, ...(body === undefined ? {} : { body }) });

test("a token without managesAccess cannot manage members or tokens", async () => {
  const managed = await setupManage();
  const ada = await join(managed, "owner", "ada");
  const bob = await join(managed, "viewer", "bob");
  const { token, secret } = await createToken(ada, { expiresAt: inSeconds(60) });
  const call = callWith(managed, secret);
  const refused = [
    await call("POST", TOKENS, { name: "Forever", role: "admin" }),
    await call("POST", `${TOKENS}/${token.id}/revoke`),
    await call("POST", MEMBERS, { email: "eve@example.com", name: "Eve", role: "admin" }),
    await call("POST", `${MEMBERS}/${bob.id}/link`),
    await call("PATCH", `${MEMBERS}/${bob.id}`, { role: "admin" }),
    await call("DELETE", `${MEMBERS}/${bob.id}`),
    await call("GET", `${MEMBERS}/${bob.id}/access`),
  ];
  expect(refused.map(({ status, body }) => [status, body["code"]])).toEqual(
    refused.map(() => [403, "capability_missing"]),
  );
  expect((await call("GET", TOKENS)).status).toBe(200);
  expect((await call("GET", MEMBERS)).text).not.toContain("eve@example.com");
  const key = await call("POST", `${managed.here}/api-keys`, { name: "Backend", scopes: ["check"] });
  expect(key.body["apiKey"]).toMatchObject({ createdBy: { kind: "token", id: token.id, name: "Hers" } });
});

test("only admin and owner tokens for the whole workspace can have managesAccess", async () => {
  const { manage, project } = await setupManage();
  const where = { projectId: String(project.projectId), environment: "test" };
  for (const body of [{ role: "operator" }, { role: "viewer" }, { role: "admin", ...where }]) {
    const reply = await manage("POST", TOKENS, { body: { name: "T", managesAccess: true, ...body } });
    expect([reply.status, reply.body["errors"]]).toMatchObject([400, [{ field: "managesAccess" }]]);
  }
});

test("tokens and links created with a token expire no later than that token", async () => {
  const managed = await setupManage();
  const ada = await join(managed, "admin", "ada");
  const bob = await join(managed, "viewer", "bob");
  const expiresAt = inSeconds(600);
  const parent = await createToken(ada, { managesAccess: true, expiresAt });
  const call = callWith(managed, parent.secret);
  const child = (await call("POST", TOKENS, { name: "Child", role: "admin" })).body as unknown as Created;
  expect(child.token).toMatchObject({ expiresAt, createdBy: { kind: "token", name: "Hers" } });
  const later = await call("POST", TOKENS, { name: "Later", role: "viewer", expiresAt: inSeconds(601) });
  expect([later.status, later.body["errors"]]).toMatchObject([400, [{ field: "expiresAt" }]]);
  const above = await call("POST", TOKENS, { name: "Above", role: "owner" });
  expect([above.status, above.body["code"]]).toEqual([403, "role_missing"]);
  const link = await call("POST", `${MEMBERS}/${bob.id}/link`);
  expect(link.body["link"]).toMatchObject({ expiresAt });
});

test("revoking a token revokes all tokens and links created with it", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const bob = await join(managed, "viewer", "bob");
  const body = { name: "A", role: "admin", managesAccess: true };
  const made = [(await manage("POST", TOKENS, { body })).body as unknown as Created];
  for (const name of ["B", "C"]) {
    const call = callWith(managed, made.at(-1)?.secret ?? "");
    made.push((await call("POST", TOKENS, { ...body, name })).body as unknown as Created);
  }
  const [first, , last] = made.map(({ secret }) => callWith(managed, secret));
  const link = await last?.("POST", `${MEMBERS}/${bob.id}/link`);
  expect((await first?.("GET", TOKENS))?.status).toBe(200);
  await manage("POST", `${TOKENS}/${made[0]?.token.id}/revoke`);
  for (const { secret } of made) expect((await callWith(managed, secret)("GET", TOKENS)).status).toBe(401);
  expect(link === undefined ? null : (await accept(managed, tokenOf(link))).status).toBe(410);
  expect(await database.count("control.audit", "action = 'token.revoked'")).toBe(3);
});

test("a demoted admin cannot regain the role with an older token", async () => {
  const managed = await setupManage();
  const adam = await join(managed, "admin", "adam");
  const { secret } = await createToken(adam, { managesAccess: true });
  await managed.manage("PATCH", `${MEMBERS}/${adam.id}`, { body: { role: "viewer" } });
  const reply = await callWith(managed, secret)("PATCH", `${MEMBERS}/${adam.id}`, { role: "admin" });
  expect([reply.status, reply.body["code"]]).toEqual([401, "sign_in_required"]);
  expect((await adam.call("GET", MEMBERS)).status).toBe(401);
});

test("a removed admin cannot create an invitation with an older token", async () => {
  const managed = await setupManage();
  const adam = await join(managed, "admin", "adam");
  const { secret } = await createToken(adam, { managesAccess: true });
  const call = callWith(managed, secret);
  const child = (await call("POST", TOKENS, { name: "C", role: "admin", managesAccess: true })).body;
  await managed.manage("DELETE", `${MEMBERS}/${adam.id}`);
  const body = { email: adam.email, name: "Adam", role: "admin" };
  for (const token of [secret, String(child["secret"])]) {
    const reply = await send(`${managed.service.url}${MEMBERS}`, "POST", { token, body });
    expect([reply.status, reply.body["code"]]).toEqual([401, "sign_in_required"]);
  }
});

test("a token's role never exceeds its creator's current role", async () => {
  const managed = await setupManage();
  const { database, manage } = managed;
  const adam = await join(managed, "admin", "adam");
  const { secret } = await createToken(adam, { managesAccess: true });
  const call = callWith(managed, secret);
  const body = { name: "K", scopes: ["check"] };
  expect((await call("POST", `${managed.here}/api-keys`, body)).status).toBe(200);
  // Changes the role directly in the database, so that the token is not revoked.
  await database.query("update control.members set role = 'viewer' where id = $1", [adam.id]);
  const reply = await call("POST", `${managed.here}/api-keys`, body);
  expect([reply.status, reply.body["code"]]).toEqual([403, "role_missing"]);
  expect((await call("GET", `${managed.here}/api-keys`)).status).toBe(200);
  expect((await manage("GET", TOKENS)).body["items"]).toMatchObject([
    { name: "Hers", role: "viewer" },
    {},
    {},
    {},
    {},
  ]);
  await database.query("update control.members set removed_at = now() where id = $1", [adam.id]);
  expect((await call("GET", `${managed.here}/api-keys`)).status).toBe(401);
});

test.each(["demoted", "removed", "demoted directly in the database"] as const)(
  "invitations and password reset links from an admin who was %s stop working",
  async (how) => {
    const managed = await setupManage();
    const { manage, database } = managed;
    const adam = await join(managed, "admin", "adam");
    const bob = await join(managed, "viewer", "bob");
    const { secret } = await createToken(adam, { managesAccess: true });
    const invitation = await adam.call("POST", MEMBERS, {
      email: "e@example.com",
      name: "Eve",
      role: "admin",
    });
    const password = await callWith(managed, secret)("POST", `${MEMBERS}/${bob.id}/link`);
    const openLinks = async () =>
      ((await manage("GET", MEMBERS)).body["items"] as { openLink: unknown }[]).flatMap(
        ({ openLink }) => openLink ?? [],
      );
    expect(await openLinks()).toMatchObject([
      { purpose: "password", createdBy: { kind: "token", name: "Hers" } },
      { purpose: "invitation", createdBy: { kind: "member", id: adam.id, name: "adam" } },
    ]);
    const path = `${MEMBERS}/${adam.id}`;
    if (how === "demoted") await manage("PATCH", path, { body: { role: "operator" } });
    else if (how === "removed") await manage("DELETE", path);
    else await database.query("update control.members set role = 'operator' where id = $1", [adam.id]);
    for (const link of [invitation, password]) {
      const { status, body } = await accept(managed, tokenOf(link));
      expect([status, body["code"]]).toEqual([410, "link_invalid"]);
    }
    if (how !== "demoted directly in the database") expect(await openLinks()).toEqual([]);
    // A new link from another member works.
    const again = await manage("POST", `${MEMBERS}/${memberIdOf(invitation)}/link`);
    expect((await accept(managed, tokenOf(again))).status).toBe(200);
  },
);

test("a member's access can be listed before a removal, which revokes only the API keys it names", async () => {
  const managed = await setupManage();
  const { manage, service, here } = managed;
  const adam = await join(managed, "admin", "adam");
  const hers = await createToken(adam, { managesAccess: true });
  const call = callWith(managed, hers.secret);
  const invited = await call("POST", MEMBERS, { email: "e@example.com", name: "Eve", role: "viewer" });
  const createKey = async (name: string, create: JoinedMember["call"]) =>
    (await create("POST", `${here}/api-keys`, { name, scopes: ["check"] })).body as {
      apiKey: { id: string };
      secret: string;
    };
  const kept = await createKey("Kept", adam.call);
  const ended = await createKey("Ended", (method, path, body) => call(method, path, body as object));
  const check = (secret: string) =>
    post(`${service.url}/v1/check`, secret, { customerId: "ada", feature: "x" });
  expect((await check(ended.secret)).status).not.toBe(401);

  const access = await manage("GET", `${MEMBERS}/${adam.id}/access`);
  expect(access.body).toMatchObject({
    sessions: [{ createdAt: expect.any(String) }],
    tokens: [{ id: hers.token.id, lastUsedAt: expect.any(String), createdBy: { id: adam.id } }],
    links: [{ purpose: "invitation", member: { id: memberIdOf(invited), email: "e@example.com" } }],
    apiKeys: expect.arrayContaining([
      expect.objectContaining({ id: kept.apiKey.id, environment: "test" }),
      expect.objectContaining({ id: ended.apiKey.id, createdBy: expect.objectContaining({ kind: "token" }) }),
    ]),
  });

  const foreign = String(managed.project.test.key.id);
  const path = `${MEMBERS}/${adam.id}`;
  const refused = [
    await manage("DELETE", `${path}?revokeApiKeys=${foreign}`),
    await manage("PATCH", path, { body: { role: "viewer", revokeApiKeys: [foreign] } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 404]);
  for (const change of [{}, { name: "A" }, { name: "adam" }, { role: "owner" }]) {
    const body = { ...change, revokeApiKeys: [kept.apiKey.id] };
    expect((await manage("PATCH", path, { body })).status).toBe(400);
  }
  expect((await manage("GET", `${path}/access`)).body).toEqual(access.body);

  expect((await manage("DELETE", `${path}?revokeApiKeys=${ended.apiKey.id}`)).status).toBe(200);
  const keys = (await manage("GET", "api-keys")).body["items"] as object[];
  expect(keys.slice(0, 2)).toMatchObject([
    { id: ended.apiKey.id, isValid: false },
    { id: kept.apiKey.id, isValid: true, createdBy: { kind: "member", id: adam.id, name: "adam" } },
  ]);
  expect((await manage("GET", `${path}/access`)).status).toBe(404);
});

test("a demotion also revokes tokens that are created concurrently", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  for (const round of [1, 2, 3, 4]) {
    const adam = await join(managed, "admin", `adam${round}`);
    const { secret } = await createToken(adam, { managesAccess: true });
    const call = callWith(managed, secret);
    const mint = (name: string) => ({ name, role: "admin", managesAccess: true });
    const replies = await Promise.all([
      ...["a", "b", "c"].map((name) => call("POST", TOKENS, mint(name))),
      ...["d", "e", "f"].map((name) => adam.call("POST", TOKENS, mint(name))),
      manage("PATCH", `${MEMBERS}/${adam.id}`, { body: { role: "viewer" } }),
      ...["g", "h"].map((name) => call("POST", TOKENS, mint(name))),
    ]);
    for (const { status, text } of replies) expect([200, 401, 403], text).toContain(status);
    const isLive = `root_member_id = ${adam.id} and revoked_at is null`;
    expect(await database.count("control.management_tokens", isLive)).toBe(0);
  }
});

test.each([
  ["demoted", "role = 'viewer'", 403, "role_missing"],
  ["removed", "removed_at = now()", 401, "sign_in_required"],
] as const)(
  "if a caller is %s during a request, the request changes no token, member, API key or project",
  async (_, change, ...refusal) => {
    const managed = await setupManage();
    const { database, here, project } = managed;
    const adam = await join(managed, "admin", "adam");
    const { secret } = await createToken(adam, { managesAccess: true });
    const [apiKey] = (await managed.manage("GET", "api-keys")).body["items"] as [{ id: string }];
    const count = async () => [
      await database.count("control.audit"),
      await database.count("control.management_tokens"),
      await database.count("control.members"),
      await database.count("control.api_keys"),
      await database.count("control.projects"),
    ];
    const before = await count();
    const changer = await connectTo(database);
    await changer.query("begin");
    await changer.query("select from control.workspaces for update");
    await changer.query(`update control.members set ${change} where id = $1`, [adam.id]);
    const call = callWith(managed, secret);
    const waiting = [
      adam.call("POST", TOKENS, { name: "T", role: "viewer" }),
      call("POST", TOKENS, { name: "T", role: "viewer" }),
      adam.call("POST", MEMBERS, { email: "f@example.com", name: "F", role: "viewer" }),
      adam.call("POST", `${here}/api-keys`, { name: "K", scopes: ["check"] }),
      adam.call("POST", `${here}/api-keys/${apiKey.id}/revoke`),
      adam.call("POST", "/manage/v1/projects", { name: "P" }),
      adam.call("PATCH", `/manage/v1/projects/${project.projectId}`, { name: "P" }),
    ];
    const isWaiting =
      "datname = current_database() and wait_event_type = 'Lock' and query like '/* members.lock_workspaces */%'";
    await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(waiting.length);
    await changer.query("commit");
    const replies = await Promise.all(waiting);
    expect(replies.map(({ status, body }) => [status, body["code"]])).toEqual(waiting.map(() => refusal));
    expect(await count()).toEqual(before);
  },
);
