import { expect, test } from "vitest";
import { type Managed, send } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import { Browser, connectAs, invite, setupSignOn, signOnAs } from "../../../test/oidc.ts";
import { OWNER } from "../../../test/seed.ts";

const SESSION = "/manage/v1/session";
const verified = (email: string, more: object = {}) => ({ email, email_verified: true, ...more });
const ADA = { ada: verified("Ada@Example.com") };

const problem = (code: string): string => `/log-in?problem=${code}`;

async function listAudit({ database }: Managed, where: string): Promise<Record<string, unknown>[]> {
  return database.query(
    `select action, actor_kind, subject, after from control.audit where ${where} order by recorded_at, id`,
  );
}

async function findMember({ manage }: Managed, email: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await manage("GET", "/manage/v1/members");
  return (body["items"] as Record<string, unknown>[]).find((member) => member["email"] === email);
}

test("an invited person joins with single sign-on, without a password, and returns to the page they wanted", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com", "operator");
  expect(await findMember(managed, "ada@example.com")).toMatchObject({
    status: "invited",
    usesSignOn: false,
  });
  const { end, call } = await signOnAs(managed, "ada", { next: "/projects/1/live?range=7d" });
  expect(end).toBe("/projects/1/live?range=7d");
  expect((await call("GET", SESSION)).body).toMatchObject({ email: "ada@example.com", role: "operator" });
  expect(await findMember(managed, "ada@example.com")).toMatchObject({
    status: "active",
    usesSignOn: true,
    openLink: null,
  });
  expect((await call("GET", "/manage/v1/sessions")).body["items"]).toMatchObject([
    { isCurrent: true, openedWith: "single_sign_on" },
  ]);
  expect((await call("GET", `${SESSION}/sign-on`)).body).toMatchObject({
    isConfigured: true,
    mayUsePassword: false,
    account: { issuer: managed.provider.issuer },
  });
  expect(await listAudit(managed, "action in ('member.joined', 'member.signed_in')")).toMatchObject([
    { action: "member.joined", subject: "ada@example.com", after: { issuer: managed.provider.issuer } },
    { action: "member.signed_in", after: { issuer: managed.provider.issuer } },
  ]);
});

test("a session opened by single sign-on ends after 12 hours", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const { call } = await signOnAs(managed, "ada");
  const [row] = await managed.database.query(
    "select round(extract(epoch from expires_at - created_at) / 3600)::integer as hours from control.sessions",
  );
  expect(row).toEqual({ hours: 12 });
  await managed.database.query("update control.sessions set expires_at = now() - interval '1 second'");
  expect((await call("GET", SESSION)).status).toBe(401);
});

test("an invitation is accepted once: its link ends, and a second account with the same email is rejected", async () => {
  const managed = await setupSignOn({ ...ADA, impostor: verified("ada@example.com") });
  const invited = await managed.manage("POST", "/manage/v1/members", {
    body: { email: "ada@example.com", name: "Ada", role: "viewer" },
  });
  await signOnAs(managed, "ada");
  expect((await signOnAs(managed, "impostor")).end).toBe(problem("connect_first"));
  const body = { token: tokenOf(invited), password: "nine-blue-lanterns" };
  expect((await send(`${managed.service.url}/manage/v1/links`, "POST", { body })).status).toBe(410);
  expect(await managed.database.count("control.identities")).toBe(1);
  await expect
    .poll(() => listAudit(managed, "action = 'member.sign_on_failed'"))
    .toMatchObject([{ subject: "ada@example.com", after: { attempts: 1, reason: "connect_first" } }]);
});

test("a failed sign-in is audited for the member whose account it is, and never for an unverified email", async () => {
  const managed = await setupSignOn({
    ...ADA,
    eve: { email: "boss@example.com", email_verified: false },
    bob: verified("boss@example.com"),
  });
  const failures = async () =>
    (await listAudit(managed, "action = 'member.sign_on_failed'")).map(({ subject, after }) => [
      subject,
      (after as { reason: string }).reason,
    ]);
  await join(managed, "admin", "boss");
  const mallory = await join(managed, "viewer", "mallory");
  expect((await signOnAs(managed, "eve")).end).toBe(problem("email_unverified"));
  await expect.poll(failures).toEqual([["an unknown email", "email_unverified"]]);
  const { headers } = await logIn(managed, mallory.email, mallory.password);
  const [cookie = ""] = headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  expect(await connectAs(managed, "bob", { cookie })).toContain("problem=email_differs");
  await expect.poll(async () => (await failures()).at(-1)).toEqual([mallory.email, "email_differs"]);
});

