import { expect, test } from "vitest";
import { Authenticator } from "../../../test/authenticator.ts";
import { connectTo } from "../../../test/harness.ts";
import { setupManage } from "../../../test/manage.ts";
import { join, logIn } from "../../../test/members.ts";
import { runPurser } from "../../../test/purser.ts";
import {
  answer,
  callerOf,
  challengeOf,
  codeOf,
  logInFrom,
  ORIGIN,
  PASSKEYS,
  RECOVERY_CODES,
  register,
  SESSION,
  setupWithHost,
  setupWithPasskey,
} from "../../../test/second-factor.ts";
import { OWNER } from "../../../test/seed.ts";
import { transaction } from "../../postgres/transaction.ts";
import { deletePasskey } from "../../store/control/passkeys.ts";

type Listed = { id: string; name: string };

test("the first passkey keeps its session, ends the others and comes with recovery codes", async () => {
  const managed = await setupWithHost();
  const open = async () => callerOf(managed, await logInFrom(managed, "203.0.113.1"));
  const [here, there] = [await open(), await open()];
  expect((await here("GET", PASSKEYS)).body).toEqual({
    items: [],
    recoveryCodesLeft: 0,
    isRequired: false,
    origin: ORIGIN,
  });
  const added = await register(here, new Authenticator(ORIGIN));
  expect(added.body).toMatchObject({ passkey: { name: "Laptop", lastUsedAt: null } });
  expect(added.body["recoveryCodes"]).toHaveLength(10);
  expect((await here("GET", SESSION)).status).toBe(200);
  expect((await there("GET", SESSION)).status).toBe(401);
  const second = await register(here, new Authenticator(ORIGIN));
  expect(second.body).toMatchObject({ recoveryCodes: null });
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.passkey_added&limit=1");
  expect(body["items"]).toMatchObject([
    { actor: { kind: "member", id: "1" }, subject: OWNER.email, after: { passkey: "Laptop" } },
  ]);
});

test("adding and deleting passkeys and new recovery codes need a login within the last 10 minutes", async () => {
  const { managed, call } = await setupWithPasskey();
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as Listed[];
  const age = (minutes: number) =>
    managed.database.query("update control.sessions set created_at = now() - make_interval(mins => $1)", [
      minutes,
    ]);
  const changes = [
    () => call("POST", `${PASSKEYS}/options`),
    () => call("POST", RECOVERY_CODES),
    () => call("DELETE", `${PASSKEYS}/${passkey?.id}`),
  ];
  await age(11);
  for (const change of changes) expect(codeOf(await change())).toEqual([403, "recent_log_in_required"]);
  expect((await call("PATCH", `${PASSKEYS}/${passkey?.id}`, { name: "Old laptop" })).status).toBe(200);
  expect(await managed.database.count("control.passkeys")).toBe(1);
  await age(9);
  for (const change of changes) expect((await change()).status).toBe(200);
  expect((await logInFrom(managed, "203.0.113.1")).status).toBe(200);
});

test("members rename and delete only their own passkeys", async () => {
  const { managed, call } = await setupWithPasskey();
  const ada = await join(managed, "admin", "ada");
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as Listed[];
  const path = `${PASSKEYS}/${passkey?.id}`;
  expect((await ada.call("GET", PASSKEYS)).body["items"]).toEqual([]);
  expect(codeOf(await ada.call("PATCH", path, { name: "Mine" }))).toEqual([404, "not_found"]);
  expect(codeOf(await ada.call("DELETE", path))).toEqual([404, "not_found"]);
  expect(codeOf(await ada.call("POST", RECOVERY_CODES))).toEqual([409, "passkey_missing"]);
  const foreign = { memberId: Number(ada.id), id: Number(passkey?.id) };
  await transaction(managed.cell, (tx) => deletePasskey(tx, foreign));
  expect((await call("PATCH", path, { name: "Phone" })).body).toMatchObject({ name: "Phone" });
  const other = callerOf(managed, await logInFrom(managed, "203.0.113.2", ada));
  expect((await call("DELETE", path)).body).toEqual({ deleted: true });
  expect((await call("GET", PASSKEYS)).body).toMatchObject({ items: [], recoveryCodesLeft: 0 });
  expect((await other("GET", SESSION)).status).toBe(200);
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.passkey&limit=2");
  expect(body["items"]).toMatchObject([
    { action: "member.passkey_deleted", before: { passkey: "Phone" } },
    { action: "member.passkey_renamed", before: { passkey: "Laptop" }, after: { passkey: "Phone" } },
  ]);
});

