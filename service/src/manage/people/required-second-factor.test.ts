import { expect, test } from "vitest";
import { Authenticator } from "../../../test/authenticator.ts";
import { send, setupManage } from "../../../test/manage.ts";
import { join, logIn, tokenOf } from "../../../test/members.ts";
import {
  answer,
  callerOf,
  challengeOf,
  codeOf,
  logInFrom,
  logInFully,
  ORIGIN,
  PASSKEYS,
  type Protected,
  register,
  SESSION,
  SET_UP,
  setupWithHost,
  setupWithPasskey,
} from "../../../test/second-factor.ts";
import { OWNER } from "../../../test/seed.ts";

const WORKSPACE = "/manage/v1/workspace";
const MEMBERS = "/manage/v1/members";

function require({ call }: Pick<Protected, "call">, requiredFrom: string | null) {
  return call("PATCH", WORKSPACE, { secondFactor: { requiredFrom } });
}

test("a member whose role needs a passkey registers one after the password, before a session is opened", async () => {
  const owner = await setupWithPasskey();
  const { managed } = owner;
  const ada = await join(managed, "admin", "ada");
  const vera = await join(managed, "viewer", "vera");
  const required = await require(owner, "admin");
  expect(required.body).toMatchObject({ secondFactor: { requiredFrom: "admin" } });
  // The session of the admin ended, and the viewer's did not.
  expect([(await ada.call("GET", SESSION)).status, (await vera.call("GET", SESSION)).status]).toEqual([
    401, 200,
  ]);
  expect((await logInFrom(managed, "203.0.113.2", vera)).status).toBe(200);

  const asked = await logInFrom(managed, "203.0.113.2", ada);
  expect(codeOf(asked)).toEqual([401, "second_factor_setup_required"]);
  expect(asked.headers.getSetCookie()).toEqual([]);
  const { token, challenge } = challengeOf(asked);
  const phone = new Authenticator(ORIGIN);
  const forged = phone.create({ challenge }, { userVerified: false });
  const body = { token, name: "Phone" };
  expect(codeOf(await answer(managed, { ...body, passkey: forged }, { path: SET_UP }))).toEqual([
    422,
    "passkey_invalid",
  ]);
  const reply = await answer(managed, { ...body, passkey: phone.create({ challenge }) }, { path: SET_UP });
  expect(reply.body).toMatchObject({ me: { email: ada.email, role: "admin" } });
  expect(reply.body["recoveryCodes"]).toHaveLength(10);
  expect((await callerOf(managed, reply)("GET", PASSKEYS)).body).toMatchObject({ isRequired: true });
  expect((await logInFully(managed, phone, ada)).status).toBe(200);
});

test("a member who has the role only in one project needs a passkey too", async () => {
  const owner = await setupWithPasskey();
  const { managed } = owner;
  const projectId = String(managed.project.projectId);
  const [pia, vera] = [
    await join(managed, null, "pia", [{ projectId, environment: "test", role: "admin" }]),
    await join(managed, null, "vera", [{ projectId, environment: null, role: "operator" }]),
  ];
  await require(owner, "admin");
  const statuses = [await pia.call("GET", SESSION), await vera.call("GET", SESSION)];
  expect(statuses.map(({ status }) => status)).toEqual([401, 200]);
  // The role counts for every session, not only for those that were open.
  expect(codeOf(await logInFrom(managed, "203.0.113.2", pia))).toEqual([401, "second_factor_setup_required"]);
  expect((await logInFrom(managed, "203.0.113.2", vera)).status).toBe(200);
});

