import { expect, test } from "vitest";
import { cookieOf, type Managed, send, setupManage } from "../../../test/manage.ts";
import { callerWith, join } from "../../../test/members.ts";
import { OWNER } from "../../../test/seed.ts";
import { LiveSessions } from "./live-sessions.ts";

const SESSION = "/manage/v1/session";
const SESSIONS = "/manage/v1/sessions";
const PROXY = { TRUST_PROXY: "127.0.0.1" };
const HOUR_SECONDS = 3_600;

type Listed = { id: string; isCurrent: boolean; address: string | null; userAgent: string | null };

async function open({ service }: Managed, userAgent = "Firefox") {
  const reply = await send(`${service.url}${SESSION}`, "POST", {
    body: { email: OWNER.email, password: OWNER.password },
    headers: { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https", "user-agent": userAgent },
  });
  expect(reply.status).toBe(200);
  const headers = cookieOf(reply, service.url);
  const call = callerWith(headers, service.url);
  const list = async () => (await call("GET", SESSIONS)).body["items"] as Listed[];
  return { token: headers["cookie"]?.split("=")[1] ?? "", call, list };
}

test("a session ends after 12 idle hours, and an active session ends when it expires", async () => {
  const managed = await setupManage();
  const { call, token } = await open(managed);
  const idle = (hours: number) =>
    managed.database.query("update control.sessions set last_used_at = now() - make_interval(secs => $1)", [
      hours * HOUR_SECONDS,
    ]);
  await idle(11.9);
  expect((await call("GET", SESSION)).status).toBe(200);
  await idle(12.1);
  expect((await call("GET", SESSION)).status).toBe(401);
  await idle(11.9);
  const sessions = new LiveSessions(managed.cell, 12 * HOUR_SECONDS);
  await sessions.find(token, "203.0.113.8");
  await sessions.flush();
  const [row] = await managed.database.query(
    "select last_used_at > now() - interval '1 minute' as is_recent, address from control.sessions",
  );
  expect(row).toEqual({ is_recent: true, address: "203.0.113.8" });
});

test("the idle timeout is configurable", async () => {
  const managed = await setupManage({ SESSION_IDLE_HOURS: "1" });
  const { call } = await open(managed);
  await managed.database.query("update control.sessions set last_used_at = now() - interval '61 minutes'");
  expect((await call("GET", SESSION)).status).toBe(401);
});

test("members list and end only their own sessions", async () => {
  const managed = await setupManage(PROXY);
  const { database } = managed;
  const ada = await join(managed, "viewer", "ada");
  const [here, there, third] = [await open(managed), await open(managed, "Chrome"), await open(managed)];
  const listed = await here.list();
  expect(listed).toHaveLength(3);
  expect(listed.filter(({ isCurrent }) => isCurrent)).toMatchObject([
    { address: expect.any(String), userAgent: "Firefox", createdAt: expect.any(String) },
  ]);
  const chrome = listed.find(({ userAgent }) => userAgent === "Chrome");
  expect(chrome).toMatchObject({ isCurrent: false, address: "203.0.113.7", lastUsedAt: expect.any(String) });

  const foreign = await ada.call("DELETE", `${SESSIONS}/${chrome?.id}`);
  expect([foreign.status, foreign.body["code"]]).toEqual([404, "not_found"]);
  expect((await ada.call("GET", SESSIONS)).body["items"]).toHaveLength(1);
  expect((await here.call("DELETE", `${SESSIONS}/${chrome?.id}`)).status).toBe(200);
  expect((await there.call("GET", SESSION)).status).toBe(401);
  expect((await here.call("DELETE", `${SESSIONS}/${chrome?.id}`)).status).toBe(404);

  expect((await here.call("DELETE", SESSIONS)).body).toEqual({ ended: 1 });
  expect((await third.call("GET", SESSION)).status).toBe(401);
  expect((await here.call("GET", SESSION)).status).toBe(200);
  expect((await ada.call("GET", SESSION)).status).toBe(200);
  expect(await database.count("control.audit", "action like 'member.%session%_ended'")).toBe(2);
});

test("a management token has no sessions to list or end", async () => {
  const { manage } = await setupManage();
  expect((await manage("GET", SESSIONS)).body).toEqual({ items: [], nextCursor: null });
  expect((await manage("DELETE", SESSIONS)).body).toEqual({ ended: 0 });
  expect((await manage("DELETE", `${SESSIONS}/1`)).status).toBe(404);
});

test("a member has at most 50 sessions, and a new session ends the least recently used session", async () => {
  const managed = await setupManage();
  const first = await open(managed);
  await managed.database.query(
    `insert into control.sessions (token_hash, member_id, expires_at)
     select sha256(n::text::bytea), 1, now() + interval '1 day'
     from generate_series(1, 49) as n`,
  );
  expect((await first.call("GET", SESSION)).status).toBe(200);
  const last = await open(managed);
  expect(await managed.database.count("control.sessions")).toBe(50);
  expect((await first.call("GET", SESSION)).status).toBe(401);
  expect((await last.call("GET", SESSION)).status).toBe(200);
});
