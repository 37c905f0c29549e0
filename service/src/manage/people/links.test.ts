import { expect, test } from "vitest";
import { cookieOf, type Managed, send, setupManage } from "../../../test/manage.ts";
import { callerWith, join, logIn, memberIdOf, tokenOf } from "../../../test/members.ts";
import { OWNER } from "../../../test/seed.ts";
import { hashPassword } from "./password.ts";
import { changePassword, checkPassword, openSession } from "./sign-in.ts";

const MEMBERS = "/manage/v1/members";
const SESSION = "/manage/v1/session";
const PASSWORD = "a-brand-new-password";

const accept = ({ service }: Managed, body: object) =>
  send(`${service.url}/manage/v1/links`, "POST", { body });

test("a one-time link works once, even when used concurrently", async () => {
  const managed = await setupManage();
  const body = { email: "ada@example.com", name: "Ada", role: "viewer" };
  const token = tokenOf(await managed.manage("POST", MEMBERS, { body }));
  const replies = await Promise.all([1, 2, 3, 4].map(() => accept(managed, { token, password: PASSWORD })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
  expect((await accept(managed, { token, password: PASSWORD })).body["code"]).toBe("link_invalid");
  expect(await managed.database.count("control.sessions")).toBe(1);
});

test("the error for an unknown link does not reveal whether the password is common", async () => {
  const managed = await setupManage();
  const common = "Password2026!";
  const replies = [
    await accept(managed, { token: "pur_link_made_up", password: common }),
    await send(`${managed.service.url}/manage/v1/setup`, "POST", {
      body: { token: "pur_link_made_up", email: "ada@example.com", name: "Ada", password: common },
    }),
  ];
  expect(replies.map(({ body }) => body["code"])).toEqual(["link_invalid", "link_invalid"]);
});

test("an invalid link is rejected before the password is checked or hashed", async () => {
  const managed = await setupManage();
  const { manage, database, service } = managed;
  const common = "Password2026!";
  const invite = async (email: string, token: string): Promise<string> =>
    tokenOf(await manage("POST", MEMBERS, { body: { email, name: "Ada", role: "viewer" }, token }));
  const old = await invite("old@example.com", managed.tokens.owner);
  await database.query("update control.links set created_by_kind = null, created_by_id = null");
  const revoked = await invite("revoked@example.com", managed.tokens.admin);
  await database.query("update control.management_tokens set revoked_at = now() where role = 'admin'");
  const ended = await invite("removed@example.com", managed.tokens.owner);
  await database.query("update control.members set removed_at = now() where email = 'removed@example.com'");
  for (const token of [old, revoked, ended]) {
    expect((await accept(managed, { token, password: common })).body["code"]).toBe("link_invalid");
  }
  await database.query(
    "insert into control.links (token_hash, purpose, expires_at, created_by_kind) values (sha256('pur_link_setup'), 'setup', now() + interval '1 day', 'system')",
  );
  const setup = { token: "pur_link_setup", email: "eve@example.com", name: "Eve", password: common };
  const reply = await send(`${service.url}/manage/v1/setup`, "POST", { body: setup });
  expect(reply.body["code"]).toBe("link_invalid");
});

test("a password that contains the member's email is rejected", async () => {
  const managed = await setupManage();
  const password = "wilhelmina.zwick-2026";
  const body = { email: "wilhelmina.zwick@example.com", name: "W", role: "viewer" };
  const invited = await managed.manage("POST", MEMBERS, { body });
  const refused = await accept(managed, { token: tokenOf(invited), password });
  expect([refused.status, refused.body["errors"]]).toMatchObject([
    400,
    [{ field: "password", code: "too_common" }],
  ]);
  expect((await accept(managed, { token: tokenOf(invited), password: PASSWORD })).status).toBe(200);
});

test("a request with missing or extra fields is rejected, and its link stays valid", async () => {
  const managed = await setupManage();
  const body = { email: "ada@example.com", name: "Ada", role: "viewer" };
  const invited = await managed.manage("POST", MEMBERS, { body });
  const token = tokenOf(invited);
  const [missing, short] = [
    await accept(managed, { token }),
    await accept(managed, { token, password: "short" }),
  ];
  expect([missing.status, missing.body["errors"]]).toMatchObject([
    400,
    [{ field: "password", code: "required" }],
  ]);
  expect([short.status, short.body["errors"]]).toMatchObject([
    400,
    [{ field: "password", message: "must have at least 12 characters" }],
  ]);
  expect((await accept(managed, { token, password: PASSWORD })).status).toBe(200);
  const reset = tokenOf(await managed.manage("POST", `${MEMBERS}/${memberIdOf(invited)}/link`));
  const named = await accept(managed, { token: reset, password: PASSWORD, name: "Other" });
  expect([named.status, named.body["errors"]]).toMatchObject([400, [{ field: "name" }]]);
  expect((await accept(managed, { token: reset, password: PASSWORD })).status).toBe(200);
});

test("a new link replaces the previous link, and replaced, expired and unknown links return the same error", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const body = { email: "ada@example.com", name: "Ada", role: "viewer" };
  const invited = await manage("POST", MEMBERS, { body });
  const id = memberIdOf(invited);
  const again = await manage("POST", `${MEMBERS}/${id}/link`);
  expect(again.body).toMatchObject({
    member: { status: "invited" },
    link: { path: expect.stringMatching(/^\/join#pur_link_/) },
  });
  const third = await manage("POST", `${MEMBERS}/${id}/link`);
  await database.query("update control.links set expires_at = now() where token_hash = sha256($1)", [
    Buffer.from(tokenOf(third)),
  ]);
  const refusals = [
    await accept(managed, { token: tokenOf(invited), password: PASSWORD }),
    await accept(managed, { token: tokenOf(again), password: PASSWORD }),
    await accept(managed, { token: tokenOf(third), password: PASSWORD }),
    await accept(managed, { token: "pur_link_made_up", password: PASSWORD }),
  ];
  for (const { status, body } of refusals)
    expect([status, { ...body, requestId: "" }]).toEqual([410, { ...refusals[0]?.body, requestId: "" }]);
});

test("a new password set with a link ends only that member's sessions", async () => {
  const managed = await setupManage();
  const { manage, service } = managed;
  const [ada, bob] = [await join(managed, "viewer", "ada"), await join(managed, "viewer", "bob")];
  const other = callerWith(cookieOf(await logIn(managed, ada.email, ada.password), service.url), service.url);
  const statuses = async () =>
    Promise.all([ada.call, other, bob.call].map(async (call) => (await call("GET", SESSION)).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  const token = tokenOf(await manage("POST", `${MEMBERS}/${ada.id}/link`));
  expect(await statuses()).toEqual([200, 200, 200]);
  const accepted = await accept(managed, { token, password: PASSWORD });
  expect(await statuses()).toEqual([401, 401, 200]);
  const fresh = callerWith(cookieOf(accepted, service.url), service.url);
  expect((await fresh("GET", SESSION)).body).toMatchObject({ email: ada.email });
  expect((await logIn(managed, ada.email, ada.password)).status).toBe(401);
  expect((await logIn(managed, ada.email, PASSWORD)).status).toBe(200);
});

test("nobody creates a link for themselves, neither in a session nor with a token", async () => {
  const managed = await setupManage();
  const ada = await join(managed, "admin", "ada");
  const made = await ada.call("POST", "/manage/v1/tokens", {
    name: "Hers",
    role: "admin",
    managesAccess: true,
  });
  const token = String(made.body["secret"]);
  const replies = [
    await ada.call("POST", `${MEMBERS}/${ada.id}/link`),
    await managed.manage("POST", `${MEMBERS}/${ada.id}/link`, { token }),
  ];
  expect(replies.map(({ status, body }) => [status, body["code"]])).toEqual([
    [403, "role_missing"],
    [403, "role_missing"],
  ]);
  expect(await managed.database.count("control.links", "purpose = 'password'")).toBe(0);
});

test("a removed member's sessions and links end, and the email can be invited again", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  const ada = await join(managed, "admin", "ada");
  const token = tokenOf(await manage("POST", `${MEMBERS}/${ada.id}/link`));
  expect((await manage("DELETE", `${MEMBERS}/${ada.id}`)).body).toEqual({ removed: true });
  expect((await ada.call("GET", SESSION)).status).toBe(401);
  expect(await managed.database.count("control.links", "used_at is null")).toBe(0);
  expect((await accept(managed, { token, password: PASSWORD })).status).toBe(410);
  expect((await logIn(managed, ada.email, ada.password)).status).toBe(401);
  const body = { email: ada.email, name: "Ada", role: "viewer" };
  const again = await manage("POST", MEMBERS, { body });
  expect([again.status, memberIdOf(again) === ada.id]).toEqual([200, false]);
});

test("changing the password ends all other sessions", async () => {
  const managed = await setupManage();
  const { manage, service } = managed;
  const ada = await join(managed, "viewer", "ada");
  const other = callerWith(cookieOf(await logIn(managed, ada.email, ada.password), service.url), service.url);
  const change = (current: string, next = PASSWORD) =>
    ada.call("POST", `${SESSION}/password`, { current, new: next });
  const wrong = await change("not-the-password");
  expect([wrong.status, wrong.body["code"]]).toEqual([401, "credentials_invalid"]);
  expect((await change(ada.password, "short")).status).toBe(400);
  expect((await change(ada.password)).body).toMatchObject({ email: ada.email });
  expect([(await ada.call("GET", SESSION)).status, (await other("GET", SESSION)).status]).toEqual([200, 401]);
  expect((await logIn(managed, ada.email, PASSWORD)).status).toBe(200);
  const token = await manage("POST", `${SESSION}/password`, { body: { current: "x", new: PASSWORD } });
  expect([token.status, token.body["code"]]).toEqual([403, "role_missing"]);
});

test("wrong current passwords in password changes are counted as failed logins", async () => {
  const managed = await setupManage();
  const ada = await join(managed, "viewer", "ada");
  const guess = () => ada.call("POST", `${SESSION}/password`, { current: "wrong", new: PASSWORD });
  for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401);
  expect((await guess()).status).toBe(429);
});

test("a password check cannot open a session or change the password after the password has changed", async () => {
  const { cell, database } = await setupManage();
  const checked = await checkPassword(cell, OWNER);
  if (checked === null) throw new Error("the owner has this password");
  const passwordHash = await hashPassword(PASSWORD);
  const change = () =>
    changePassword(cell, checked, {
      passwordHash,
      sessionHash: Buffer.alloc(32),
      device: null,
      requestId: "r",
    });
  expect(await change()).toBe(true);
  const visit = { requestId: "r", address: "127.0.0.1", userAgent: "" };
  expect(await openSession(cell, checked, visit, null)).toBe(null);
  expect(await change()).toBe(false);
  expect(await database.count("control.sessions")).toBe(0);
});

test("a login succeeds even if the device cannot be remembered", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const body = { email: "bob@example.com", name: "Bob", role: "viewer" };
  const token = tokenOf(await manage("POST", MEMBERS, { body }));
  await database.query("alter table control.devices add constraint none check (false) not valid");
  const accepted = await accept(managed, { token, password: PASSWORD });
  const opened = await logIn(managed, "bob@example.com", PASSWORD);
  expect([accepted.status, opened.status]).toEqual([200, 200]);
  expect(opened.headers.getSetCookie()).toHaveLength(1);
});

test("a promotion ends the member's links", async () => {
  const managed = await setupManage();
  const { manage, tokens } = managed;
  const body = { email: "bob@example.com", name: "Bob", role: "viewer" };
  const invited = await manage("POST", MEMBERS, { body, token: tokens.admin });
  await manage("PATCH", `${MEMBERS}/${memberIdOf(invited)}`, { body: { role: "owner" } });
  const { status, body: problem } = await accept(managed, { token: tokenOf(invited), password: PASSWORD });
  expect([status, problem["code"]]).toEqual([410, "link_invalid"]);
});

test("a common new password is rejected, and an existing short password still works", async () => {
  const managed = await setupManage();
  const { manage, database, service } = managed;
  const body = { email: "bob@example.com", name: "Bob", role: "viewer" };
  const token = tokenOf(await manage("POST", MEMBERS, { body }));
  const refused = await accept(managed, { token, password: "Password2026!" });
  expect(refused.body["errors"]).toMatchObject([{ field: "password", code: "too_common" }]);
  expect((await accept(managed, { token, password: PASSWORD })).status).toBe(200);
  await database.query("update control.members set password_hash = $1 where email = 'bob@example.com'", [
    await hashPassword("short"),
  ]);
  const opened = await logIn(managed, "bob@example.com", "short");
  const call = callerWith(cookieOf(opened, service.url), service.url);
  const change = (password: string) =>
    call("POST", `${SESSION}/password`, { current: "short", new: password });
  expect((await change("bob@example.com")).body["errors"]).toMatchObject([
    { field: "new", code: "too_common" },
  ]);
  expect((await change("eight-blue-teapots")).status).toBe(200);
});
