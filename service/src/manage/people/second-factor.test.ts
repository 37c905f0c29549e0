import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { Authenticator, type Forgery } from "../../../test/authenticator.ts";
import { send } from "../../../test/manage.ts";
import { join, tokenOf } from "../../../test/members.ts";
import {
  answer,
  callerOf,
  challengeOf,
  codeOf,
  from,
  logInFrom,
  logInFully,
  ORIGIN,
  PASSKEYS,
  register,
  SESSION,
  setupWithPasskey,
} from "../../../test/second-factor.ts";
import { OWNER } from "../../../test/seed.ts";

test("a password alone opens no session once the member has a passkey", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const first = await logInFrom(managed, "203.0.113.1");
  expect(codeOf(first)).toEqual([401, "second_factor_required"]);
  expect(first.headers.getSetCookie()).toEqual([]);
  expect(first.body["secondFactor"]).toMatchObject({
    publicKey: {
      rpId: "purser.example.com",
      userVerification: "required",
      allowCredentials: [{ id: authenticator.id.toString("base64url"), transports: ["internal"] }],
    },
  });
  const { token, challenge } = challengeOf(first);
  const second = await answer(managed, { token, passkey: authenticator.get({ challenge }) });
  expect(second.body).toMatchObject({ kind: "member", email: OWNER.email });
  const call = callerOf(managed, second);
  expect((await call("GET", SESSION)).status).toBe(200);
  expect((await call("GET", "/manage/v1/sessions")).body["items"]).toMatchObject([
    { isCurrent: true, openedWith: "passkey" },
    { openedWith: "passkey" },
  ]);
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as { lastUsedAt: string | null }[];
  expect(passkey?.lastUsedAt).not.toBeNull();
});

const OTHER_KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

const FORGERIES: readonly [string, Forgery][] = [
  ["another challenge", { challenge: "bm90LXRoZS1jaGFsbGVuZ2U" }],
  ["another origin", { origin: "https://purser.example.com.evil.example" }],
  ["a subdomain as origin", { origin: "https://app.purser.example.com" }],
  ["another port as origin", { origin: "https://purser.example.com:8443" }],
  ["plain HTTP as origin", { origin: "http://purser.example.com" }],
  ["another site", { rpId: "example.com" }],
  ["a user who was not verified", { userVerified: false }],
  ["another key", { key: OTHER_KEY }],
  ["another member's user handle", { userHandle: Buffer.from("purser-member-2").toString("base64url") }],
];

test.each(FORGERIES)(
  "a passkey's response with %s is refused, and the right one still works",
  async (_, forgery) => {
    const { managed, authenticator } = await setupWithPasskey();
    const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
    const forged = await answer(managed, { token, passkey: authenticator.get({ challenge }, forgery) });
    expect(codeOf(forged)).toEqual([401, "second_factor_invalid"]);
    expect(forged.headers.getSetCookie()).toEqual([]);
    const right = await answer(managed, { token, passkey: authenticator.get({ challenge }) });
    expect(right.status).toBe(200);
  },
);

test.each(FORGERIES.filter(([, { key, userHandle }]) => key === undefined && userHandle === undefined))(
  "a new passkey with %s is not registered",
  async (_, forgery) => {
    const { managed, call } = await setupWithPasskey();
    const refused = await register(call, new Authenticator(ORIGIN), forgery);
    expect(codeOf(refused)).toEqual([422, "passkey_invalid"]);
    expect(await managed.database.count("control.passkeys")).toBe(1);
  },
);

test("a response cannot be replayed, and its token works once", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const passkey = authenticator.get({ challenge });
  expect((await answer(managed, { token, passkey })).status).toBe(200);
  expect(codeOf(await answer(managed, { token, passkey }))).toEqual([410, "second_factor_expired"]);
  const next = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const replayed = await answer(managed, { token: next.token, passkey });
  expect(codeOf(replayed)).toEqual([401, "second_factor_invalid"]);
});

test("only one of 20 concurrent responses with one token opens a session", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const passkey = authenticator.get({ challenge });
  const replies = await Promise.all(Array.from({ length: 20 }, () => answer(managed, { token, passkey })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await managed.database.count("control.sessions")).toBe(2);
});

test("a passkey whose signature count does not increase is refused and audited", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  authenticator.signatureCount = 9;
  expect((await logInFully(managed, authenticator)).status).toBe(200);
  const copy = challengeOf(await logInFrom(managed, "203.0.113.1"));
  for (const signatureCount of [10, 3, 0]) {
    const passkey = authenticator.get(copy, { signatureCount });
    expect(codeOf(await answer(managed, { token: copy.token, passkey }))).toEqual([
      401,
      "second_factor_invalid",
    ]);
  }
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.passkey_refused");
  expect(body["items"]).toHaveLength(3);
  expect((body["items"] as object[]).at(-1)).toMatchObject({
    actor: { kind: "system" },
    subject: OWNER.email,
    before: { passkey: "Laptop", signatureCount: 10 },
    after: { signatureCount: 10, address: "203.0.113.1" },
  });
  const passkey = authenticator.get(copy, { signatureCount: 11 });
  expect((await answer(managed, { token: copy.token, passkey })).status).toBe(200);
});

