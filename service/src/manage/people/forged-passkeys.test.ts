import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Authenticator } from "../../../test/authenticator.ts";
import { androidKeyAttestation } from "../../../test/forged-attestation.ts";
import { join } from "../../../test/members.ts";
import {
  answer,
  callerOf,
  challengeOf,
  codeOf,
  logInFrom,
  ORIGIN,
  PASSKEYS,
  register,
  SET_UP,
  setupWithPasskey,
} from "../../../test/second-factor.ts";

/** A server that only an attacker's certificate names. Returns the paths that were requested. */
async function openAttackersServer(): Promise<{ url: string; requested: string[] }> {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on a port");
  return { url: `http://127.0.0.1:${address.port}/revoked`, requested };
}

test("a passkey with a forged attestation is refused without a request to the URL in its certificate", async () => {
  const owner = await setupWithPasskey();
  const { managed } = owner;
  const { url, requested } = await openAttackersServer();
  const forgery = {
    attestation: (of: Parameters<typeof androidKeyAttestation>[1]) => androidKeyAttestation(url, of),
  };
  const vera = await join(managed, "viewer", "vera");
  expect(codeOf(await register(vera.call, new Authenticator(ORIGIN), forgery))).toEqual([
    422,
    "passkey_invalid",
  ]);
  const required = await owner.call("PATCH", "/manage/v1/workspace", {
    secondFactor: { requiredFrom: "viewer" },
  });
  expect(required.status, required.text).toBe(200);
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.2", vera));
  const passkey = new Authenticator(ORIGIN).create({ challenge }, forgery);
  const refused = await answer(managed, { token, name: "Key", passkey }, { path: SET_UP });
  expect(codeOf(refused)).toEqual([422, "passkey_invalid"]);
  expect(requested).toEqual([]);
  expect(await managed.database.count("control.passkeys", "member_id <> 1")).toBe(0);
});

test("a setup token ends when the member adds a passkey in a session", async () => {
  const { managed, call } = await setupWithPasskey();
  const vera = await join(managed, "viewer", "vera");
  const require = (requiredFrom: string | null) =>
    call("PATCH", "/manage/v1/workspace", { secondFactor: { requiredFrom } });
  await require("viewer");
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.2", vera));
  await require(null);
  const session = callerOf(managed, await logInFrom(managed, "203.0.113.3", vera));
  expect((await register(session, new Authenticator(ORIGIN))).status).toBe(200);
  const passkey = new Authenticator(ORIGIN).create({ challenge });
  const late = await answer(managed, { token, name: "Mallory's key", passkey }, { path: SET_UP });
  expect(codeOf(late)).toEqual([410, "second_factor_expired"]);
  expect((await session("GET", PASSKEYS)).body["items"]).toHaveLength(1);
});

test("setup registers only the first passkey, even if its token is still open", async () => {
  const { managed, call } = await setupWithPasskey();
  const vera = await join(managed, "viewer", "vera");
  await call("PATCH", "/manage/v1/workspace", { secondFactor: { requiredFrom: "viewer" } });
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.2", vera));
  await managed.database.query(
    `insert into control.passkeys (member_id, name, credential_id, public_key, signature_count, transports)
     values ($1, 'Key', '\\x01', '\\x01', 0, '{}')`,
    [Number(vera.id)],
  );
  const passkey = new Authenticator(ORIGIN).create({ challenge });
  const late = await answer(managed, { token, name: "Mallory's key", passkey }, { path: SET_UP });
  expect(codeOf(late)).toEqual([410, "second_factor_expired"]);
});
