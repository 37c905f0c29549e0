import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { join } from "../../../test/members.ts";
import {
  answer,
  callerOf,
  challengeOf,
  codeOf,
  logInFrom,
  PASSKEYS,
  RECOVERY_CODES,
  SESSION,
  setupWithPasskey,
} from "../../../test/second-factor.ts";
import { OWNER, openTestPool } from "../../../test/seed.ts";
import { logInWithRecoveryCode } from "./second-factor-log-in.ts";

test("a recovery code logs in once, in any spelling", async () => {
  const { managed, recoveryCodes } = await setupWithPasskey();
  expect(new Set(recoveryCodes).size).toBe(10);
  const [code = ""] = recoveryCodes;
  expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const typed = ` ${code.toUpperCase().replaceAll("-", " ")} `;
  const reply = await answer(managed, { token, recoveryCode: typed });
  expect(reply.body).toMatchObject({ email: OWNER.email });
  const call = callerOf(managed, reply);
  expect((await call("GET", PASSKEYS)).body).toMatchObject({ recoveryCodesLeft: 9 });
  const next = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const again = await answer(managed, { token: next.token, recoveryCode: code });
  expect(codeOf(again)).toEqual([401, "second_factor_invalid"]);
  const { body } = await managed.manage("GET", "/manage/v1/audit?action=member.signed_in&limit=1");
  expect(body["items"]).toMatchObject([{ after: { openedWith: "recovery_code", address: "203.0.113.1" } }]);
});

test("only one of 20 concurrent logins can use a recovery code", async () => {
  const { managed, recoveryCodes } = await setupWithPasskey();
  const tokens: string[] = [];
  for (let i = 1; i <= 20; i++) tokens.push(challengeOf(await logInFrom(managed, `203.0.113.${i}`)).token);
  const pool = openTestPool(managed.database.serviceUrl, 20);
  const visit = { requestId: "req_1", address: "203.0.113.1", userAgent: "" };
  const [code = ""] = recoveryCodes;
  const outcomes = await Promise.all(
    tokens.map((token) => logInWithRecoveryCode(pool, { token, code }, visit, () => {})),
  );
  await pool.end();
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["opened", ...Array(19).fill("refused")]);
  expect(await managed.database.count("control.recovery_codes", "used_at is not null")).toBe(1);
});

test("wrong recovery codes are limited like wrong passwords", async () => {
  const { managed, recoveryCodes } = await setupWithPasskey();
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.7"));
  const attempt = (recoveryCode: string) =>
    answer(managed, { token, recoveryCode }, { address: "203.0.113.7" });
  for (let i = 0; i < 3; i++)
    expect(codeOf(await attempt("0000-0000"))).toEqual([401, "second_factor_invalid"]);
  // A new token does not give new attempts.
  const next = challengeOf(await logInFrom(managed, "203.0.113.7"));
  const more = (recoveryCode: string) =>
    answer(managed, { token: next.token, recoveryCode }, { address: "203.0.113.7" });
  for (let i = 0; i < 2; i++) expect((await more("0000-0000")).status).toBe(401);
  expect(codeOf(await more(recoveryCodes[0] ?? ""))).toEqual([429, "rate_limited"]);
  expect(codeOf(await logInFrom(managed, "203.0.113.7"))).toEqual([429, "rate_limited"]);
});

test("a recovery code that waits for the database keeps nobody else from logging in", async () => {
  const { managed, recoveryCodes } = await setupWithPasskey();
  const { database } = managed;
  const ada = await join(managed, "viewer", "ada");
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.7"));
  const holder = await connectTo(database);
  await holder.query("begin");
  await holder.query("select from control.recovery_codes for update");
  const waiting = answer(managed, { token, recoveryCode: recoveryCodes[0] });
  const isWaiting = "datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(() => database.count("pg_stat_activity", isWaiting)).toBe(1);
  expect((await logInFrom(managed, "203.0.113.9", ada)).status).toBe(200);
  await holder.query("commit");
  expect((await waiting).status).toBe(200);
});

test("new recovery codes replace the old ones and end other sessions", async () => {
  const { managed, call, recoveryCodes } = await setupWithPasskey();
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const other = callerOf(managed, await answer(managed, { token, recoveryCode: recoveryCodes[0] }));
  const renewed = await call("POST", RECOVERY_CODES);
  const codes = renewed.body["recoveryCodes"] as string[];
  expect(codes).toHaveLength(10);
  expect((await other("GET", SESSION)).status).toBe(401);
  expect((await call("GET", PASSKEYS)).body).toMatchObject({ recoveryCodesLeft: 10 });
  const next = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const old = await answer(managed, { token: next.token, recoveryCode: recoveryCodes[1] });
  expect(codeOf(old)).toEqual([401, "second_factor_invalid"]);
  expect((await answer(managed, { token: next.token, recoveryCode: codes[1] })).status).toBe(200);
});

test("the database stores neither recovery codes nor tokens", async () => {
  const { managed, recoveryCodes } = await setupWithPasskey();
  const { token } = challengeOf(await logInFrom(managed, "203.0.113.1"));
  const rows = await managed.database.query(
    `select c::text as row from control.recovery_codes as c
     union all select c::text from control.challenges as c
     union all select a::text from control.audit as a`,
  );
  const stored = JSON.stringify(rows);
  for (const secret of [token, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll("-", ""))])
    expect(stored).not.toContain(secret);
});