test("a setup token is valid only for setup, and only one of two concurrent setups succeeds", async () => {
  const owner = await setupWithPasskey();
  const { managed } = owner;
  const ada = await join(managed, "admin", "ada");
  await require(owner, "viewer");
  const tokens = [
    await logInFrom(managed, "203.0.113.2", ada),
    await logInFrom(managed, "203.0.113.3", ada),
  ].map(challengeOf);
  const [first] = tokens;
  const wrong = await answer(managed, {
    token: first?.token,
    passkey: new Authenticator(ORIGIN).get({ challenge: first?.challenge ?? "" }),
  });
  expect(codeOf(wrong)).toEqual([410, "second_factor_expired"]);
  const asBearer = await managed.manage("GET", SESSION, { token: first?.token ?? "" });
  expect(asBearer.status).toBe(401);
  const replies = await Promise.all(
    tokens.map(({ token, challenge }) => {
      const passkey = new Authenticator(ORIGIN).create({ challenge });
      return answer(managed, { token, name: "Key", passkey }, { path: SET_UP });
    }),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
  expect(await managed.database.count("control.passkeys", "member_id <> 1")).toBe(1);
});

test("invited and promoted members need a passkey if their new role does", async () => {
  const owner = await setupWithPasskey();
  const { managed } = owner;
  const vera = await join(managed, "viewer", "vera");
  await require(owner, "admin");
  await managed.manage("PATCH", `${MEMBERS}/${vera.id}`, { body: { role: "admin" } });
  expect((await vera.call("GET", SESSION)).status).toBe(401);
  expect(codeOf(await logInFrom(managed, "203.0.113.2", vera))).toEqual([
    401,
    "second_factor_setup_required",
  ]);
  const invited = await managed.manage("POST", MEMBERS, {
    body: { email: "ida@example.com", name: "Ida", role: "admin" },
  });
  const accepted = await send(`${managed.service.url}/manage/v1/links`, "POST", {
    body: { token: tokenOf(invited), password: "eight-blue-teapots" },
  });
  expect(codeOf(accepted)).toEqual([401, "second_factor_setup_required"]);
  const { token, challenge } = challengeOf(accepted);
  const passkey = new Authenticator(ORIGIN).create({ challenge });
  expect((await answer(managed, { token, name: "Key", passkey }, { path: SET_UP })).status).toBe(200);
});

test("an owner without a passkey, a token and an old session cannot change the requirement", async () => {
  const managed = await setupWithHost();
  const call = callerOf(managed, await logInFrom(managed, "203.0.113.1"));
  expect(codeOf(await require({ call }, "owner"))).toEqual([409, "passkey_missing"]);
  const body = { secondFactor: { requiredFrom: "owner" } };
  expect(codeOf(await managed.manage("PATCH", WORKSPACE, { body }))).toEqual([403, "role_missing"]);
  expect((await register(call, new Authenticator(ORIGIN))).status).toBe(200);
  expect((await require({ call }, "owner")).status).toBe(200);
  expect(
    codeOf(await managed.manage("PATCH", WORKSPACE, { body: { secondFactor: { requiredFrom: null } } })),
  ).toEqual([403, "role_missing"]);
  await managed.database.query("update control.sessions set created_at = now() - interval '11 minutes'");
  expect(codeOf(await require({ call }, null))).toEqual([403, "recent_log_in_required"]);
  expect((await managed.manage("GET", WORKSPACE)).body).toMatchObject({
    secondFactor: { requiredFrom: "owner" },
  });
  // A token is not affected, and other settings stay editable.
  expect((await managed.manage("PATCH", WORKSPACE, { body: { name: "Acme" } })).status).toBe(200);
  const { body: audit } = await managed.manage("GET", "/manage/v1/audit?action=workspace.second_factor");
  expect((audit["items"] as object[]).at(-1)).toMatchObject({
    before: { requiredFrom: null },
    after: { requiredFrom: "owner" },
  });
});

test("passkeys are required only by an owner who has used one in this login", async () => {
  const owner = await setupWithPasskey();
  const { managed, authenticator, recoveryCodes } = owner;
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const withCode = callerOf(managed, await answer(managed, { token, recoveryCode: recoveryCodes[0] }));
  expect(codeOf(await require({ call: withCode }, "owner"))).toEqual([403, "recent_log_in_required"]);
  const call = callerOf(managed, await logInFully(managed, authenticator));
  expect((await require({ call }, "owner")).status).toBe(200);
  // A recovery code is enough to stop requiring them.
  expect((await require({ call: withCode }, null)).status).toBe(200);
});

test("without PUBLIC_URL, passkeys cannot be required, because members could register none at another address", async () => {
  const managed = await setupManage();
  const url = managed.service.url.replace("127.0.0.1", "localhost");
  const local = { ...managed, service: { ...managed.service, url } };
  const call = callerOf(local, await logIn(local, OWNER.email, OWNER.password));
  expect((await register(call, new Authenticator(url))).status).toBe(200);
  expect(codeOf(await require({ call }, "owner"))).toEqual([409, "passkey_unavailable"]);
});

test("the last passkey cannot be deleted while the role needs one", async () => {
  const owner = await setupWithPasskey();
  const { call } = owner;
  await require(owner, "owner");
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as { id: string }[];
  expect(codeOf(await call("DELETE", `${PASSKEYS}/${passkey?.id}`))).toEqual([409, "last_passkey"]);
  expect((await register(call, new Authenticator(ORIGIN))).status).toBe(200);
  expect((await call("DELETE", `${PASSKEYS}/${passkey?.id}`)).status).toBe(200);
});

test("a requirement and the deletion of the last passkey cannot both succeed", async () => {
  for (let round = 0; round < 5; round++) {
    const owner = await setupWithPasskey();
    const [passkey] = (await owner.call("GET", PASSKEYS)).body["items"] as { id: string }[];
    const replies = await Promise.all([
      require(owner, "owner"),
      owner.call("DELETE", `${PASSKEYS}/${passkey?.id}`),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  }
});

test("an admin resets a member's second factor, but not an owner's or their own", async () => {
  const { managed, call } = await setupWithPasskey();
  const ada = await join(managed, "admin", "ada");
  const vera = await join(managed, "viewer", "vera");
  const phone = new Authenticator(ORIGIN);
  for (const { call } of [ada, vera])
    await register(call, call === vera.call ? phone : new Authenticator(ORIGIN));
  const reset = (id: string, as = ada.call) => as("POST", `${MEMBERS}/${id}/second-factor/reset`);
  expect(codeOf(await reset("1"))).toEqual([403, "role_missing"]);
  expect(codeOf(await reset(ada.id))).toEqual([403, "role_missing"]);
  expect(codeOf(await reset(ada.id, vera.call))).toEqual([403, "role_missing"]);
  expect(codeOf(await reset("999"))).toEqual([404, "not_found"]);
  const made = await ada.call("POST", "/manage/v1/tokens", {
    name: "Bot",
    role: "admin",
    managesAccess: true,
  });
  const own = await managed.manage("POST", `${MEMBERS}/${ada.id}/second-factor/reset`, {
    token: String(made.body["secret"]),
  });
  expect(codeOf(own)).toEqual([403, "role_missing"]);

  const has = async (as: typeof call) =>
    ((await as("GET", MEMBERS)).body["items"] as { hasPasskey: unknown }[]).map(
      ({ hasPasskey }) => hasPasskey,
    );
  expect(await has(ada.call)).toEqual([true, true, true]);
  expect(await has(vera.call)).toEqual([null, null, null]);
  expect((await reset(vera.id)).body).toEqual({ passkeysDeleted: 1, sessionsEnded: 1 });
  expect(await has(ada.call)).toEqual([true, true, false]);
  expect((await vera.call("GET", SESSION)).status).toBe(401);
  expect((await logInFrom(managed, "203.0.113.2", vera)).status).toBe(200);
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.second_factor_reset");
  expect(body["items"]).toMatchObject([
    { actor: { kind: "member", id: ada.id }, subject: vera.email, after: { passkeysDeleted: 1 } },
  ]);
});

test("a removed member's passkeys are deleted", async () => {
  const { managed } = await setupWithPasskey();
  const ada = await join(managed, "admin", "ada");
  await register(ada.call, new Authenticator(ORIGIN));
  expect((await managed.manage("DELETE", `${MEMBERS}/${ada.id}`)).status).toBe(200);
  expect(await managed.database.count("control.passkeys", `member_id = ${ada.id}`)).toBe(0);
});