test("two concurrent sign-ins with one account both succeed and connect it once", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const ends = await Promise.all([signOnAs(managed, "ada"), signOnAs(managed, "ada")]);
  expect(ends.map(({ end }) => end)).toEqual(["/", "/"]);
  expect(await listAudit(managed, "action = 'member.joined'")).toHaveLength(1);
});

test("the email at the provider counts only when an account is connected", async () => {
  const managed = await setupSignOn({ ...ADA });
  await invite(managed, "ada@example.com");
  const first = await signOnAs(managed, "ada");
  managed.provider.people["ada"] = { email: OWNER.email, email_verified: false };
  const second = await signOnAs(managed, "ada");
  const names = [await first.call("GET", SESSION), await second.call("GET", SESSION)];
  expect(names.map(({ body }) => body["email"])).toEqual(["ada@example.com", "ada@example.com"]);
});

test.each([
  ["email_unverified", { email: "ada@example.com", email_verified: false }],
  ["email_unverified", { email: "ada@example.com", email_verified: "true" }],
  ["email_unverified", { email: "ada@example.com" }],
  ["email_unverified", { email_verified: true }],
  ["domain_not_allowed", verified("ada@example.com.evil.test")],
  ["domain_not_allowed", verified("ada@other.test")],
  ["not_invited", verified("eve@example.com")],
])("nobody joins with %s: %j", async (code, claims) => {
  const managed = await setupSignOn({ ada: claims }, { OIDC_ALLOWED_DOMAINS: "example.com, example.org" });
  await invite(managed, "ada@example.com");
  await invite(managed, "ada@other.test");
  const { end, call } = await signOnAs(managed, "ada", { next: "/welcome" });
  expect(end).toBe(`${problem(code)}&next=%2Fwelcome`);
  expect((await call("GET", SESSION)).status).toBe(401);
  expect(await managed.database.count("control.identities")).toBe(0);
});

test("an expired, replaced or withdrawn invitation is rejected", async () => {
  const managed = await setupSignOn(ADA);
  const { manage, database } = managed;
  const boss = await join(managed, "admin", "boss");
  const invited = await boss.call("POST", "/manage/v1/members", {
    email: "ada@example.com",
    name: "Ada",
    role: "viewer",
  });
  expect(invited.status).toBe(200);
  await database.query("update control.links set expires_at = now() where purpose = 'invitation'");
  expect((await signOnAs(managed, "ada")).end).toBe(problem("not_invited"));
  const id = String((invited.body["member"] as { id: string }).id);
  expect((await boss.call("POST", `/manage/v1/members/${id}/link`)).status).toBe(200);
  // An earlier release demotes the inviter, and does not end the link.
  await database.query("update control.members set role = 'viewer' where id = $1", [boss.id]);
  expect((await signOnAs(managed, "ada")).end).toBe(problem("not_invited"));
  expect((await manage("POST", `/manage/v1/members/${id}/link`)).status).toBe(200);
  expect((await signOnAs(managed, "ada")).end).toBe("/");
});

test("a member with a password connects an account with the same email while logged in", async () => {
  const managed = await setupSignOn({ ...ADA, bob: verified("bob@example.com") });
  const ada = await join(managed, "operator", "ada");
  expect((await signOnAs(managed, "ada")).end).toBe(problem("connect_first"));
  const { headers } = await logIn(managed, ada.email, ada.password);
  const [cookie = ""] = headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  const profile = "/workspace/settings/profile";
  expect(await connectAs(managed, "bob", { cookie })).toBe(`${profile}?problem=email_differs`);
  expect(await connectAs(managed, "ada", { cookie })).toBe(`${profile}?connected=true`);
  // Repeating it changes nothing.
  expect(await connectAs(managed, "ada", { cookie })).toBe(`${profile}?connected=true`);
  const { call, end } = await signOnAs(managed, "ada");
  expect([end, (await call("GET", SESSION)).body["role"]]).toEqual(["/", "operator"]);
  expect((await logIn(managed, ada.email, ada.password)).status).toBe(200);
  expect((await call("GET", `${SESSION}/sign-on`)).body).toMatchObject({ mayUsePassword: true });
  const age = (minutes: number) =>
    managed.database.query(`update control.sessions set created_at = now() - interval '${minutes} minutes'`);
  await age(11);
  expect((await ada.call("DELETE", `${SESSION}/sign-on`)).body["code"]).toBe("recent_log_in_required");
  await age(9);
  expect((await ada.call("DELETE", `${SESSION}/sign-on`)).body).toEqual({ disconnected: true });
  expect((await call("GET", SESSION)).status).toBe(401);
  expect((await ada.call("GET", SESSION)).status).toBe(200);
  expect((await signOnAs(managed, "ada")).end).toBe(problem("connect_first"));
  expect(
    (await listAudit(managed, "action like 'member.sign_on_%connected'")).map(({ action }) => action),
  ).toEqual(["member.sign_on_connected", "member.sign_on_disconnected"]);
});

