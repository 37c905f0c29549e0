import { expect, onTestFinished, test } from "vitest";
import { ageHistory } from "../../../test/age-history.ts";
import {
  createDatabase,
  createTestProject,
  startTestService,
  type TestDatabase,
} from "../../../test/harness.ts";
import { send, setupManage } from "../../../test/manage.ts";
import { lastMonths } from "../../../test/months.ts";
import { openTestPool } from "../../../test/seed.ts";
import { DAY_MS } from "../../../test/wind-back.ts";
import { seedDemo } from "../../commands/demo/seed-demo.ts";
import { verifyCommand } from "../../commands/verify.ts";
import { createManagementToken } from "../people/management-tokens.ts";

type Line = Record<
  "opening" | "granted" | "used" | "expired" | "revoked" | "reversed" | "closing",
  number
> & {
  pool: string;
  kind: string;
};
type Month = { from: string; to: string; completeTo: string; isFinal: boolean; lines: Line[] };

function expectSound({ lines }: Month): void {
  for (const { opening, granted, used, expired, revoked, reversed, closing } of lines)
    expect(opening + granted - used - expired - revoked + reversed).toBe(closing);
}

const closings = ({ lines }: Month) =>
  Object.fromEntries(lines.flatMap((l) => (l.closing === 0 ? [] : [[`${l.pool} ${l.kind}`, l.closing]])));
const openings = ({ lines }: Month) =>
  Object.fromEntries(lines.flatMap((l) => (l.opening === 0 ? [] : [[`${l.pool} ${l.kind}`, l.opening]])));

type Demo = {
  readonly database: TestDatabase;
  read(month: string): Promise<Month>;
  sumBalances(): Promise<number>;
};

async function setupDemo(): Promise<Demo> {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  const { environmentId } = project.test;
  await seedDemo(database.url, { projectId: project.projectId, environmentId });
  const service = await startTestService(database);
  const actor = { kind: "system", id: null, requestId: null } as const;
  const input = {
    workspaceId: 1,
    name: "books",
    role: "viewer",
    environment: null,
    expiresAt: null,
  } as const;
  const { secret: token } = await createManagementToken(cell, actor, input);
  const here = `${service.url}/manage/v1/projects/${project.projectId}/test`;
  return {
    database,
    sumBalances: async () => {
      const { body } = await send(`${here}/customers?limit=200`, "GET", { token });
      const customers = body["items"] as { balances: { balance: number; held: number }[] }[];
      const balances = customers.flatMap((customer) => customer.balances);
      return balances.reduce((sum, { balance, held }) => sum + balance + held, 0);
    },
    read: async (month) => {
      const { status, body, text } = await send(`${here}/months/${month}`, "GET", { token });
      expect([status, text]).toEqual([200, text]);
      return body as unknown as Month;
    },
  };
}

test("the demo's monthly statements match the ledger, and each opening balance is the previous closing balance", {
  timeout: 120_000,
}, async () => {
  const { database, read, sumBalances } = await setupDemo();
  const lines: string[] = [];
  expect(await verifyCommand({ databaseUrl: database.url, print: (line) => lines.push(line) })).toBe(true);
  const months: Month[] = [];
  for (const month of lastMonths(4)) months.push(await read(month));
  expect(openings(months[0] as Month)).toEqual({});
  for (const [index, month] of months.entries()) {
    expectSound(month);
    const before = months[index - 1];
    if (before !== undefined) expect(openings(month)).toEqual(closings(before));
  }
  const used = months.flatMap((month) => month.lines).reduce((sum, line) => sum + line.used, 0);
  const kinds = new Set(months.flatMap((month) => month.lines).map(({ kind }) => kind));
  expect(used).toBeGreaterThan(1_000);
  expect(kinds.size).toBeGreaterThan(2);

  // Compares with the written entries, which are complete for months without due changes.
  for (const month of months.filter(({ completeTo, to }) => completeTo === to)) {
    const rows = await database.query(
      `select l.kind, sum(l.amount)::integer as amount
       from cell.ledger as l
       where coalesce(l.effective_at, l.recorded_at) >= $1 and coalesce(l.effective_at, l.recorded_at) < $2::timestamptz
       group by l.kind`,
      [month.from, month.to],
    );
    const written = new Map(rows.map(({ kind, amount }) => [Number(kind), Number(amount)]));
    const sum = (of: (line: Line) => number): number =>
      month.lines.reduce((total, line) => total + of(line), 0);
    expect(sum(({ granted }) => granted)).toBe(written.get(1) ?? 0);
    expect(sum((line) => line.used)).toBe(0 - (written.get(2) ?? 0));
    expect(sum(({ expired }) => expired)).toBe(0 - (written.get(3) ?? 0));
  }
  expect(months.filter(({ isFinal }) => isFinal).length).toBeGreaterThan(1);
  // The last closing balance must equal the current balances.
  const total = Object.values(closings(months.at(-1) as Month)).reduce((sum, closing) => sum + closing, 0);
  expect(total).toBe(await sumBalances());
});

