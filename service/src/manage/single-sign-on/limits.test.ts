import { expect, onTestFinished, test } from "vitest";
import { startForgingProvider } from "../../../test/forging-provider.ts";
import { startTestService } from "../../../test/harness.ts";
import { type Managed, send, setupManage } from "../../../test/manage.ts";
import { join, logIn } from "../../../test/members.ts";
import {
  ATTEMPT_COOKIE,
  Browser,
  connectAs,
  invite,
  locationOf,
  logInAtProvider,
  pathOf,
  settingsFor,
  setupSignOn,
  signOnAs,
} from "../../../test/oidc.ts";
import { openTestPool } from "../../../test/seed.ts";
import { freePort } from "../../postgres/free-port.ts";
import { transaction } from "../../postgres/transaction.ts";
import { deleteEndedAttempts } from "../../store/control/sign-on-attempts.ts";
import { failure } from "./discover.ts";

const SESSION = "/manage/v1/session";
const START = `${SESSION}/oidc`;
const ADA = { ada: { email: "ada@example.com", email_verified: true } };
const problem = (code: string): string => `/log-in?problem=${code}`;

async function begin({ service }: Managed, browser = new Browser()): Promise<string> {
  return locationOf(await browser.get(`${service.url}${START}`));
}

async function fill({ database }: Managed): Promise<void> {
  await database.query(
    `insert into control.sign_on_attempts (token_hash, state, nonce, verifier, return_path, expires_at)
     select sha256(n::text::bytea), 's', 'n', 'v', '/', now() + make_interval(secs => 60 + n) from generate_series(1, 10000) as n`,
  );
}

test("if too many sign-ins are open, a new one ends the oldest, and later ones and connections continue", async () => {
  const managed = await setupSignOn({ ...ADA, bob: { email: "bob@example.com", email_verified: true } });
  await invite(managed, "ada@example.com");
  await invite(managed, "carl@example.com");
  managed.provider.people["carl"] = { email: "carl@example.com", email_verified: true };
  const bob = await join(managed, "viewer", "bob");
  const browser = new Browser();
  const callback = await logInAtProvider(browser, await begin(managed, browser), "ada");
  await fill(managed);
  expect((await signOnAs(managed, "carl")).end).toBe("/");
  expect(await managed.database.count("control.sign_on_attempts")).toBe(9_999);
  expect(pathOf(locationOf(await browser.get(callback)))).toBe("/");
  const { headers } = await logIn(managed, bob.email, bob.password);
  const [cookie = ""] = headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  expect(await connectAs(managed, "bob", { cookie })).toContain("connected=true");
});

test("two processes start sign-ins at once while too many are open", async () => {
  const managed = await setupSignOn(ADA);
  const { database, service } = managed;
  const second = await startTestService(database, { ...managed.settings, PORT: "0" });
  await fill(managed);
  const services = [service, second];
  const starts = await Promise.all(
    Array.from({ length: 80 }, (_, i) =>
      fetch(`${services[i % 2]?.url}${START}`, { redirect: "manual" }).then(locationOf),
    ),
  );
  expect(starts.filter((url) => !url.startsWith(managed.provider.issuer))).toEqual([]);
  await begin(managed);
  expect(await database.count("control.sign_on_attempts")).toBe(10_000);
});

test("expired sign-ins are deleted in pages, without waiting for a locked row", async () => {
  const managed = await setupSignOn(ADA);
  const { database } = managed;
  await fill(managed);
  await database.query("update control.sign_on_attempts set expires_at = now() - interval '1 second'");
  const pool = openTestPool(database.serviceUrl);
  onTestFinished(() => pool.end());
  await transaction(pool, async (tx) => {
    await deleteEndedAttempts(tx);
    await begin(managed);
  });
  expect(await database.count("control.sign_on_attempts")).toBe(9_801);
});

test("a page that loads the start of a sign-in as images blocks nobody", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  for (let i = 0; i < 70; i += 1) {
    const headers = { "sec-fetch-dest": "image" };
    const response = await fetch(`${managed.service.url}${START}`, { redirect: "manual", headers });
    expect(response.headers.get("location")).toBe("/log-in");
  }
  expect(await managed.database.count("control.sign_on_attempts")).toBe(0);
  expect((await signOnAs(managed, "ada")).end).toBe("/");
});

test("a link on another site leads to the login page, and starts no sign-in", async () => {
  const managed = await setupSignOn(ADA);
  const open = async (site: string) => {
    const headers = { "sec-fetch-dest": "document", "sec-fetch-site": site };
    const response = await fetch(`${managed.service.url}${START}?next=%2Fwelcome`, {
      redirect: "manual",
      headers,
    });
    return { location: response.headers.get("location"), cookies: response.headers.getSetCookie() };
  };
  for (const site of ["cross-site", "same-site"])
    expect(await open(site)).toEqual({ location: "/log-in?next=%2Fwelcome", cookies: [] });
  expect(await managed.database.count("control.sign_on_attempts")).toBe(0);
  for (const site of ["same-origin", "none"])
    expect((await open(site)).location).toContain(managed.provider.issuer);
});

