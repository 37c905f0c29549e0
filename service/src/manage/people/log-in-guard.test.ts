import { expect, test } from "vitest";
import type { Reply } from "../../../test/harness.ts";
import { send, setupManage } from "../../../test/manage.ts";
import { OWNER } from "../../../test/seed.ts";
import { Problem } from "../../edge/problem.ts";
import { LogInGuard } from "./log-in-guard.ts";

const WRONG = "not-the-password";

/** A service behind a trusted proxy, so that a test can use any address. */
async function setup() {
  const managed = await setupManage({ TRUST_PROXY: "127.0.0.1" });
  const logIn = (from: string, password: string, options: { email?: string; device?: string } = {}) =>
    send(`${managed.service.url}/manage/v1/session`, "POST", {
      body: { email: options.email ?? OWNER.email, password },
      headers: {
        "x-forwarded-for": from,
        ...(options.device === undefined ? {} : { cookie: options.device }),
      },
    });
  const guess = async (count: number, from: (i: number) => string, options = {}): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push((await logIn(from(i), WRONG, options)).status);
    return statuses;
  };
  return { ...managed, logIn, guess };
}

function deviceOf(reply: Reply): string {
  const cookie = reply.headers.getSetCookie().find((line) => line.startsWith("__Host-purser_device="));
  return cookie?.split(";", 1)[0] ?? "";
}

const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

test("password guesses from many addresses do not lock out a device that logged in before", async () => {
  const { logIn, guess } = await setup();
  const reply = await logIn("198.51.100.1", OWNER.password);
  expect(reply.headers.getSetCookie().at(-1)).toMatch(
    /^__Host-purser_device=pur_device_\w+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  await guess(50, (i) => `203.0.113.${Math.floor(i / 5)}`);
  expect((await logIn("198.51.100.9", OWNER.password)).status).toBe(429);
  const back = await logIn("198.51.100.1", OWNER.password, { device: deviceOf(reply) });
  expect(back.status).toBe(200);
  // With its device cookie, the device can log in from any network, including the network of the guesser.
  expect((await logIn("203.0.113.1", OWNER.password, { device: deviceOf(back) })).status).toBe(200);
});

test("password guesses behind an untrusted proxy do not lock out a device that logged in before", async () => {
  const { service } = await setupManage();
  const url = `${service.url}/manage/v1/session`;
  const body = { email: OWNER.email, password: OWNER.password };
  const device = deviceOf(await send(url, "POST", { body }));
  for (let i = 0; i < 20; i++) {
    await send(url, "POST", { body: { email: `guess${i}@example.com`, password: WRONG } });
  }
  expect((await send(url, "POST", { body })).status).toBe(429);
  expect((await send(url, "POST", { body, headers: { cookie: device } })).status).toBe(200);
});

test("a known device has five login attempts a minute, only for members who logged in with that device", async () => {
  const { logIn, guess } = await setup();
  const device = deviceOf(await logIn("198.51.100.1", OWNER.password));
  expect(await guess(6, (i) => `203.0.113.${i}`, { device })).toEqual([...times(5, 401), 429]);
  // With another email or a forged cookie, the device is unknown.
  for (const stranger of [{ email: "nobody@example.com", device }, { device: `${device}x` }]) {
    await guess(5, () => "192.0.2.1", stranger);
    expect((await logIn("192.0.2.1", WRONG, stranger)).status).toBe(429);
  }
});

test("after a password change, devices that used the old password are no longer known", async () => {
  const { service, logIn, guess } = await setup();
  const other = deviceOf(await logIn("198.51.100.1", OWNER.password));
  const reply = await logIn("198.51.100.2", OWNER.password);
  const cookies = reply.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  const password = "eight-blue-kettles";
  const changed = await send(`${service.url}/manage/v1/session/password`, "POST", {
    body: { current: OWNER.password, new: password },
    headers: { cookie: cookies.join("; "), "x-forwarded-for": "198.51.100.2" },
  });
  expect(changed.status).toBe(200);
  await guess(5, () => "198.51.100.1");
  expect((await logIn("198.51.100.1", password, { device: other })).status).toBe(429);
  expect((await logIn("198.51.100.1", password, { device: deviceOf(reply) })).status).toBe(200);
});

test("a logged-in member can change the password while others guess it", async () => {
  const { service, logIn, guess } = await setup();
  const [session = ""] = (await logIn("198.51.100.1", OWNER.password)).headers.getSetCookie();
  await guess(5, () => "198.51.100.1");
  const change = (current: string) =>
    send(`${service.url}/manage/v1/session/password`, "POST", {
      body: { current, new: "eight-blue-kettles" },
      headers: { cookie: session.split(";", 1)[0] ?? "", "x-forwarded-for": "198.51.100.1" },
    });
  for (let i = 0; i < 4; i++) expect((await change(WRONG)).status).toBe(401);
  expect((await change(OWNER.password)).status).toBe(200);
});

test("login attempts from the same IPv6 /64 network are counted together", async () => {
  const { logIn, guess } = await setup();
  expect(await guess(6, (i) => `2001:db8:1:2::${i}`)).toEqual([...times(5, 401), 429]);
  expect((await logIn("2001:db8:1:3::1", WRONG)).status).toBe(401);
  expect(await guess(6, (i) => (i % 2 === 0 ? "::ffff:203.0.113.7" : "203.0.113.7"))).toEqual([
    ...times(5, 401),
    429,
  ]);
});

test("login attempts rejected by a full queue are not counted as guesses", async () => {
  const guard = new LogInGuard();
  let release = (): void => {};
  const held = new Promise<null>((resolve) => {
    release = () => resolve(null);
  });
  const attempt = (email: string, address: string) => ({ email, address, known: null });
  // One check is running and ten are waiting.
  const strangers = Array.from({ length: 11 }, (_, i) =>
    guard.guard(attempt(`guess${i}@example.com`, `203.0.113.${i}`), 0, () => held),
  );
  const owner = attempt(OWNER.email, "198.51.100.1");
  for (let i = 0; i < 5; i++) {
    expect(await isRefused(guard.guard(owner, 0, async () => OWNER))).toBe(true);
  }
  release();
  await Promise.all(strangers);
  expect(await isRefused(guard.guard(owner, 0, async () => OWNER))).toBe(false);
});

test("login attempts from a known device do not wait for attempts from unknown devices", async () => {
  const { logIn } = await setup();
  const device = deviceOf(await logIn("198.51.100.1", OWNER.password));
  const strangers = Array.from({ length: 60 }, (_, i) =>
    logIn(`203.0.113.${i}`, WRONG, { email: `guess${i}@example.com` }),
  );
  const owner = logIn("198.51.100.1", OWNER.password, { device });
  expect((await owner).status).toBe(200);
  const statuses = (await Promise.all(strangers)).map(({ status }) => status);
  expect(statuses).toContain(429);
});

const isRefused = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => false,
    (error: unknown) => error instanceof Problem && error.code === "rate_limited",
  );

