import { generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { type ForgingProvider, startForgingProvider } from "../../../test/forging-provider.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import {
  ATTEMPT_COOKIE,
  Browser,
  invite,
  locationOf,
  logInAtProvider,
  pathOf,
  settingsFor,
  setupSignOn,
  signOnAs,
} from "../../../test/oidc.ts";
import { freePort } from "../../postgres/free-port.ts";
import { endAttempt, readReturnPath } from "./attempts.ts";

const SESSION = "/manage/v1/session";
const START = `${SESSION}/oidc`;
const ADA = { ada: { email: "ada@example.com", email_verified: true } };
const problem = (code: string): string => `/log-in?problem=${code}`;

async function setupForged(): Promise<Managed & { provider: ForgingProvider }> {
  const provider = await startForgingProvider();
  const managed = await setupManage(settingsFor(provider.issuer, await freePort()));
  await invite(managed, "ada@example.com");
  return { ...managed, provider };
}

async function begin({ service }: Managed, browser: Browser, next = ""): Promise<string> {
  return locationOf(await browser.get(`${service.url}${START}${next}`));
}

async function finish(browser: Browser, callback: string): Promise<string> {
  return pathOf(locationOf(await browser.get(callback)));
}

async function hasSession({ database }: Managed): Promise<boolean> {
  return (await database.count("control.sessions")) > 0;
}

test.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
  ["another nonce", (claims) => ({ ...claims, nonce: "another" })],
  ["no nonce", ({ nonce, ...claims }) => claims],
  ["another audience", (claims) => ({ ...claims, aud: "another-client" })],
  ["two audiences and another authorized party", (claims) => ({ ...claims, aud: ["purser", "x"], azp: "x" })],
  ["another issuer", (claims) => ({ ...claims, iss: "https://evil.test" })],
  ["no subject", ({ sub, ...claims }) => claims],
  ["a time of expiry in the past", (claims) => ({ ...claims, iat: 1, exp: 2 })],
])("an ID token with %s is rejected", async (_, forge) => {
  const managed = await setupForged();
  managed.provider.forge = forge;
  expect((await signOnAs(managed, "ada")).end).toBe(problem("response_invalid"));
  expect(await hasSession(managed)).toBe(false);
  managed.provider.forge = (claims) => claims;
  expect((await signOnAs(managed, "ada")).end).toBe("/");
});

test("an ID token signed by another key, or not signed, is rejected", async () => {
  const managed = await setupForged();
  const own = managed.provider.signer;
  for (const signer of [(await generateKeyPair("RS256")).privateKey, null]) {
    managed.provider.signer = signer;
    expect((await signOnAs(managed, "ada")).end).toBe(problem("response_invalid"));
  }
  expect(await hasSession(managed)).toBe(false);
  managed.provider.signer = own;
  expect((await signOnAs(managed, "ada")).end).toBe("/");
});

test.each(["https://evil.test", "http://127.0.0.1:1/{tenantid}/v2.0"])(
  "a provider whose metadata names %s is not used",
  async (issuer) => {
    const managed = await setupForged();
    managed.provider.metadata = (metadata) => ({ ...metadata, issuer });
    expect(pathOf(await begin(managed, new Browser()))).toBe(problem("provider_misconfigured"));
    const tested = await managed.manage("POST", "/manage/v1/single-sign-on/test");
    expect(tested.body["findings"]).toMatchObject([{ name: "metadata", level: "failure" }]);
  },
);

test("an issuer that differs only by a slash is not used", async () => {
  const managed = await setupForged();
  managed.provider.metadata = (metadata) => ({ ...metadata, issuer: `${managed.provider.issuer}/` });
  expect(pathOf(await begin(managed, new Browser()))).toBe(problem("provider_misconfigured"));
});

test("a callback works once, even for two concurrent requests", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const browser = new Browser();
  const callback = await logInAtProvider(browser, await begin(managed, browser), "ada");
  const cookie = browser.cookie(managed.service.url, ATTEMPT_COOKIE) ?? "";
  const replay = async (): Promise<string> => {
    const other = new Browser();
    other.setCookie(managed.service.url, ATTEMPT_COOKIE, cookie);
    return finish(other, callback);
  };
  const ends = await Promise.all([replay(), replay(), replay(), replay()]);
  expect(ends.toSorted()).toEqual(["/", ...Array.from({ length: 3 }, () => problem("attempt_invalid"))]);
  expect(await replay()).toBe(problem("attempt_invalid"));
  expect(await managed.database.count("control.sessions")).toBe(1);
});

test("a code from another browser's sign-in is rejected, with either state", async () => {
  const managed = await setupSignOn({ ...ADA, eve: { email: "eve@example.com", email_verified: true } });
  await invite(managed, "ada@example.com");
  await invite(managed, "eve@example.com");
  const [victim, attacker] = [new Browser(), new Browser()];
  const attack = async (): Promise<[URL, URL]> => {
    const own = new URL(await logInAtProvider(victim, await begin(managed, victim), "ada"));
    return [own, new URL(await logInAtProvider(attacker, await begin(managed, attacker), "eve"))];
  };
  const [, stolen] = await attack();
  // The attacker's whole response: the state is not the victim's.
  expect(await finish(victim, stolen.href)).toBe(problem("response_invalid"));
  // The attacker's code with the victim's state: the code belongs to another PKCE challenge and nonce.
  const [own, injected] = await attack();
  own.searchParams.set("code", injected.searchParams.get("code") ?? "");
  expect(await finish(victim, own.href)).toBe(problem("response_invalid"));
  expect(await hasSession(managed)).toBe(false);
});

