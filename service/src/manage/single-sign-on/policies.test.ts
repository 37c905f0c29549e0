import { expect, onTestFinished, test } from "vitest";
import { createDatabase, startTestService } from "../../../test/harness.ts";
import { type Managed, send, setupManage } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import { invite, settingsFor, setupSignOn, signOnAs, startProvider } from "../../../test/oidc.ts";
import { servePurser } from "../../../test/purser.ts";
import { OWNER, openTestPool } from "../../../test/seed.ts";
import { freePort } from "../../postgres/free-port.ts";
import { makeSetupLink } from "../people/set-up.ts";

const SESSION = "/manage/v1/session";
const ROLES = { OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "staff=viewer, billing=operator, ops=admin" };
const ONLY = { OIDC_ONLY: "true", OIDC_LOCAL_OWNER: "Owner@Example.com" };

const person = (email: string, groups: unknown = []) => ({ email, email_verified: true, groups });
const problem = (code: string): string => `/log-in?problem=${code}`;
const codeOf = ({ body }: { body: Record<string, unknown> }): unknown => body["code"];

/** A second service on the same database, with other settings. */
async function restart({ database, settings }: Managed & { settings: Record<string, string> }, more: object) {
  return startTestService(database, { ...settings, PORT: "0", ...more });
}

test("the highest role of the claim applies at each sign-in, and never makes an owner", async () => {
  const managed = await setupSignOn({ ada: person("ada@example.com", ["staff", "ops", "other"]) }, ROLES);
  await invite(managed, "ada@example.com", "viewer");
  const roleAt = async (): Promise<unknown> =>
    (await (await signOnAs(managed, "ada")).call("GET", SESSION)).body["role"];
  expect(await roleAt()).toBe("admin");
  managed.provider.people["ada"] = person("ada@example.com", "billing");
  expect(await roleAt()).toBe("operator");
  managed.provider.people["ada"] = person("ada@example.com", ["owner", "billing"]);
  expect(await roleAt()).toBe("operator");
  const changes = await managed.database.query(
    `select actor_kind, before ->> 'role' as before, after ->> 'role' as after, after ->> 'claim' as claim
     from control.audit where action = 'member.changed' order by recorded_at, id`,
  );
  expect(changes).toEqual([
    { actor_kind: "system", before: "viewer", after: "admin", claim: "groups" },
    { actor_kind: "system", before: "admin", after: "operator", claim: "groups" },
  ]);
});

test("a claim without a mapped value is rejected, and an owner stays an owner", async () => {
  const managed = await setupSignOn(
    { ada: person("ada@example.com"), olga: person("olga@example.com", ["staff"]) },
    ROLES,
  );
  await invite(managed, "ada@example.com", "admin");
  await invite(managed, "olga@example.com", "owner");
  for (const groups of [[], ["unknown"], "", null, 7, { staff: true }]) {
    managed.provider.people["ada"] = person("ada@example.com", groups);
    expect((await signOnAs(managed, "ada")).end).toBe(problem("role_not_mapped"));
  }
  expect(await managed.database.count("control.identities")).toBe(0);
  const { call } = await signOnAs(managed, "olga");
  expect((await call("GET", SESSION)).body["role"]).toBe("owner");
});

test("a claim gives no workspace role to a member with roles only in projects", async () => {
  const managed = await setupSignOn({ pia: person("pia@example.com", ["ops"]) }, ROLES);
  const projectRoles = [
    { projectId: String(managed.project.projectId), environment: "test", role: "viewer" },
  ] as const;
  const body = { email: "pia@example.com", name: "Pia", role: null, projectRoles };
  expect((await managed.manage("POST", "/manage/v1/members", { body })).status).toBe(200);
  const { call } = await signOnAs(managed, "pia");
  expect((await call("GET", SESSION)).body).toMatchObject({ role: null, projectRoles });
});

test("a lower role by claim ends other sessions, tokens and links at once", async () => {
  const managed = await setupSignOn({ ada: person("ada@example.com", ["ops"]) }, ROLES);
  await invite(managed, "ada@example.com", "viewer");
  const before = await signOnAs(managed, "ada");
  const token = await before.call("POST", "/manage/v1/tokens", { name: "Hers", role: "admin" });
  expect(token.status, token.text).toBe(200);
  const secret = String(token.body["secret"]);
  const invited = await before.call("POST", "/manage/v1/members", {
    email: "bob@example.com",
    name: "Bob",
    role: "viewer",
  });
  managed.provider.people["ada"] = person("ada@example.com", ["staff"]);
  const after = await signOnAs(managed, "ada");
  expect((await after.call("GET", SESSION)).body["role"]).toBe("viewer");
  expect((await before.call("GET", SESSION)).status).toBe(401);
  expect((await managed.manage("GET", SESSION, { token: secret })).status).toBe(401);
  const body = { token: tokenOf(invited), password: "nine-blue-lanterns" };
  expect(codeOf(await send(`${managed.service.url}/manage/v1/links`, "POST", { body }))).toBe("link_invalid");
});

