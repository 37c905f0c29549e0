import { expect, test } from "vitest";
import { ageHistory } from "../../../test/age-history.ts";
import type { TestDatabase } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

const TOP_UP = { credits: 50, kind: "purchase" };

async function preview(
  { manage }: Managed,
  body: object,
  customer = "ada",
): Promise<Record<string, unknown>> {
  const reply = await manage("POST", `customers/${customer}/credits/preview`, {
    body: { ...TOP_UP, ...body },
  });
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
}

/** Dumps all rows of the cell as text, except tables written in the background: request log, usage roll-ups, job positions. */
async function dump(database: TestDatabase): Promise<string> {
  const tables = await database.query(
    `select table_name as name from information_schema.tables
     where table_schema = 'cell' and table_type = 'BASE TABLE' and table_name !~ '^(request_|usage_|meters$|sweeps$)' order by 1`,
  );
  const rows = [];
  for (const { name } of tables) rows.push(await database.query(`select t::text from cell.${name} as t`));
  return JSON.stringify(rows);
}

test("a preview shows the effect of the credits and writes nothing", async () => {
  const managed = await setupManage();
  const before = await dump(managed.database);
  expect(await preview(managed, { expiresAt: "2999-01-01T00:00:00Z" })).toEqual({
    outcome: "added",
    refusal: null,
    createsCustomer: false,
    balanceBefore: 100,
    balanceAfter: 150,
    expiresAt: "2999-01-01T00:00:00.000Z",
    plan: "pro",
    buys: [
      { feature: "image.render", name: "image.render", unit: null, quantity: 5 },
      { feature: "text.generate", name: "text.generate", unit: null, quantity: 16_666 },
    ],
    twins: [],
    referenceUsedBy: null,
  });
  expect(await preview(managed, {}, "nobody")).toMatchObject({
    createsCustomer: true,
    balanceBefore: 0,
    balanceAfter: 50,
    plan: null,
    buys: [],
  });
  expect(await dump(managed.database)).toBe(before);
});

test("a preview shows identical credits added in the last ten minutes and who added them", async () => {
  const managed = await setupManage();
  const { manage, tokens, database } = managed;
  const body = { ...TOP_UP, reference: "pay_1" };
  await manage("POST", "customers/ada/credits", { body, token: tokens.operator });
  for (const other of [{ credits: 51 }, { kind: "manual" }]) {
    await manage("POST", "customers/ada/credits", { body: { ...TOP_UP, ...other } });
  }
  await manage("POST", "customers/bob/credits", { body: TOP_UP });
  expect(await preview(managed, {})).toMatchObject({
    balanceBefore: 251,
    twins: [
      {
        grant: 2,
        reference: "pay_1",
        recordedAt: expect.any(String),
        by: { kind: "token", id: expect.stringMatching(/^\d+$/), name: "The operator's" },
      },
    ],
  });
  await database.query("set session_replication_role = replica");
  await database.query("update cell.grants set recorded_at = recorded_at - interval '11 minutes'");
  expect(await preview(managed, {})).toMatchObject({ twins: [] });
});

test("a preview does not show a revoked grant as a possible duplicate", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  for (const reference of ["pay_1", "pay_2"])
    await manage("POST", "customers/ada/credits", { body: { ...TOP_UP, reference } });
  await manage("POST", "customers/ada/grants/2/revoke", { body: {} });
  expect(await preview(managed, {})).toMatchObject({ twins: [{ grant: 3, reference: "pay_2" }] });
});

test("a preview shows the grant that uses the reference", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await manage("POST", "customers/bob/credits", { body: { ...TOP_UP, reference: "pay_1" } });
  const used = { grant: 1, credits: 50, by: { kind: "token", name: "The owner's" } };
  expect(await preview(managed, { reference: "pay_1" })).toMatchObject({
    outcome: "refused",
    refusal: { code: "reference_reused" },
    balanceAfter: 100,
    referenceUsedBy: { customerId: "bob", ...used },
  });
  expect(await preview(managed, { reference: "pay_1" }, "bob")).toMatchObject({
    outcome: "already_added",
    balanceBefore: 50,
    balanceAfter: 50,
    referenceUsedBy: { customerId: "bob" },
  });
  await manage("DELETE", "customers/bob");
  expect(await preview(managed, { reference: "pay_1" })).toMatchObject({
    refusal: { code: "reference_reused" },
    referenceUsedBy: { customerId: null, ...used },
  });
});

test("a reference used before the history window is still rejected, but the earlier grant is hidden", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await manage("POST", "customers/bob/credits", { body: { ...TOP_UP, reference: "pay_1" } });
  await ageHistory(database, 2 * DAY_MS);
  const look = () => preview(managed, { reference: "pay_1" });
  expect(await look()).toMatchObject({ referenceUsedBy: { customerId: "bob" } });
  await database.query("update control.workspace_plans set history_days_max = 1");
  expect(await look()).toMatchObject({ refusal: { code: "reference_reused" }, referenceUsedBy: null });
});

test.each([
  [{ pool: "gold" }, "unknown_key", null],
  [{ expiresAt: "2020-01-01T00:00:00Z" }, "ends_in_the_past", 100],
  [{ credits: Number.MAX_SAFE_INTEGER }, "balance_too_large", 100],
])("a preview of adding %j reports the same error as adding the credits", async (body, code, balance) => {
  const managed = await setupManage();
  const { refusal, ...rest } = await preview(managed, body);
  expect(rest).toMatchObject({ outcome: "refused", balanceBefore: balance, balanceAfter: balance });
  const reply = await managed.manage("POST", "customers/ada/credits", { body: { ...TOP_UP, ...body } });
  expect(refusal).toEqual({ code, detail: reply.body["detail"] });
  expect(reply.body["code"]).toBe(code);
});