test("each browser or network can log in as the same member ten times a minute", async () => {
  const { logIn, database } = await setup();
  const device = deviceOf(await logIn("198.51.100.1", OWNER.password));
  for (let i = 0; i < 10; i++) {
    expect((await logIn("198.51.100.1", OWNER.password, { device })).status).toBe(200);
  }
  expect((await logIn("198.51.100.2", OWNER.password, { device })).status).toBe(429);
  for (let i = 0; i < 9; i++) expect((await logIn("198.51.100.1", OWNER.password)).status).toBe(200);
  expect((await logIn("198.51.100.1", OWNER.password)).status).toBe(429);
  expect(await database.count("control.audit", "action = 'member.signed_in'")).toBe(20);
  expect((await logIn("198.51.100.1", WRONG, { email: "other@example.com" })).status).toBe(401);
});

test("someone who stole a member's password cannot stop the member from logging in or changing the password", async () => {
  const { service, logIn } = await setup();
  const reply = await logIn("198.51.100.1", OWNER.password);
  const cookies = reply.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  const thief = deviceOf(await logIn("203.0.113.1", OWNER.password));
  for (let i = 0; i < 10; i++) await logIn("203.0.113.1", OWNER.password, { device: thief });
  expect((await logIn("203.0.113.1", OWNER.password, { device: thief })).status).toBe(429);
  expect((await logIn("198.51.100.1", OWNER.password, { device: deviceOf(reply) })).status).toBe(200);
  const changed = await send(`${service.url}/manage/v1/session/password`, "POST", {
    body: { current: OWNER.password, new: "eight-blue-kettles" },
    headers: { cookie: cookies.join("; "), "x-forwarded-for": "198.51.100.1" },
  });
  expect(changed.status).toBe(200);
});