test("due changes are included, and the statement shows up to when it is complete", async () => {
  const managed = await setupManage();
  const { database, manage, consume, topUp } = managed;
  // Pauses the expiry job, which could write the due changes first.
  await database.query("update cell.sweeps set rests_until = now() + interval '20 hours'");
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  await topUp("ada", 30);
  const [month = ""] = lastMonths(1);
  const read = async (): Promise<Month> => (await manage("GET", `months/${month}`)).body as unknown as Month;
  const now = await read();
  expect(now).toMatchObject({ isFinal: false, completeTo: now.to });
  expect(now.lines).toMatchObject([
    { kind: "allowance", opening: 0, granted: 100, used: 10, closing: 90 },
    { kind: "manual", opening: 0, granted: 30, used: 0, closing: 30 },
  ]);
  // Moves everything back 40 days. A period has ended and a new one has started, but neither change is written yet.
  await ageHistory(database, 40 * DAY_MS);
  const count = await database.count("cell.ledger");
  const due = await read();
  expectSound(due);
  expect(due.completeTo < due.to).toBe(true);
  expect(await database.count("cell.ledger")).toBe(count);
  const { body } = await manage("GET", "customers/ada");
  expect(body["balances"]).toEqual([{ pool: "credits", balance: 130, held: 0, overage: null }]);
  expect(due.lines.reduce((sum, { closing }) => sum + closing, 0)).toBe(130);
  // The next request writes the due changes, and the statement's lines stay the same.
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "look" });
  const seen = await read();
  expect(await database.count("cell.ledger")).toBeGreaterThan(count + 1);
  expect([seen.lines, seen.completeTo === seen.to]).toEqual([due.lines, true]);
});

test("an allowance removed by one version and restored by a later one is in the statement", async () => {
  const { database, manage, consume, publish } = await setupManage();
  await database.query("update cell.sweeps set rests_until = now() + interval '20 hours'");
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  await publish({ reach: "now", allowances: [] });
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "look" });
  await publish({ reach: "now" });
  const count = await database.count("cell.ledger");
  const [month = ""] = lastMonths(1);
  const read = async () => (await manage("GET", `months/${month}`)).body as unknown as Month;
  const due = await read();
  expect(await database.count("cell.ledger")).toBe(count);
  expect(due.lines).toMatchObject([{ kind: "allowance", granted: 190, used: 10, expired: 90, closing: 90 }]);
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "look again" });
  expect((await read()).lines).toEqual(due.lines);
});

test("a future month, a month before the history window and an invalid month are rejected", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const [before = "", month = ""] = lastMonths(2);
  expect((await manage("GET", "months/2999-01")).status).toBe(404);
  expect((await manage("GET", "months/2026-13")).status).toBe(400);
  expect((await manage("GET", `months/${month}?timeZone=Europe/Berlin`)).status).toBe(400);
  // A month cut off by the window is never final.
  const isFinal = async () => (await manage("GET", `months/${before}`)).body["isFinal"];
  expect(await isFinal()).toBe(true);
  const days = new Date().getUTCDate() + 3;
  await database.query("update control.workspace_plans set history_days_max = $1", [days]);
  expect(await isFinal()).toBe(false);
  await database.query("update control.workspace_plans set history_days_max = 1");
  expect((await manage("GET", `months/${lastMonths(3)[0]}`)).status).toBe(404);
  const { body } = await manage("GET", `months/${month}`);
  const isFirst = new Date().getUTCDate() === 1;
  if (!isFirst) expect((await manage("GET", `months/${before}`)).status).toBe(404);
  const day = Date.now() - Date.parse(String(body["from"]));
  expect(day).toBeLessThanOrEqual(DAY_MS + 60_000);
  expect(body["lines"]).toMatchObject([{ opening: 0, granted: 100, closing: 100 }]);
});

test("a statement in which the sum of a pool is not exact in JSON is rejected", async () => {
  const { manage, topUp } = await setupManage();
  const read = async () => manage("GET", `months/${lastMonths(1)[0]}`);
  // Ada's allowance of 100 credits is also in the sum.
  const half = (Number.MAX_SAFE_INTEGER - 101) / 2;
  await topUp("bob", half);
  await topUp("carl", half + 1);
  const { status, text } = await read();
  expect([status, text]).toEqual([200, expect.stringContaining(`"granted":${2 * half + 1},`)]);
  expect(text).toContain(`"closing":${2 * half + 1}`);
  // The amount of each kind is exact, but their sum is not.
  await topUp("dora", 1);
  expect(await read()).toMatchObject({ status: 422, body: { code: "total_too_large" } });
});

test("an entry recorded by a slow clock before it took effect is in the month when it took effect", async () => {
  const { manage, consume, database } = await setupManage();
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  const [month = ""] = lastMonths(1);
  const from = `${month}-01T00:00:00.000Z`;
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  await database.query("set session_replication_role = replica");
  // Simulates a clock that was more than a month slow.
  await database.query(
    `update cell.ledger
     set effective_at = coalesce(effective_at, recorded_at), recorded_at = $1::timestamptz - interval '40 days'`,
    [from],
  );
  await database.query("set session_replication_role = origin");
  const { body } = await manage("GET", `months/${month}`);
  expect(body["lines"]).toMatchObject([{ opening: 0, granted: 100, used: 10, closing: 90 }]);
  const { text } = await manage("GET", `exports/ledger?format=ndjson&from=${from}`);
  expect(text.trimEnd().split("\n")).toHaveLength(2);
});