test("each attempt has its own state, nonce and PKCE challenge, and none of them is in the cookie", async () => {
  const managed = await setupSignOn(ADA);
  const browsers = [new Browser(), new Browser()];
  const urls = await Promise.all(browsers.map(async (browser) => new URL(await begin(managed, browser))));
  for (const name of ["state", "nonce", "code_challenge"]) {
    const values = urls.map(({ searchParams }) => searchParams.get(name) ?? "");
    expect(new Set(values).size).toBe(2);
    for (const value of values) expect(value.length).toBeGreaterThanOrEqual(43);
    for (const browser of browsers)
      expect(values).not.toContain(browser.cookie(managed.service.url, ATTEMPT_COOKIE));
  }
  expect(urls.map(({ searchParams }) => searchParams.get("code_challenge_method"))).toEqual(["S256", "S256"]);
});

test("a response without a cookie, without a state, or with a repeated state is rejected", async () => {
  const managed = await setupSignOn(ADA);
  await invite(managed, "ada@example.com");
  const browser = new Browser();
  const callback = new URL(await logInAtProvider(browser, await begin(managed, browser), "ada"));
  expect(await finish(new Browser(), callback.href)).toBe(problem("attempt_invalid"));
  const state = callback.searchParams.get("state") ?? "";
  callback.searchParams.delete("state");
  expect(await finish(browser, callback.href)).toBe(problem("response_invalid"));
  const again = new URL(await logInAtProvider(browser, await begin(managed, browser), "ada"));
  again.searchParams.set("state", state);
  expect(await finish(browser, again.href)).toBe(problem("response_invalid"));
  expect(await hasSession(managed)).toBe(false);
});

test("an attempt expires after 10 minutes, and old attempts are deleted", async () => {
  const managed = await setupSignOn(ADA);
  const { database, cell } = managed;
  await invite(managed, "ada@example.com");
  const browser = new Browser();
  const callback = await logInAtProvider(browser, await begin(managed, browser), "ada");
  const [row] = await database.query(
    "select extract(epoch from expires_at - created_at)::integer as seconds from control.sign_on_attempts",
  );
  expect(row).toEqual({ seconds: 600 });
  await database.query("update control.sign_on_attempts set expires_at = now()");
  expect(await finish(browser, callback)).toBe(problem("attempt_invalid"));
  await begin(managed, new Browser());
  expect(await database.count("control.sign_on_attempts")).toBe(1);
  expect(await endAttempt(cell, "unknown")).toBe(null);
});

test.each([
  ["/projects/1/live?range=7d&from=2026-01-01", "/projects/1/live?range=7d&from=2026-01-01"],
  ["//evil.test", "/"],
  ["/\\evil.test", "/"],
  ["/\t/evil.test", "/"],
  ["/\n/evil.test", "/"],
  ["https://evil.test/", "/"],
  ["javascript:alert(1)", "/"],
  ["evil.test", "/"],
  ["/%2F/evil.test", "/"],
  ["/manage/v1/session/oidc", "/"],
  ["/projects/../Manage/v1/session/oidc", "/"],
  ["/%6danage/v1/session/oidc", "/"],
  ["/./v1/customers", "/"],
  ["/managers", "/managers"],
  [`/${"x".repeat(1_000)}`, "/"],
  [undefined, "/"],
])("after a sign-in, %j leads to %j on this site", (next, path) => {
  expect(readReturnPath(next)).toBe(path);
});

test("a sign-in that the person or the provider cancels returns to the login page", async () => {
  const managed = await setupSignOn(ADA);
  const browser = new Browser();
  const { searchParams } = new URL(await begin(managed, browser, "?next=%2Fwelcome"));
  const query = new URLSearchParams({ error: "access_denied", state: searchParams.get("state") ?? "" });
  const callback = `${managed.service.url}${START}/callback?${query}&iss=${encodeURIComponent(managed.provider.issuer)}`;
  expect(await finish(browser, callback)).toBe(`${problem("provider_refused")}&next=%2Fwelcome`);
});

test("many attempts from one network are slowed down, and their failures become one audit entry", async () => {
  const managed = await setupSignOn(ADA);
  const ends: string[] = [];
  for (let i = 0; i < 70; i += 1)
    ends.push(await finish(new Browser(), `${managed.service.url}${START}/callback?code=c&state=s`));
  expect(ends.filter((end) => end === problem("too_many_attempts")).length).toBeGreaterThan(2);
  expect(ends.filter((end) => end === problem("attempt_invalid")).length).toBeGreaterThanOrEqual(60);
  expect(await managed.database.count("control.audit", "action = 'member.sign_on_failed'")).toBe(1);
});
