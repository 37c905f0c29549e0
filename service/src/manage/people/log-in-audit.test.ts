import { expect, test } from "vitest";
import { cookieOf, type Managed, send, setupManage } from "../../../test/manage.ts";
import { logIn } from "../../../test/members.ts";
import { logInFully, RECOVERY_CODES, setupWithPasskey } from "../../../test/second-factor.ts";
import { OWNER } from "../../../test/seed.ts";
import { FailedLogIns } from "./failed-log-ins.ts";

const SESSION = "/manage/v1/session";
const PROXY = { TRUST_PROXY: "127.0.0.1" };

/** Sends a wrong password through a proxy that reports the caller's address. */
function guess({ service }: Managed, email: string, address: string) {
  const headers = { "x-forwarded-for": address, "x-forwarded-proto": "https" };
  return send(`${service.url}${SESSION}`, "POST", { body: { email, password: "wrong" }, headers });
}

async function readFailures({ database }: Managed): Promise<Record<string, unknown>[]> {
  return database.query(
    "select subject, actor_kind, after from control.audit where action = 'member.sign_in_failed' order by id",
  );
}

/** Waits until failed logins are in the audit log. They are written after the response. */
async function waitForFailures({ database }: Managed, count: number): Promise<void> {
  const where = "action in ('member.sign_in_failed', 'member.password_refused')";
  await expect
    .poll(() => database.count("control.audit", where), { interval: 20, timeout: 10_000 })
    .toBe(count);
}

test("logins, failed logins and logouts are audited with their address", async () => {
  const managed = await setupManage(PROXY);
  const { service, database, manage } = managed;
  const headers = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https", "user-agent": "Firefox" };
  await guess(managed, OWNER.email, "203.0.113.9");
  await waitForFailures(managed, 1);
  const opened = await send(`${service.url}${SESSION}`, "POST", {
    body: { email: OWNER.email, password: OWNER.password },
    headers,
  });
  const cookie = cookieOf(opened, service.url);
  await send(`${service.url}${SESSION}/password`, "POST", {
    body: { current: "wrong", new: "eight-blue-teapots" },
    headers: { ...headers, ...cookie },
  });
  await waitForFailures(managed, 2);
  await send(`${service.url}${SESSION}`, "DELETE", { headers: { ...headers, ...cookie } });
  const { body } = await manage("GET", "/manage/v1/audit?action=member.&limit=4");
  const owner = { kind: "member", id: "1", name: OWNER.name };
  const nobody = { kind: "system", id: null };
  expect(body["items"]).toMatchObject([
    { action: "member.signed_out", actor: owner, after: { address: "203.0.113.7", everywhere: false } },
    { action: "member.password_refused", actor: nobody, after: { addresses: ["203.0.113.7"], attempts: 1 } },
    {
      action: "member.signed_in",
      actor: owner,
      subject: OWNER.email,
      after: { address: "203.0.113.7", userAgent: "Firefox" },
    },
    {
      action: "member.sign_in_failed",
      actor: nobody,
      subject: OWNER.email,
      after: { addresses: ["203.0.113.9"], attempts: 1 },
    },
  ]);
  expect(await database.count("control.audit", "after::text like '%wrong%'")).toBe(0);
});

test("only admins and owners see login addresses", async () => {
  const managed = await setupManage(PROXY);
  const { service, manage, tokens } = managed;
  await guess(managed, OWNER.email, "203.0.113.9");
  await waitForFailures(managed, 1);
  await send(`${service.url}${SESSION}`, "POST", {
    body: { email: OWNER.email, password: OWNER.password },
    headers: { "x-forwarded-for": "203.0.113.7", "user-agent": "Firefox" },
  });
  const read = async (token: string) => (await manage("GET", "/manage/v1/audit?limit=2", { token })).body;
  expect((await read(tokens.admin))["items"]).toMatchObject([
    { after: { address: "203.0.113.7", userAgent: "Firefox" } },
    { after: { addresses: ["203.0.113.9"] } },
  ]);
  for (const token of [tokens.viewer, tokens.operator]) {
    const page = await read(token);
    expect(page["items"]).toMatchObject([
      { action: "member.signed_in" },
      { action: "member.sign_in_failed", after: { attempts: 1 } },
    ]);
    expect(JSON.stringify(page)).not.toMatch(/203\.0\.113|Firefox/);
  }
});

