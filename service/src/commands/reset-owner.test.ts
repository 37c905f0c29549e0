import { expect, test } from "vitest";
import { cookieOf, send, setupManage } from "../../test/manage.ts";
import { join, logIn, tokenOf } from "../../test/members.ts";
import { runPurser } from "../../test/purser.ts";
import { OWNER } from "../../test/seed.ts";

const PASSWORD = "nine-blue-lanterns";

async function reset(
  databaseUrl: string,
  email: string,
  settings: Record<string, string> = {},
): Promise<{ stdout: string; token: string }> {
  const { stdout } = await runPurser(["reset-owner", email], { DATABASE_URL: databaseUrl, ...settings });
  return { stdout, token: /#(\S+)/.exec(stdout)?.[1] ?? "" };
}

test("reset-owner restores an owner's access with a one-time link and is audited", async () => {
  const managed = await setupManage();
  const { service, database, manage } = managed;
  const old = cookieOf(await logIn(managed, OWNER.email, OWNER.password), service.url);
  const { stdout, token } = await reset(database.serviceUrl, OWNER.email.toUpperCase());
  expect(stdout).toContain("Ended: the password, 1 session");
  expect((await send(`${service.url}/manage/v1/session`, "GET", { headers: old })).status).toBe(401);
  const accept = () =>
    send(`${service.url}/manage/v1/links`, "POST", { body: { token, password: PASSWORD } });
  expect((await accept()).body).toMatchObject({ email: OWNER.email, role: "owner" });
  expect((await accept()).status).toBe(410);
  expect((await logIn(managed, OWNER.email, PASSWORD)).status).toBe(200);
  const { body } = await manage("GET", "/manage/v1/audit?action=member.owner_reset");
  expect(body["items"]).toMatchObject([
    {
      actor: { kind: "command", id: "purser reset-owner" },
      subject: OWNER.email,
      before: { role: "owner" },
      after: { role: "owner", sessionsEnded: 1 },
    },
  ]);
});

test("reset-owner ends all access obtained with the old password and lists what it ended", async () => {
  const managed = await setupManage();
  const { service, database, manage } = managed;
  const browser = { ...cookieOf(await logIn(managed, OWNER.email, OWNER.password), service.url) };
  const asThief = (path: string, body: object) =>
    send(`${service.url}/manage/v1/${path}`, "POST", { body, headers: browser });
  const made = await asThief("tokens", { name: "Kept", role: "owner", managesAccess: true });
  const invited = await asThief("members", { email: "eve@example.com", name: "Eve", role: "owner" });
  expect([made.status, invited.status]).toEqual([200, 200]);
  const { stdout, token } = await reset(database.serviceUrl, OWNER.email);
  expect(stdout).toContain(
    "Ended: the password, 1 session, 1 known device, 0 passkeys, 1 management token, 1 link.",
  );
  expect((await logIn(managed, OWNER.email, OWNER.password)).status).toBe(401);
  const kept = await send(`${service.url}/manage/v1/session`, "GET", { token: String(made.body["secret"]) });
  expect(kept.status).toBe(401);
  const use = (link: string) =>
    send(`${service.url}/manage/v1/links`, "POST", { body: { token: link, password: PASSWORD } });
  expect((await use(tokenOf(invited))).status).toBe(410);
  expect(await database.count("control.devices")).toBe(0);
  const { body } = await manage("GET", "/manage/v1/audit?action=member.owner_reset");
  expect(body["items"]).toMatchObject([
    { after: { passwordEnded: true, sessionsEnded: 1, devicesEnded: 1, tokensEnded: 1, linksEnded: 1 } },
  ]);
  expect((await use(token)).status).toBe(200);
});

test("an owner whose access was reset counts as another owner only after using the link", async () => {
  const managed = await setupManage();
  const { service, database } = managed;
  const zoe = await join(managed, "owner", "zoe");
  expect((await reset(database.serviceUrl, OWNER.email)).stdout).toContain("Ended: the password");
  const demote = () => zoe.call("PATCH", `/manage/v1/members/${zoe.id}`, { role: "admin" });
  const remove = () => zoe.call("DELETE", `/manage/v1/members/${zoe.id}`);
  for (const { status, body } of [await demote(), await remove()])
    expect([status, body["code"]]).toEqual([409, "last_owner"]);
  const { stdout, token } = await reset(database.serviceUrl, OWNER.email);
  expect(stdout).toContain("Ended: no password");
  await send(`${service.url}/manage/v1/links`, "POST", { body: { token, password: PASSWORD } });
  expect((await demote()).status).toBe(200);
});

test("reset-owner creates an owner for an unknown email and promotes a member", async () => {
  const managed = await setupManage();
  const { service, database, manage } = managed;
  await manage("POST", "/manage/v1/members", {
    body: { email: "ada@example.com", name: "Ada", role: "viewer" },
  });
  for (const email of ["ada@example.com", "new@example.com"]) {
    const { token } = await reset(database.serviceUrl, email);
    const accepted = await send(`${service.url}/manage/v1/links`, "POST", {
      body: { token, password: PASSWORD },
    });
    expect(accepted.body).toMatchObject({ email, role: "owner" });
  }
});

test("reset-owner prints a complete link if PUBLIC_URL is set", async () => {
  const { database } = await setupManage();
  const { stdout } = await reset(database.serviceUrl, OWNER.email, {
    PUBLIC_URL: "https://purser.example.com",
  });
  expect(stdout).toMatch(/^Open this link .*\n {2}https:\/\/purser\.example\.com\/\w+#\S+$/m);
});