test("a sign-in that has begun ends, even if its network has begun too many", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const browser = new Browser();
  const callback = await logInAtProvider(browser, await begin(managed, browser), "ada");
  const ends: string[] = [];
  for (let i = 0; i < 70; i += 1) {
    ends.push(pathOf(await begin(managed)));
    await fetch(`${managed.service.url}${START}/callback?code=c&state=s`, { redirect: "manual" });
  }
  expect(ends).toContain(problem("too_many_attempts"));
  expect(pathOf(locationOf(await browser.get(callback)))).toBe("/");
  expect(browser.cookie(managed.service.url, ATTEMPT_COOKIE)).toBe(null);
  expect(browser.cookie(managed.service.url, "__Host-purser_device")).not.toBe(null);
});

test("a wrong client secret is reported as a wrong setting", async () => {
  const managed = await setupSignOn(ADA, { OIDC_CLIENT_SECRET: "a-wrong-secret-of-at-least-32-characters" });
  await invite(managed, "ada@example.com");
  expect((await signOnAs(managed, "ada")).end).toBe(problem("provider_misconfigured"));
});

test("a user info endpoint that rejects the access token is a wrong response", async () => {
  const provider = await startForgingProvider();
  provider.forge = ({ email, ...claims }) => claims;
  provider.metadata = (metadata) => ({ ...metadata, userinfo_endpoint: `${provider.issuer}/user-info` });
  const managed = await setupManage(settingsFor(provider.issuer, await freePort()));
  expect((await signOnAs(managed, "ada")).end).toBe(problem("response_invalid"));
});

test("an unexpected error is a wrong response, whose cause names the place but not the message", () => {
  const { code, cause } = failure(new RangeError("eyJhbGciOiJub25lIn0"));
  expect(code).toBe("response_invalid");
  expect(cause).toMatch(/^unexpected RangeError at .*limits\.test\.ts/);
  expect(failure("a text")).toMatchObject({ code: "response_invalid", cause: "unexpected string" });
});

test.each([
  ["a subject that is too long", { sub: "x".repeat(256) }, "response_invalid"],
  ["a subject with a NUL", { sub: "a\0b" }, "response_invalid"],
  ["a Kelvin sign in the email", { email: "\u212Aim@example.com" }, "email_unverified"],
])("%s is rejected", async (_, claims, code) => {
  const provider = await startForgingProvider();
  provider.forge = (given) => ({ ...given, ...claims });
  const managed = await setupManage(settingsFor(provider.issuer, await freePort()));
  await invite(managed, "kim@example.com");
  expect((await signOnAs(managed, "ada")).end).toBe(problem(code));
});

test("an account is connected only in a recent session that is still valid, and after the upgrade", async () => {
  const managed = await setupSignOn(ADA);
  const { database } = managed;
  const ada = await join(managed, "viewer", "ada");
  const connect = async () => (await ada.call("POST", `${SESSION}/sign-on`)).body["code"];
  await database.query("update cell.identity set data_format = 1");
  expect(await connect()).toBe("upgrade_unfinished");
  await database.query("update cell.identity set data_format = 2");
  await database.query("update control.sessions set created_at = now() - interval '11 minutes'");
  expect(await connect()).toBe("recent_log_in_required");
  const { headers } = await logIn(managed, ada.email, ada.password);
  const [cookie = ""] = headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  class Idle extends Browser {
    override async get(address: string): Promise<Response> {
      if (address.includes("/oidc/callback"))
        await database.query("update control.sessions set last_used_at = now() - interval '1 year'");
      return super.get(address);
    }
  }
  expect(await connectAs(managed, "ada", { cookie, browser: new Idle() })).toContain(
    "problem=attempt_invalid",
  );
  expect(await database.count("control.identities")).toBe(0);
});

test("a new sign-in ends the browser's previous session", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const browser = new Browser();
  await signOnAs(managed, "ada", { browser });
  const cookie = `__Host-purser_session=${browser.cookie(managed.service.url, "__Host-purser_session")}`;
  await signOnAs(managed, "ada", { browser });
  const previous = await send(`${managed.service.url}${SESSION}`, "GET", { headers: { cookie } });
  expect(previous.status).toBe(401);
  expect(await managed.database.count("control.sessions")).toBe(1);
});

test("members see no session that would need a second factor", async () => {
  const managed = await setupSignOn(ADA);
  const ada = await join(managed, "viewer", "ada");
  const listed = async () =>
    (await managed.manage("GET", `/manage/v1/members/${ada.id}/access`)).body["sessions"];
  expect(await listed()).toHaveLength(1);
  await managed.database.query("update control.workspaces set second_factor_from = 'viewer'");
  expect((await ada.call("GET", SESSION)).status).toBe(401);
  expect(await listed()).toEqual([]);
});
