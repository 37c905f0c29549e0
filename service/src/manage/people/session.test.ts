import { expect, test } from "vitest";
import { createDatabase, createTestProject, startTestService } from "../../../test/harness.ts";
import { cookieOf, send, setupManage } from "../../../test/manage.ts";
import { OWNER, openTestPool } from "../../../test/seed.ts";
import { makeSetupLink } from "./set-up.ts";

const SESSION = "/manage/v1/session";

test("the correct password opens a session, and a logout ends this session or all sessions", async () => {
  const { service } = await setupManage();
  const url = `${service.url}${SESSION}`;
  const logIn = async () => {
    const reply = await send(url, "POST", { body: { email: "OWNER@example.com", password: OWNER.password } });
    expect(reply.body).toMatchObject({ kind: "member", email: OWNER.email, role: "owner" });
    expect(reply.headers.getSetCookie()[0]).toMatch(
      /^__Host-purser_session=pur_session_\w+; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    return cookieOf(reply, service.url);
  };
  const [first, second, third] = [await logIn(), await logIn(), await logIn()];
  expect((await send(url, "DELETE", { headers: first })).status).toBe(200);
  const statuses = async () =>
    Promise.all([first, second, third].map(async (headers) => (await send(url, "GET", { headers })).status));
  expect(await statuses()).toEqual([401, 200, 200]);
  await send(`${url}?everywhere=true`, "DELETE", { headers: second });
  expect(await statuses()).toEqual([401, 401, 401]);
});

test("a wrong password and an unknown email return the same error, and the sixth guess in a minute is rejected", async () => {
  const { service } = await setupManage();
  const guess = (email: string) =>
    send(`${service.url}${SESSION}`, "POST", { body: { email, password: "wrong" } });
  const [known, unknown] = [await guess(OWNER.email), await guess("nobody@example.com")];
  expect([known.status, known.body["code"]]).toEqual([401, "credentials_invalid"]);
  expect({ ...unknown.body, requestId: "" }).toEqual({ ...known.body, requestId: "" });
  for (let i = 0; i < 4; i++) expect((await guess(OWNER.email)).status).toBe(401);
  const refused = await guess(OWNER.email);
  expect([refused.status, refused.body["code"]]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("another website cannot make changes with a member's cookie or log anyone in", async () => {
  const { service, here } = await setupManage();
  const reply = await send(`${service.url}${SESSION}`, "POST", { body: OWNER_CREDENTIALS });
  const foreign = {
    ...cookieOf(reply, service.url),
    origin: "https://evil.example",
    "sec-fetch-site": "cross-site",
  };
  const put = await send(`${service.url}${here}/customers/eve`, "PUT", { body: {}, headers: foreign });
  expect([put.status, put.body["code"]]).toEqual([403, "origin_not_allowed"]);
  const logIn = await send(`${service.url}${SESSION}`, "POST", { body: OWNER_CREDENTIALS, headers: foreign });
  expect(logIn.status).toBe(403);
});

const OWNER_CREDENTIALS = { email: OWNER.email, password: OWNER.password };

test("the setup link creates the first owner once, even when used concurrently", async () => {
  const database = await createDatabase();
  await createTestProject(database);
  const service = await startTestService(database);
  const pool = openTestPool(database.serviceUrl);
  const token = await makeSetupLink(pool);
  await pool.end();
  const url = `${service.url}/manage/v1/setup`;
  expect((await send(url, "GET")).body).toEqual({ isNeeded: true });
  const replies = await Promise.all(
    ["a", "b", "c"].map((name) =>
      send(url, "POST", { body: { token, name, email: `${name}@example.com`, password: OWNER.password } }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
  expect(await database.count("control.members")).toBe(1);
  expect((await send(url, "GET")).body).toEqual({ isNeeded: false });
});

test("the setup state is cached after setup is done", async () => {
  const { manage, database } = await setupManage();
  const isNeeded = async () => (await manage("GET", "/manage/v1/setup", { token: null })).body["isNeeded"];
  expect(await isNeeded()).toBe(false);
  // No API call can remove all members, so this test deletes them in the database. The cached response must not change.
  await database.query("update control.members set removed_at = now()");
  expect(await isNeeded()).toBe(false);
});

test("removed members and ended sessions have no access", async () => {
  const { service, database } = await setupManage();
  const url = `${service.url}${SESSION}`;
  const headers = cookieOf(await send(url, "POST", { body: OWNER_CREDENTIALS }), service.url);
  await database.query("update control.sessions set expires_at = now()");
  expect((await send(url, "GET", { headers })).status).toBe(401);
  await database.query("update control.sessions set expires_at = now() + interval '1 day'");
  expect((await send(url, "GET", { headers })).status).toBe(200);
  await database.query("update control.members set removed_at = now()");
  expect((await send(url, "GET", { headers })).status).toBe(401);
});