test("a member's known devices share one place in the login queue, and unknown devices get every second turn", async () => {
  const guard = new LogInGuard();
  const served: string[] = [];
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const attempt = (email: string, known: string | null) =>
    isRefused(
      guard.guard({ email, address: "203.0.113.1", known }, 0, async () => {
        await gate;
        served.push(email);
        return null;
      }),
    );
  const running = attempt("a@example.com", "device of a");
  expect(await attempt("a@example.com", "another device of a")).toBe(true);
  const waiting = [
    attempt("b@example.com", "device of b"),
    attempt("c@example.com", "device of c"),
    attempt("x@example.com", null),
    attempt("y@example.com", null),
  ];
  expect(await attempt("b@example.com", "device of b")).toBe(true);
  open();
  expect(await Promise.all([running, ...waiting])).toEqual([false, false, false, false, false]);
  expect(served.map((email) => email[0]).join("")).toBe("axbyc");
});

test("a browser shared by two members has five login attempts a minute for each member", async () => {
  const guard = new LogInGuard();
  const refused = (email: string) =>
    isRefused(guard.guard({ email, address: "203.0.113.1", known: "device" }, 0, async () => null));
  for (let i = 0; i < 5; i++) expect(await refused("a@example.com")).toBe(false);
  expect([await refused("a@example.com"), await refused("b@example.com")]).toEqual([true, false]);
});

test("a new password is hashed after the running password check", async () => {
  const guard = new LogInGuard();
  const done: string[] = [];
  const check = guard.guard({ email: OWNER.email, address: "203.0.113.1", known: null }, 0, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    done.push("checked");
    return null;
  });
  await guard.inTurn(async () => done.push("hashed"));
  await check;
  expect(done).toEqual(["checked", "hashed"]);
});

test("forged addresses are counted as the proxy's address and are not stored", async () => {
  const { logIn, guess, database } = await setup();
  expect(await guess(6, (i) => `made up ${i}`)).toEqual([...times(5, 401), 429]);
  expect((await logIn("198.51.100.1", OWNER.password)).status).toBe(200);
  expect(await database.count("control.audit", "after::text like '%made up%'")).toBe(0);
});

test("many logins with different emails do not reset another caller's count of wrong passwords", async () => {
  const guard = new LogInGuard();
  const attempt = { email: OWNER.email, address: "203.0.113.1", known: null };
  const wrong = async () => null;
  for (let i = 0; i < 5; i++) await guard.guard(attempt, 0, wrong);
  for (let i = 0; i < 12_000; i++) {
    const address = `10.${Math.floor(i / 65_536)}.${Math.floor(i / 256) % 256}.${i % 256}`;
    await guard.guard({ email: `junk${i}@example.com`, address, known: null }, 1, wrong);
  }
  expect(await isRefused(guard.guard(attempt, 2, wrong))).toBe(true);
  expect(await isRefused(guard.guard(attempt, 60_001, wrong))).toBe(false);
});

test("a password check that fails with an error is not counted as a guess", async () => {
  const guard = new LogInGuard();
  const attempt = { email: OWNER.email, address: "203.0.113.1", known: null };
  const outage = () => Promise.reject(new Error("the database is gone"));
  for (let i = 0; i < 9; i++) expect(await isRefused(guard.guard(attempt, 0, outage))).toBe(false);
  expect(await isRefused(guard.guard(attempt, 0, async () => null))).toBe(false);
});

test("too many malformed login attempts from a network block logins from that network", async () => {
  const guard = new LogInGuard();
  const refused = (address: string) => isRefused((async () => guard.countMalformed(address, 0))());
  for (let i = 0; i < 60; i++) expect(await refused(`2001:db8:1:2::${i}`)).toBe(false);
  expect(await refused("2001:db8:1:2::99")).toBe(true);
  const logIn = (address: string, known: string | null) =>
    isRefused(guard.guard({ email: OWNER.email, address, known }, 0, async () => null));
  expect(await logIn("2001:db8:1:2::1", null)).toBe(true);
  expect(await logIn("2001:db8:1:2::1", "device")).toBe(false);
  expect(await logIn("203.0.113.1", null)).toBe(false);
});