test("another member's passkey is refused", async () => {
  const { managed } = await setupWithPasskey();
  const ada = await join(managed, "admin", "ada");
  const adas = new Authenticator(ORIGIN);
  expect((await register(ada.call, adas)).status).toBe(200);
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const refused = await answer(managed, { token, passkey: adas.get({ challenge }) });
  expect(codeOf(refused)).toEqual([401, "second_factor_invalid"]);
  const again = await register(ada.call, adas);
  expect(codeOf(again)).toEqual([409, "already_exists"]);
});

test("after five wrong responses, the token has expired", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  for (let i = 0; i < 5; i++) {
    const passkey = authenticator.get({ challenge }, { userVerified: false });
    expect(codeOf(await answer(managed, { token, passkey }))).toEqual([401, "second_factor_invalid"]);
  }
  const right = await answer(managed, { token, passkey: authenticator.get({ challenge }) });
  expect(codeOf(right)).toEqual([410, "second_factor_expired"]);
});

test("a token expires after five minutes", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const [row] = await managed.database.query(
    "select extract(epoch from expires_at - created_at)::integer as seconds from control.challenges",
  );
  expect(row).toEqual({ seconds: 300 });
  await managed.database.query("update control.challenges set expires_at = now()");
  const late = await answer(managed, { token, passkey: authenticator.get({ challenge }) });
  expect(codeOf(late)).toEqual([410, "second_factor_expired"]);
});

test("a token ends when the password that was checked has changed", async () => {
  const { managed, authenticator, call } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const body = { current: OWNER.password, new: "eight-blue-teapots" };
  expect((await call("POST", `${SESSION}/password`, body)).status).toBe(200);
  const late = await answer(managed, { token, passkey: authenticator.get({ challenge }) });
  expect(codeOf(late)).toEqual([410, "second_factor_expired"]);
});

test("a password reset link sets the password and still asks for the passkey", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const made = await managed.manage("POST", "/manage/v1/members/1/link");
  const reset = await send(`${managed.service.url}/manage/v1/links`, "POST", {
    body: { token: tokenOf(made), password: "eight-blue-teapots" },
  });
  expect(codeOf(reset)).toEqual([401, "second_factor_required"]);
  expect(reset.headers.getSetCookie()).toEqual([]);
  const { token, challenge } = challengeOf(reset);
  expect((await answer(managed, { token, passkey: authenticator.get({ challenge }) })).status).toBe(200);
  const credentials = { email: OWNER.email, password: "eight-blue-teapots" };
  expect((await logInFully(managed, authenticator, credentials)).status).toBe(200);
});

test("wrong second factors are audited with their address, combined for a minute", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  for (let i = 0; i < 3; i++) {
    const passkey = authenticator.get({ challenge }, { userVerified: false });
    await answer(managed, { token, passkey }, { address: "203.0.113.9" });
  }
  const read = async () =>
    (await managed.manage("GET", "/manage/v1/audit?action=member.second_factor_failed")).body["items"];
  await expect
    .poll(read)
    .toMatchObject([{ subject: OWNER.email, after: { attempts: 1, addresses: ["203.0.113.9"] } }]);
});

test("a session without a second factor ends when its member gets a passkey elsewhere", async () => {
  const { managed, authenticator, call } = await setupWithPasskey();
  // The row of a login that was committed at the same moment as the first passkey.
  await managed.database.query("update control.sessions set opened_with = 'password'");
  expect((await call("GET", SESSION)).status).toBe(401);
  expect((await logInFully(managed, authenticator)).status).toBe(200);
});

test("at most 20 logins of a member wait for a second factor, and the oldest ends first", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const first = challengeOf(await logInFrom(managed, "203.0.113.1"));
  for (let i = 2; i <= 21; i++) {
    expect(codeOf(await logInFrom(managed, `203.0.113.${i}`))).toEqual([401, "second_factor_required"]);
  }
  expect(await managed.database.count("control.challenges")).toBe(20);
  const late = await answer(managed, { token: first.token, passkey: authenticator.get(first) });
  expect(codeOf(late)).toEqual([410, "second_factor_expired"]);
});

test("the second step needs either a passkey or a recovery code", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const both = { token, passkey: authenticator.get({ challenge }), recoveryCode: "x" };
  for (const body of [{ token }, both]) {
    expect(codeOf(await answer(managed, body))).toEqual([400, "invalid_request"]);
  }
  const foreign = { ...from("203.0.113.1"), origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  const reply = await send(`${managed.service.url}${SESSION}/second-factor`, "POST", {
    body: { token, passkey: authenticator.get({ challenge }) },
    headers: foreign,
  });
  expect(codeOf(reply)).toEqual([403, "origin_not_allowed"]);
});