test("an account cannot be connected in another session, or after the session has ended", async () => {
  const managed = await setupSignOn(ADA);
  const ada = await join(managed, "operator", "ada");
  const open = async (): Promise<string> => {
    const { headers } = await logIn(managed, ada.email, ada.password);
    return headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  };
  const [cookie, other] = [await open(), await open()];
  const { url } = managed.service;
  const end = async (changed: (browser: Browser) => Promise<unknown>): Promise<string> => {
    class Changed extends Browser {
      override async get(address: string): Promise<Response> {
        if (address.includes("/oidc/callback")) await changed(this);
        return super.get(address);
      }
    }
    return connectAs(managed, "ada", { cookie, browser: new Changed() });
  };
  const failed = "/workspace/settings/profile?problem=attempt_invalid";
  const swap = async (browser: Browser) =>
    browser.setCookie(url, "__Host-purser_session", other.split("=")[1] ?? "");
  expect(await end(swap)).toBe(failed);
  expect(await end(() => send(`${url}${SESSION}`, "DELETE", { headers: { cookie, origin: url } }))).toBe(
    failed,
  );
  expect(await managed.database.count("control.identities")).toBe(0);
});

test("a member who joined without a password cannot disconnect, and the only owner among them cannot be removed", async () => {
  const managed = await setupSignOn({ olga: verified("olga@example.com") });
  const { manage, database } = managed;
  const id = await invite(managed, "olga@example.com", "owner");
  const { call } = await signOnAs(managed, "olga");
  expect((await call("DELETE", `${SESSION}/sign-on`)).body).toMatchObject({ code: "sso_required" });
  // The other owner can leave, because Olga has joined.
  expect((await manage("DELETE", "/manage/v1/members/1")).status).toBe(200);
  for (const change of [
    await manage("DELETE", `/manage/v1/members/${id}`),
    await manage("PATCH", `/manage/v1/members/${id}`, { body: { role: "admin" } }),
  ])
    expect(change.body["code"]).toBe("last_owner");
  expect(await database.count("control.members", "removed_at is null")).toBe(1);
});

test("removing a member ends their session at once, and only a new invitation lets them in again", async () => {
  const managed = await setupSignOn(ADA);
  const id = await invite(managed, "ada@example.com");
  const { call } = await signOnAs(managed, "ada");
  expect((await managed.manage("DELETE", `/manage/v1/members/${id}`)).status).toBe(200);
  expect((await call("GET", SESSION)).status).toBe(401);
  expect((await signOnAs(managed, "ada")).end).toBe(problem("not_invited"));
  const again = await invite(managed, "ada@example.com", "operator");
  const { call: callAgain } = await signOnAs(managed, "ada");
  expect((await callAgain("GET", SESSION)).body).toMatchObject({ id: again, role: "operator" });
  expect(await managed.database.query("select member_id from control.identities")).toEqual([
    { member_id: Number(again) },
  ]);
});

test("logging out offers the provider's logout page only after single sign-on", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const { call } = await signOnAs(managed, "ada");
  const { body } = await call("DELETE", SESSION);
  const url = new URL(String(body["providerLogOutUrl"]));
  expect(url.origin).toBe(managed.provider.issuer);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: "purser",
    post_logout_redirect_uri: `${managed.service.url}/log-in`,
  });
  expect((await call("GET", SESSION)).status).toBe(401);
  const bob = await join(managed, "viewer", "bob");
  expect((await bob.call("DELETE", SESSION)).body).toEqual({ signedOut: true, providerLogOutUrl: null });
});
