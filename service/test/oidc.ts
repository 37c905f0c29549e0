import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";
import { expect, onTestFinished, vi } from "vitest";
import { freePort } from "../src/postgres/free-port.ts";
import type { Reply, TestDatabase } from "./harness.ts";
import { type Managed, send, setupManage } from "./manage.ts";

export const CLIENT = { id: "purser", secret: "a-secret-of-at-least-32-characters" } as const;

/** Claims that the provider has about a person, by the name with which the person logs in there. */
export type People = Record<string, Readonly<Record<string, unknown>>>;

export type RealProvider = {
  readonly issuer: string;
  /** Can be changed during the test. */
  readonly people: People;
  stop(): Promise<void>;
};

/** Starts a real OpenID Connect provider with a login form. It accepts any password. */
export async function startProvider(
  publicUrl: string,
  people: People,
  configuration: Configuration = {},
  ownPort = 0,
): Promise<RealProvider> {
  // The provider warns on the console that its login form is for development.
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "info").mockImplementation(() => {});
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(ownPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${publicUrl}/manage/v1/session/oidc/callback`],
        post_logout_redirect_uris: [`${publicUrl}/log-in`],
      },
    ],
    claims: { email: ["email", "email_verified"], profile: ["name", "groups"] },
    pkce: { required: () => true },
    cookies: { keys: ["a key for the cookies of a test"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    // Grants what Purser asks for without asking the person again.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        accountId: oidc.session?.accountId,
        clientId: oidc.client?.clientId,
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
    ...configuration,
  });
  const handle = provider.callback();
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { issuer, people, stop };
}

export type SignedOn = Managed & {
  readonly provider: RealProvider;
  readonly settings: Record<string, string>;
};

/** A service with single sign-on through a real provider. */
export async function setupSignOn(
  people: People,
  overrides: Record<string, string> = {},
  configuration: Configuration = {},
  database?: TestDatabase,
): Promise<SignedOn> {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const provider = await startProvider(publicUrl, people, configuration);
  const settings = settingsFor(provider.issuer, port, overrides);
  return { ...(await setupManage(settings, database)), provider, settings };
}

export function settingsFor(
  issuer: string,
  port: number,
  overrides: Record<string, string> = {},
): Record<string, string> {
  return {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    ...overrides,
  };
}

/** A browser: keeps the cookies of each host, and follows redirects one at a time. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>();

  async get(url: string): Promise<Response> {
    return this.#send(url, { method: "GET" });
  }

  async submit(url: string, form: Record<string, string>): Promise<Response> {
    return this.#send(url, { method: "POST", body: new URLSearchParams(form) });
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: cookie === "" ? {} : { cookie },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  cookie(url: string, name: string): string | null {
    return this.#jars.get(new URL(url).host)?.get(name) ?? null;
  }

  setCookie(url: string, name: string, value: string): void {
    const { host } = new URL(url);
    this.#jars.set(host, new Map([...(this.#jars.get(host) ?? []), [name, value]]));
  }
}

const SESSION_COOKIE = "__Host-purser_session";
export const ATTEMPT_COOKIE = "__Host-purser_attempt";
const CALLBACK = "/manage/v1/session/oidc/callback";

/** Where a redirect leads, as an absolute URL. */
export function locationOf(response: Response): string {
  expect(response.status, `no redirect from ${response.url}`).toBeGreaterThanOrEqual(302);
  return new URL(response.headers.get("location") ?? "", response.url).href;
}

/** Follows the provider's pages until it sends the browser back. Returns the address of the callback, without calling it. */
export async function logInAtProvider(browser: Browser, start: string, person: string): Promise<string> {
  let url = start;
  for (let step = 0; step < 12; step += 1) {
    const response = await browser.get(url);
    if (response.status === 200) {
      const [, action = ""] = /<form[^>]* action="([^"]+)"/.exec(await response.text()) ?? [];
      expect(action, "a login form").not.toBe("");
      url = locationOf(await browser.submit(action, { prompt: "login", login: person, password: "any" }));
    } else url = locationOf(response);
    if (new URL(url).pathname === CALLBACK) return url;
  }
  throw new Error(`the provider did not return from ${url}`);
}

export type SignOnResult = {
  readonly browser: Browser;
  /** The address of the callback. */
  readonly callback: string;
  /** The path and query to which Purser redirects in the end. */
  readonly end: string;
  /** Calls the management API with the session that was opened. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
};

/** Signs a person in, from the button on the login page to the dashboard. */
export async function signOnAs(
  { service }: Managed,
  person: string,
  { browser = new Browser(), next = "" }: { browser?: Browser; next?: string } = {},
): Promise<SignOnResult> {
  const started = await browser.get(
    `${service.url}/manage/v1/session/oidc${next && `?next=${encodeURIComponent(next)}`}`,
  );
  const callback = await logInAtProvider(browser, locationOf(started), person);
  const end = pathOf(locationOf(await browser.get(callback)));
  return { browser, callback, end, call: callerOf(browser, service.url) };
}

export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

export function callerOf(browser: Browser, url: string): SignOnResult["call"] {
  return (method, path, body) =>
    send(`${url}${path}`, method, {
      token: null,
      headers: {
        cookie: `${SESSION_COOKIE}=${browser.cookie(url, SESSION_COOKIE)}`,
        origin: url,
        "sec-fetch-site": "same-origin",
      },
      ...(body === undefined ? {} : { body }),
    });
}

/** Connects the account of a member who has logged in with a password. Returns the path to which Purser redirects in the end. */
export async function connectAs(
  { service }: Managed,
  person: string,
  session: { readonly cookie: string; readonly browser?: Browser },
): Promise<string> {
  const { browser = new Browser() } = session;
  const [name = "", value = ""] = session.cookie.split("=");
  browser.setCookie(service.url, name, value);
  const started = await send(`${service.url}/manage/v1/session/sign-on`, "POST", {
    headers: { cookie: session.cookie, origin: service.url },
  });
  expect(started.status, started.text).toBe(200);
  const [, attempt = ""] = /__Host-purser_attempt=([^;]+)/.exec(started.headers.getSetCookie().join()) ?? [];
  browser.setCookie(service.url, ATTEMPT_COOKIE, attempt);
  const callback = await logInAtProvider(browser, String(started.body["url"]), person);
  return pathOf(locationOf(await browser.get(callback)));
}

/** Invites somebody as the owner. */
export async function invite({ manage }: Managed, email: string, role = "viewer"): Promise<string> {
  const invited = await manage("POST", "/manage/v1/members", { body: { email, name: email, role } });
  expect(invited.status, invited.text).toBe(200);
  return (invited.body["member"] as { id: string }).id;
}
