import { expect, test } from "vitest";
import { startTestService } from "../../../test/harness.ts";
import { type Managed, send, setupManage } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import { invite, setupSignOn, signOnAs, startProvider } from "../../../test/oidc.ts";
import { runPurser } from "../../../test/purser.ts";
import { OWNER } from "../../../test/seed.ts";
import { freePort } from "../../postgres/free-port.ts";
import { signOn } from "./sign-on.ts";

const SESSION = "/manage/v1/session";
const PASSWORD = "nine-blue-lanterns";
const ONLY = { OIDC_ONLY: "true", OIDC_LOCAL_OWNER: OWNER.email };
const ROLES = { OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "staff=viewer,ops=admin" };

const person = (email: string, groups: unknown = []) => ({ email, email_verified: true, groups });
const problem = (code: string): string => `/log-in?problem=${code}`;

/** A second service on the same database, with other settings. */
async function restart(managed: Managed & { settings: Record<string, string> }, more: object) {
  const service = await startTestService(managed.database, { ...managed.settings, PORT: "0", ...more });
  return { ...managed, service };
}

async function accept({ service }: Managed, token: string) {
  return send(`${service.url}/manage/v1/links`, "POST", { body: { token, password: PASSWORD } });
}

async function resetOwner({ database }: Managed, email: string): Promise<string> {
  const { stdout } = await runPurser(["reset-owner", email], { DATABASE_URL: database.serviceUrl });
  return /#(\S+)/.exec(stdout)?.[1] ?? "";
}

test("after reset-owner, the disconnected account cannot sign in, and the link works", async () => {
  const managed = await setupSignOn({ boss: person("boss@example.com") });
  await invite(managed, "boss@example.com", "owner");
  expect((await signOnAs(managed, "boss")).end).toBe("/");
  const token = await resetOwner(managed, "boss@example.com");
  expect((await signOnAs(managed, "boss")).end).toBe(problem("connect_first"));
  expect((await accept(managed, token)).body).toMatchObject({ role: "owner" });
  expect((await logIn(managed, "boss@example.com", PASSWORD)).status).toBe(200);
});

test("the link of reset-owner for a member who has not joined is no invitation for an account", async () => {
  const managed = await setupSignOn({ ada: person("ada@example.com"), new: person("new@example.com") });
  await invite(managed, "ada@example.com");
  for (const name of ["ada", "new"]) {
    const token = await resetOwner(managed, `${name}@example.com`);
    expect((await signOnAs(managed, name)).end).toBe(problem("not_invited"));
    expect((await accept(managed, token)).body).toMatchObject({ role: "owner" });
  }
});

test("with single sign-on only, reset-owner resets only the local owner", async () => {
  const { database, settings } = await setupSignOn({});
  const reset = (email: string) =>
    runPurser(["reset-owner", email], { ...settings, ...ONLY, DATABASE_URL: database.serviceUrl });
  expect((await reset("boss@example.com")).stderr).toContain("Reset OIDC_LOCAL_OWNER (owner@example.com)");
  expect(await database.count("control.members")).toBe(1);
  expect((await reset(OWNER.email)).stdout).toContain("Ended: the password");
});

test("an owner who cannot log in does not count as another owner", async () => {
  const managed = await setupSignOn({ olga: person("olga@example.com") });
  await invite(managed, "olga@example.com", "owner");
  await signOnAs(managed, "olga");
  const second = await join(managed, "owner", "second");
  const change = async ({ service, tokens }: Managed, method: string, id: string) => {
    const body = method === "DELETE" ? {} : { body: { role: "admin" } };
    return send(`${service.url}/manage/v1/members/${id}`, method, { token: tokens.owner, ...body });
  };
  const demote = async (there: Managed) => (await change(there, "PATCH", "1")).body["code"];
  const strict = await restart(managed, ONLY);
  // Olga's account belongs to another provider now, and the second owner may not use a password.
  expect(await demote(await restart(managed, { ...ONLY, OIDC_ISSUER: "http://127.0.0.1:9" }))).toBe(
    "last_owner",
  );
  expect((await change(strict, "DELETE", second.id)).status).toBe(200);
  expect(await demote(await restart(managed, { OIDC_ISSUER: "http://127.0.0.1:9" }))).toBe("last_owner");
  expect(await demote(strict)).toBe(undefined);
});