test("only admins and owners see in the audit log who has a second factor", async () => {
  const { managed, authenticator, call } = await setupWithPasskey();
  const { manage, tokens, database } = managed;
  await logInFully(managed, authenticator);
  await call("POST", RECOVERY_CODES);
  expect((await manage("POST", "/manage/v1/members/1/second-factor/reset")).status).toBe(200);
  const read = async (token: string, query: string) => {
    const { body } = await manage("GET", `/manage/v1/audit?${query}`, { token });
    return body as { items: { id: string; action: string }[]; nextCursor: string | null };
  };
  const isAbout = "action ~ 'passkey|second_factor|recovery_codes'";
  await expect.poll(() => database.count("control.audit", isAbout)).toBe(4);
  const whole = await read(tokens.admin, "limit=200");
  expect(JSON.stringify(whole)).toMatch(/passkey_added.*openedWith/);
  for (const token of [tokens.viewer, tokens.operator]) {
    const items: object[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(token, `limit=1${cursor}`);
      // An empty page would show that an entry is hidden.
      expect(page.items).toHaveLength(1);
      items.push(...page.items);
      if (page.nextCursor === null) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(items).toHaveLength(whole.items.length - 4);
    expect(JSON.stringify(items)).not.toMatch(/passkey|second_factor|recovery_codes|openedWith/);
    expect(await read(token, "action=member.passkey_&limit=1")).toEqual({ items: [], nextCursor: null });
  }
});

test("many failed logins become one row, and unknown emails are not stored", async () => {
  const managed = await setupManage(PROXY);
  for (let i = 0; i < 24; i++) {
    const reply = await guess(managed, `stranger-${i}@example.com`, `203.0.113.${i}`);
    expect(reply.status).toBe(401);
  }
  expect(await readFailures(managed)).toMatchObject([
    { subject: "an unknown email", actor_kind: "system", after: { attempts: 1, addresses: ["203.0.113.0"] } },
  ]);
  expect(await managed.database.count("control.audit", "audit::text like '%stranger%'")).toBe(0);
});

test("the response to a wrong password does not wait for the audit log", async () => {
  const managed = await setupManage(PROXY);
  const { database } = managed;
  await database.query("begin");
  await database.query("lock table control.audit in exclusive mode");
  const known = await guess(managed, OWNER.email, "203.0.113.9");
  const unknown = await guess(managed, "stranger@example.com", "203.0.113.9");
  expect([known.status, unknown.status]).toEqual([401, 401]);
  await database.query("commit");
  await waitForFailures(managed, 2);
});

test("failed logins after the first are counted and written as one row after a minute", async () => {
  const managed = await setupManage();
  const failures = new FailedLogIns(managed.cell);
  const visit = (i: number) => ({ requestId: "req_1", address: `203.0.113.${i}`, userAgent: "" });
  for (let i = 0; i < 24; i++) {
    await failures.record("member.sign_in_failed", `stranger-${i}@example.com`, visit(i), i);
  }
  await failures.flush(59_999);
  expect(await readFailures(managed)).toHaveLength(1);
  await failures.flush(60_000);
  await failures.flush(180_000);
  const [, rest, ...more] = await readFailures(managed);
  expect(rest).toMatchObject({ subject: "an unknown email", after: { attempts: 23, moreAddresses: 15 } });
  expect(more).toEqual([]);
});

test("failed logins that cannot be written are counted in a later row", async () => {
  const managed = await setupManage();
  const { database, cell } = managed;
  const failures = new FailedLogIns(cell);
  const visit = (i: number) => ({ requestId: "req_1", address: `203.0.113.${i}`, userAgent: "" });
  for (let i = 0; i < 5; i++) await failures.record("member.sign_in_failed", OWNER.email, visit(i), i);
  await database.query("alter table control.audit rename to audit_away");
  await expect(failures.flush(60_000)).rejects.toThrow();
  await database.query("alter table control.audit_away rename to audit");
  await failures.record("member.sign_in_failed", OWNER.email, visit(9), 60_001);
  await failures.flush(120_000);
  const [, rest, ...more] = await readFailures(managed);
  const addresses = [1, 2, 3, 4, 9].map((i) => `203.0.113.${i}`);
  expect(rest).toMatchObject({ after: { attempts: 5, addresses } });
  expect(more).toEqual([]);
});

test("failed logins are counted per member, and a repeated logout is recorded once", async () => {
  const managed = await setupManage(PROXY);
  const { service, database, manage } = managed;
  await manage("POST", "/manage/v1/members", {
    body: { email: "ada@example.com", name: "Ada", role: "viewer" },
  });
  for (const email of ["ADA@example.com", OWNER.email, "ada@example.com"]) {
    await guess(managed, email, "203.0.113.9");
  }
  await waitForFailures(managed, 2);
  expect((await readFailures(managed)).map(({ subject }) => subject).sort()).toEqual([
    "ada@example.com",
    OWNER.email,
  ]);
  const cookie = cookieOf(await logIn(managed, OWNER.email, OWNER.password), service.url);
  for (let i = 0; i < 2; i++) await send(`${service.url}${SESSION}`, "DELETE", { headers: cookie });
  expect(await database.count("control.audit", "action = 'member.signed_out'")).toBe(1);
});
