import { expect, test } from "vitest";
import { Authenticator } from "../../../test/authenticator.ts";
import { startTestService } from "../../../test/harness.ts";
import { send } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import { setupSignOn } from "../../../test/oidc.ts";
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
  RECOVERY_CODES,
  register,
  SECOND_FACTOR,
  SESSION,
  setupWithPasskey,
} from "../../../test/second-factor.ts";
import { OWNER } from "../../../test/seed.ts";

test("many logins from one network do not cancel pending logins from other networks or from a known device", async () => {
  const { managed, authenticator } = await setupWithPasskey();
  const cookies = (await logInFully(managed, authenticator)).headers.getSetCookie();
  const device = cookies.find((cookie) => cookie.includes("_device="))?.split(";", 1)[0] ?? "";
  const atDevice = await send(`${managed.service.url}${SESSION}`, "POST", {
    body: { email: OWNER.email, password: OWNER.password },
    headers: { cookie: device, ...from("203.0.113.9") },
  });
  const known = challengeOf(atDevice);
  const elsewhere = challengeOf(await logInFrom(managed, "203.0.113.1"));
  for (let i = 0; i < 10; i++) {
    expect(codeOf(await logInFrom(managed, "203.0.113.9"))).toEqual([401, "second_factor_required"]);
  }
  expect(await managed.database.count("control.challenges")).toBe(7);
  const finish = ({ token, challenge }: typeof known) =>
    answer(managed, { token, passkey: authenticator.get({ challenge }) });
  expect((await finish(elsewhere)).status).toBe(200);
  for (let i = 10; i < 40; i++) await logInFrom(managed, `203.0.113.${i}`);
  expect(await managed.database.count("control.challenges")).toBe(21);
  expect((await finish(known)).status).toBe(200);
});

test("a password or link that waits for a second factor is audited with its address, combined for a minute", async () => {
  const { managed } = await setupWithPasskey();
  for (let i = 0; i < 3; i++) await logInFrom(managed, "203.0.113.9");
  const read = async () =>
    (await managed.manage("GET", "/manage/v1/audit?action=member.second_factor_asked")).body["items"];
  const first = { subject: OWNER.email, after: { attempts: 1, addresses: ["203.0.113.9"] } };
  await expect.poll(read).toMatchObject([first]);
  const ada = await join(managed, "admin", "ada");
  await register(ada.call, new Authenticator(ORIGIN));
  const made = await managed.manage("POST", `/manage/v1/members/${ada.id}/link`);
  const body = { token: tokenOf(made), password: "eight-blue-teapots" };
  const reset = await send(`${managed.service.url}/manage/v1/links`, "POST", { body });
  expect(codeOf(reset)).toEqual([401, "second_factor_required"]);
  await expect.poll(read).toMatchObject([{ subject: ada.email, after: { attempts: 1 } }, first]);
});

test("a session by single sign-on cannot change the second factor of a member with a passkey", async () => {
  const { managed, authenticator, call } = await setupWithPasskey();
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as { id: string }[];
  await managed.database.query("update control.sessions set opened_with = 'single_sign_on'");
  expect((await call("GET", SESSION)).status).toBe(200);
  const changes = [
    () => call("POST", `${PASSKEYS}/options`),
    () => call("POST", RECOVERY_CODES),
    () => call("DELETE", `${PASSKEYS}/${passkey?.id}`),
    () => call("PATCH", "/manage/v1/workspace", { secondFactor: { requiredFrom: "owner" } }),
  ];
  for (const change of changes) expect(codeOf(await change())).toEqual([403, "recent_log_in_required"]);
  const session = callerOf(managed, await logInFully(managed, authenticator));
  expect((await session("POST", RECOVERY_CODES)).status).toBe(200);
  expect((await session("DELETE", `${PASSKEYS}/${passkey?.id}`)).status).toBe(200);
});

test("once single sign-on is required, a password that was checked before opens no session", async () => {
  const managed = await setupSignOn({});
  const ada = await join(managed, "admin", "ada");
  await managed.database.query(
    `insert into control.passkeys (member_id, name, credential_id, public_key, signature_count, transports)
     values ($1, 'Key', '\\x01', '\\x01', 0, '{}')`,
    [Number(ada.id)],
  );
  const asked = await logIn(managed, ada.email, ada.password);
  const { token } = asked.body["secondFactor"] as { token: string };
  const settings = { OIDC_ONLY: "true", OIDC_LOCAL_OWNER: OWNER.email };
  const service = await startTestService(managed.database, { ...managed.settings, PORT: "0", ...settings });
  const late = await send(`${service.url}${SECOND_FACTOR}`, "POST", { body: { token, recoveryCode: "x" } });
  expect(codeOf(late)).toEqual([403, "sso_required"]);
});