test("a member with an account at an earlier provider is invited again, and gets in", async () => {
  const earlier = await setupSignOn({ ada: person("ada@example.com") });
  const id = await invite(earlier, "ada@example.com");
  expect((await signOnAs(earlier, "ada")).end).toBe("/");
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const { issuer } = await startProvider(publicUrl, { ada: person("ada@example.com") });
  const later = await restart(earlier, { PORT: String(port), PUBLIC_URL: publicUrl, OIDC_ISSUER: issuer });
  expect((await signOnAs(later, "ada")).end).toBe(problem("not_invited"));
  const renewed = await send(`${publicUrl}/manage/v1/members/${id}/link`, "POST", {
    token: later.tokens.owner,
  });
  expect(renewed.body).toMatchObject({ member: { status: "invited", usesSignOn: false } });
  expect((await signOnAs(later, "ada")).end).toBe("/");
  expect(await later.database.count("control.identities")).toBe(2);
});

test("a correct password that single sign-on replaces is recorded in the audit log", async () => {
  const managed = await setupSignOn({});
  const bob = await join(managed, "admin", "bob");
  const strict = await restart(managed, ONLY);
  expect((await logIn(strict, bob.email, bob.password)).body["code"]).toBe("sso_required");
  await expect
    .poll(() =>
      managed.database.query(
        "select subject, after ->> 'reason' as reason from control.audit where action = 'member.sign_in_failed'",
      ),
    )
    .toEqual([{ subject: bob.email, reason: "sso_required" }]);
});

test("a member who lost every role at the provider loses all access at the next sign-in", async () => {
  const managed = await setupSignOn(
    { ada: person("ada@example.com", ["ops"]), olga: person("olga@example.com", ["ops"]) },
    ROLES,
  );
  await invite(managed, "ada@example.com");
  await invite(managed, "olga@example.com", "owner");
  const [ada, olga] = [await signOnAs(managed, "ada"), await signOnAs(managed, "olga")];
  const token = await ada.call("POST", "/manage/v1/tokens", { name: "Hers", role: "admin" });
  const invited = await ada.call("POST", "/manage/v1/members", {
    email: "eve@example.com",
    name: "Eve",
    role: "viewer",
  });
  for (const name of ["ada", "olga"]) {
    managed.provider.people[name] = person(`${name}@example.com`);
    expect((await signOnAs(managed, name)).end).toBe(problem("role_not_mapped"));
  }
  expect((await ada.call("GET", SESSION)).status).toBe(401);
  expect((await managed.manage("GET", SESSION, { token: String(token.body["secret"]) })).status).toBe(401);
  expect((await accept(managed, tokenOf(invited))).status).toBe(410);
  expect((await olga.call("GET", SESSION)).status).toBe(200);
  expect(
    await managed.database.query(
      "select actor_kind, subject, after from control.audit where action = 'member.access_ended'",
    ),
  ).toEqual([
    {
      actor_kind: "system",
      subject: "ada@example.com",
      after: { reason: "role_not_mapped", claim: "groups" },
    },
  ]);
});

test("a member whose Google account left the allowed domains loses all access at the next sign-in", async () => {
  const managed = await setupManage();
  const { cell, database } = managed;
  const [ada, zoe] = [await join(managed, "admin", "ada"), await join(managed, "owner", "zoe")];
  const token = await ada.call("POST", "/manage/v1/tokens", { name: "Hers", role: "admin" });
  const google = { issuer: "https://accounts.google.com", roles: null };
  const settings = { ...google, allowedDomains: ["example.com"], scopes: "openid", onlyLocalOwner: null };
  const secrets = { clientId: "purser", clientSecret: "secret", publicUrl: "https://purser.example.com" };
  const visit = { requestId: "r", address: "127.0.0.1", userAgent: "", previous: null };
  for (const { id, email } of [ada, zoe]) {
    await database.query(
      `insert into control.identities (issuer, subject, member_id) values ('${google.issuer}', '${email}', ${id})`,
    );
    const account = { issuer: google.issuer, subject: email, email, isEmailVerified: true, roleValues: [] };
    const left = { ...account, hostedDomain: null };
    expect(await signOn(cell, { ...settings, ...secrets }, left, visit)).toMatchObject({
      code: "domain_not_allowed",
    });
  }
  expect([(await ada.call("GET", SESSION)).status, (await zoe.call("GET", SESSION)).status]).toEqual([
    401, 200,
  ]);
  expect((await managed.manage("GET", SESSION, { token: String(token.body["secret"]) })).status).toBe(401);
  expect(
    await database.query("select subject, after from control.audit where action = 'member.access_ended'"),
  ).toEqual([{ subject: ada.email, after: { reason: "domain_not_allowed" } }]);
});