test("with single sign-on only, passwords, links and their sessions end for everyone but the local owner", async () => {
  const managed = await setupSignOn({ ada: person("ada@example.com"), bob: person("bob@example.com") });
  const bob = await join(managed, "admin", "bob");
  const second = await join(managed, "owner", "second");
  await invite(managed, "ada@example.com");
  const ada = await signOnAs(managed, "ada");
  const eve = await managed.manage("POST", "/manage/v1/members", {
    body: { email: "eve@example.com", name: "Eve", role: "viewer" },
  });
  const strict = await restart(managed, ONLY);
  const there = { ...managed, service: strict };
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(`${strict.url}${path}`, method, { headers, ...(body === undefined ? {} : { body }) });
  expect((await call("GET", "/manage/v1/single-sign-on")).body).toEqual({
    isConfigured: true,
    isRequired: true,
  });
  // The password is checked first, so that a guess does not reveal the local owner.
  expect(codeOf(await logIn(there, bob.email, "wrong-password-here"))).toBe("credentials_invalid");
  expect(codeOf(await logIn(there, bob.email, bob.password))).toBe("sso_required");
  expect(codeOf(await logIn(there, second.email, second.password))).toBe("sso_required");
  const body = { token: tokenOf(eve), password: "nine-blue-lanterns" };
  expect(codeOf(await call("POST", "/manage/v1/links", body))).toBe("sso_required");
  // Sessions opened with a password end, and those of single sign-on go on.
  const adasCookie = `__Host-purser_session=${ada.browser.cookie(managed.service.url, "__Host-purser_session")}`;
  expect((await call("GET", SESSION, undefined, { cookie: adasCookie })).status).toBe(200);
  const bobsCookie = (await logIn(managed, bob.email, bob.password)).headers.getSetCookie()[0] ?? "";
  expect((await call("GET", SESSION, undefined, { cookie: bobsCookie })).status).toBe(401);
  const local = await logIn(there, OWNER.email, OWNER.password);
  expect(local.status).toBe(200);
  const owner = { cookie: local.headers.getSetCookie()[0] ?? "", origin: strict.url };
  expect((await call("GET", SESSION, undefined, owner)).status).toBe(200);
  expect(codeOf(await call("POST", `/manage/v1/members/${bob.id}/link`, undefined, owner))).toBe(
    "sso_required",
  );
  const own = { current: OWNER.password, new: "eight-blue-teapots" };
  expect((await call("POST", `${SESSION}/password`, own, owner)).status).toBe(200);
  expect(
    codeOf(await call("POST", `${SESSION}/password`, own, { cookie: adasCookie, origin: strict.url })),
  ).toBe("sso_required");
});

test("with single sign-on only, the local owner must still be an owner", async () => {
  const managed = await setupSignOn({});
  const bob = await join(managed, "admin", "bob");
  const strict = await restart(managed, { ...ONLY, OIDC_LOCAL_OWNER: bob.email });
  expect(codeOf(await logIn({ ...managed, service: strict }, bob.email, bob.password))).toBe("sso_required");
});

test("with single sign-on only, the first owner must be the local owner", async () => {
  const database = await createDatabase();
  const pool = openTestPool(database.serviceUrl);
  onTestFinished(() => pool.end());
  const token = await makeSetupLink(pool);
  const { url } = await startTestService(database, settingsFor("http://127.0.0.1:9", await freePort(), ONLY));
  const setUp = (email: string) =>
    send(`${url}/manage/v1/setup`, "POST", { body: { token, email, name: "O", password: OWNER.password } });
  expect((await setUp("boss@example.com")).body["errors"]).toMatchObject([{ field: "email" }]);
  expect((await setUp("OWNER@example.com")).status).toBe(200);
});

