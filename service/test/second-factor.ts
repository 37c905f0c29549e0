import { expect } from "vitest";
import { Authenticator, type Forgery } from "./authenticator.ts";
import type { Reply } from "./harness.ts";
import { cookieOf, type Managed, send, setupManage } from "./manage.ts";
import { callerWith, type JoinedMember } from "./members.ts";
import { OWNER } from "./seed.ts";

export const ORIGIN = "https://purser.example.com";
export const SESSION = "/manage/v1/session";
export const SECOND_FACTOR = `${SESSION}/second-factor`;
export const SET_UP = `${SECOND_FACTOR}/set-up`;
export const PASSKEYS = "/manage/v1/passkeys";
export const RECOVERY_CODES = "/manage/v1/recovery-codes";

/** An installation with a host name. Callers can choose their address with `from`. */
export function setupWithHost(): Promise<Managed> {
  return setupManage({ PUBLIC_URL: ORIGIN, TRUST_PROXY: "127.0.0.1" });
}

/** Headers of a trusted proxy that forwards a call from this address. */
export function from(address: string): Record<string, string> {
  return { "x-forwarded-for": address, "x-forwarded-proto": "https" };
}

type Credentials = { readonly email: string; readonly password: string };

export function logInFrom(
  { service }: Managed,
  address: string,
  { email, password }: Credentials = OWNER,
): Promise<Reply> {
  return send(`${service.url}${SESSION}`, "POST", { body: { email, password }, headers: from(address) });
}

export type Challenged = { readonly token: string; readonly challenge: string };

/** What a login returned for its second step. */
export function challengeOf({ body }: Reply): Challenged {
  const { token, publicKey } = body["secondFactor"] as { token: string; publicKey: { challenge: string } };
  return { token, challenge: publicKey.challenge };
}

/** Sends the second step of a login. */
export function answer(
  { service }: Managed,
  body: object,
  { path = SECOND_FACTOR, address = "203.0.113.1" }: { path?: string; address?: string } = {},
): Promise<Reply> {
  return send(`${service.url}${path}`, "POST", { body, headers: from(address) });
}

/** A caller with the session of a reply. */
export function callerOf({ service }: Managed, reply: Reply): JoinedMember["call"] {
  expect(reply.status, reply.text).toBe(200);
  return callerWith(cookieOf(reply, service.url), service.url);
}

/** Adds a passkey in a session, with correct answers except for the forgery. */
export async function register(
  call: JoinedMember["call"],
  authenticator: Authenticator,
  forgery: Forgery = {},
): Promise<Reply> {
  const started = await call("POST", `${PASSKEYS}/options`);
  const { token, publicKey } = started.body as { token: string; publicKey: { challenge: string } };
  const passkey = authenticator.create(publicKey, forgery);
  return call("POST", PASSKEYS, { token, name: "Laptop", passkey });
}

export type Protected = {
  readonly managed: Managed;
  readonly authenticator: Authenticator;
  readonly recoveryCodes: readonly string[];
  /** Calls in the session that added the passkey. */
  readonly call: JoinedMember["call"];
};

/** An installation whose owner has a passkey. */
export async function setupWithPasskey(): Promise<Protected> {
  const managed = await setupWithHost();
  const authenticator = new Authenticator(ORIGIN);
  const call = callerOf(managed, await logInFrom(managed, "203.0.113.1"));
  const added = await register(call, authenticator);
  expect(added.status, added.text).toBe(200);
  return { managed, authenticator, call, recoveryCodes: added.body["recoveryCodes"] as string[] };
}

/** Logs in with password and passkey. */
export async function logInFully(
  managed: Managed,
  authenticator: Authenticator,
  credentials: Credentials = OWNER,
): Promise<Reply> {
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1", credentials));
  return answer(managed, { token, passkey: authenticator.get({ challenge }) });
}

export function codeOf({ status, body }: Reply): [number, unknown] {
  return [status, body["code"]];
}