test("deleting a passkey and logging in with it at the same time do not end in a deadlock", async () => {
  const { managed, authenticator, call } = await setupWithPasskey();
  const { database } = managed;
  const [passkey] = (await call("GET", PASSKEYS)).body["items"] as Listed[];
  const { token, challenge } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("select from control.recovery_codes for update");
  const isWaiting = "datname = current_database() and wait_event_type = 'Lock'";
  const deleted = call("DELETE", `${PASSKEYS}/${passkey?.id}`);
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  const loggedIn = answer(managed, { token, passkey: authenticator.get({ challenge }) });
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(2);
  await holder.query("commit");
  expect((await deleted).body).toEqual({ deleted: true });
  expect(codeOf(await loggedIn)).toEqual([410, "second_factor_expired"]);
});

test("a member has at most 20 passkeys, even if they are registered concurrently", async () => {
  const { managed, call } = await setupWithPasskey();
  await managed.database.query(
    `insert into control.passkeys (member_id, name, credential_id, public_key, signature_count, transports)
     select 1, 'Key', sha256(n::text::bytea), '\\x01', 0, '{}'
     from generate_series(1, 18) as n`,
  );
  const bodies: object[] = [];
  for (let i = 0; i < 6; i++) {
    const started = await call("POST", `${PASSKEYS}/options`);
    const { token, publicKey } = started.body as { token: string; publicKey: { challenge: string } };
    bodies.push({ token, name: "Key", passkey: new Authenticator(ORIGIN).create(publicKey) });
  }
  const replies = await Promise.all(bodies.map((body) => call("POST", PASSKEYS, body)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await managed.database.count("control.passkeys")).toBe(20);
  expect(codeOf(await call("POST", `${PASSKEYS}/options`))).toEqual([422, "too_many_passkeys"]);
});

test("a registration belongs to the member who started it, and ends with the session", async () => {
  const { managed, call } = await setupWithPasskey();
  const ada = await join(managed, "admin", "ada");
  const started = await call("POST", `${PASSKEYS}/options`);
  const { token, publicKey } = started.body as { token: string; publicKey: { challenge: string } };
  const body = { token, name: "Eve's key", passkey: new Authenticator(ORIGIN).create(publicKey) };
  expect(codeOf(await ada.call("POST", PASSKEYS, body))).toEqual([410, "second_factor_expired"]);
  await call("DELETE", SESSION);
  expect((await call("POST", PASSKEYS, body)).status).toBe(401);
  expect(await managed.database.count("control.passkeys")).toBe(1);
});

test("management tokens have no passkeys and do not need one", async () => {
  const { managed } = await setupWithPasskey();
  const { manage } = managed;
  expect((await manage("GET", PASSKEYS)).body).toMatchObject({ items: [], isRequired: false });
  expect(codeOf(await manage("POST", `${PASSKEYS}/options`))).toEqual([409, "passkey_unavailable"]);
  expect(codeOf(await manage("POST", RECOVERY_CODES))).toEqual([409, "passkey_unavailable"]);
  expect((await manage("GET", "/manage/v1/members")).status).toBe(200);
});

test("passkeys belong to localhost without PUBLIC_URL, and cannot be used at an IP address", async () => {
  const managed = await setupManage();
  const call = callerOf(managed, await logIn(managed, OWNER.email, OWNER.password));
  expect((await call("GET", PASSKEYS)).body).toMatchObject({ origin: null });
  expect(codeOf(await call("POST", `${PASSKEYS}/options`))).toEqual([409, "passkey_unavailable"]);
  const origin = managed.service.url.replace("127.0.0.1", "localhost");
  const local = { ...managed, service: { ...managed.service, url: origin } };
  const there = callerOf(local, await logIn(local, OWNER.email, OWNER.password));
  expect((await there("GET", PASSKEYS)).body).toMatchObject({ origin });
  const authenticator = new Authenticator(origin);
  expect((await register(there, authenticator)).status).toBe(200);
  // The password alone does not log in at the IP address either, but a recovery code does.
  const elsewhere = await logIn(managed, OWNER.email, OWNER.password);
  expect(codeOf(elsewhere)).toEqual([401, "second_factor_required"]);
  expect(elsewhere.body["secondFactor"]).toMatchObject({ publicKey: null });
});

test("until an upgrade is finished, passkeys are refused, because the previous release does not support them", async () => {
  const managed = await setupWithHost();
  const call = callerOf(managed, await logInFrom(managed, "203.0.113.1"));
  await managed.database.query("update cell.identity set data_format = 1");
  expect(codeOf(await call("POST", `${PASSKEYS}/options`))).toEqual([409, "upgrade_unfinished"]);
});

test("purser reset-owner deletes passkeys and recovery codes, and reports it", async () => {
  const { managed, call } = await setupWithPasskey();
  const { stdout } = await runPurser(["reset-owner", OWNER.email], {
    DATABASE_URL: managed.database.serviceUrl,
  });
  expect(stdout).toContain("1 passkey");
  expect((await call("GET", SESSION)).status).toBe(401);
  for (const table of ["passkeys", "recovery_codes", "challenges"])
    expect(await managed.database.count(`control.${table}`)).toBe(0);
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.owner_reset");
  expect(body["items"]).toMatchObject([{ after: { passkeysEnded: 1 } }]);
});