test("sessions of a provider end when the settings name another one or none", async () => {
  const managed = await setupSignOn({ ada: person("ada@example.com") });
  await invite(managed, "ada@example.com");
  const { browser } = await signOnAs(managed, "ada");
  const headers = {
    cookie: `__Host-purser_session=${browser.cookie(managed.service.url, "__Host-purser_session")}`,
  };
  const other = await restart(managed, { OIDC_ISSUER: "http://127.0.0.1:9" });
  const none = await startTestService(managed.database);
  for (const [{ url }, status] of [
    [managed.service, 200],
    [other, 401],
    [none, 401],
  ] as const)
    expect((await send(`${url}${SESSION}`, "GET", { headers })).status).toBe(status);
});

test("a provider that is down stops neither the service nor passwords, and recovers by itself", async () => {
  const [port, providersPort] = [await freePort(), await freePort()];
  const managed = await setupManage(settingsFor(`http://127.0.0.1:${providersPort}`, port));
  const { service, manage } = managed;
  await invite(managed, "ada@example.com");
  const response = await fetch(`${service.url}${SESSION}/oidc`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, problem("provider_unreachable")]);
  expect((await logIn(managed, OWNER.email, OWNER.password)).status).toBe(200);
  const { body } = await manage("POST", "/manage/v1/single-sign-on/test");
  expect(body["findings"]).toMatchObject([{ name: "metadata", level: "failure" }]);
  await startProvider(service.url, { ada: person("ada@example.com") }, {}, providersPort);
  // The failure is remembered for three seconds.
  const start = async () =>
    (await fetch(`${service.url}${SESSION}/oidc`, { redirect: "manual" })).headers.get("location");
  await expect.poll(start, { timeout: 6_000, interval: 500 }).toContain("/auth?");
  expect((await signOnAs(managed, "ada")).end).toBe("/");
});

test("the settings page shows the settings without the secret, and tests the provider", async () => {
  const managed = await setupSignOn({}, { ...ROLES, ...ONLY, OIDC_ALLOWED_DOMAINS: "example.com" });
  const { manage, service, settings, provider, tokens } = managed;
  const read = await manage("GET", "/manage/v1/single-sign-on/settings", { token: tokens.admin });
  expect(read.body).toEqual({
    settings: {
      issuer: provider.issuer,
      clientId: "purser",
      scopes: "openid email profile",
      redirectUri: `${service.url}/manage/v1/session/oidc/callback`,
      allowedDomains: ["example.com"],
      roleClaim: "groups",
      roles: [
        { value: "staff", role: "viewer" },
        { value: "billing", role: "operator" },
        { value: "ops", role: "admin" },
      ],
      isRequired: true,
      localOwner: "owner@example.com",
    },
  });
  expect(read.text).not.toContain(settings["OIDC_CLIENT_SECRET"]);
  const { body } = await manage("POST", "/manage/v1/single-sign-on/test");
  expect((body["findings"] as { level: string }[]).map(({ level }) => level)).toEqual(Array(6).fill("ok"));
});

test("without settings, single sign-on is not available", async () => {
  const { manage, service } = await setupManage();
  expect((await send(`${service.url}/manage/v1/single-sign-on`, "GET")).body).toEqual({
    isConfigured: false,
    isRequired: false,
  });
  expect((await manage("GET", "/manage/v1/single-sign-on/settings")).body).toEqual({ settings: null });
  for (const path of ["oidc", "oidc/callback?code=c&state=s"])
    expect(codeOf(await send(`${service.url}${SESSION}/${path}`, "GET"))).toBe("not_found");
});

test("single sign-on is rejected until the upgrade is finished", async () => {
  const managed = await setupSignOn({});
  await managed.database.query("update cell.identity set data_format = 1");
  const response = await fetch(`${managed.service.url}${SESSION}/oidc`, { redirect: "manual" });
  expect(response.headers.get("location")).toBe(problem("upgrade_unfinished"));
});

test("a failed sign-in is logged with its reason, and without codes, tokens and secrets", async () => {
  const managed = await setupSignOn({ eve: person("eve@example.com") });
  const { settings, service } = managed;
  await service.stop();
  const served = await servePurser(managed.database.serviceUrl, settings);
  const { callback, end } = await signOnAs({ ...managed, service: { ...service, url: served.url } }, "eve");
  expect(end).toBe(problem("not_invited"));
  await expect.poll(served.output).toContain("single sign-on failed");
  const text = served.output();
  expect(text).toContain("no open invitation has this email");
  const { searchParams } = new URL(callback);
  for (const secret of [
    searchParams.get("code"),
    searchParams.get("state"),
    settings["OIDC_CLIENT_SECRET"],
    "eyJ",
  ])
    expect(text).not.toContain(secret);
});
