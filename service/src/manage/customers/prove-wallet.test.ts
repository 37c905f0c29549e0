import { expect, test } from "vitest";
import { liveBusyLives } from "../../../test/busy-history.ts";
import { connectTo } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { TAMPERINGS } from "../../../test/tamperings.ts";
import { times } from "../../../test/two-services.ts";

async function prove({ manage, tokens }: Managed, customer = "ada"): Promise<Record<string, unknown>> {
  const reply = await manage("GET", `customers/${customer}/proof`, { token: tokens.viewer });
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
}

test("a valid wallet is sound: the sums of its ledger and grants equal the balance", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await liveBusyLives(managed);
  const { body } = await manage("GET", "customers/ada");
  const [credits] = body["balances"] as { balance: number }[];
  const balance = credits?.balance;
  const adas = "customer_number = (select number from cell.customers where customer_id = 'ada')";
  expect(await prove(managed)).toEqual({
    windowStart: null,
    checkedAt: expect.stringMatching(/Z$/),
    isSound: true,
    entries: await database.count("cell.ledger", adas),
    pools: [{ pool: "credits", ledgerSum: balance, grantsLeft: balance, balance }],
  });
});

test("a new customer's wallet is sound, and an erased customer is not found", async () => {
  const managed = await setupManage();
  await managed.manage("PUT", "customers/new", { body: {} });
  expect(await prove(managed, "new")).toMatchObject({
    isSound: true,
    entries: 0,
    pools: [{ pool: "credits", ledgerSum: 0, grantsLeft: 0, balance: 0 }],
  });
  await managed.manage("DELETE", "customers/new");
  expect((await managed.manage("GET", "customers/new/proof")).status).toBe(404);
});

/** Tampering that the proof detects. Other damage, such as a wrong price, is found only by `purser verify`. */
const SHOWN = [
  "a balance after an entry",
  "an amount",
  "an amount with its parts",
  "an amount beyond 53 bits",
  "an entry in another environment",
  "an entry deleted",
  "the last entry deleted",
  "a duplicate entry",
  "an entry beyond the wallet's sequence",
  "all of a ledger deleted",
  "the last grant deleted",
  "a grant without an entry",
  "the balance column",
  "the wallet's sequence",
  "the largest sequence",
  "a wallet that cannot be read",
  "credits added to the wallet",
  "a duplicate grant",
  "a count of grants",
];

test("an inconsistent wallet is reported as unsound, never as an error", { timeout: 60_000 }, async () => {
  const managed = await setupManage();
  const { database } = managed;
  await liveBusyLives(managed);
  // Bypasses the triggers, as the database owner can.
  await database.query("set session_replication_role = replica");
  const tables = ["wallets", "grants", "ledger"];
  for (const table of tables) await database.query(`create table kept_${table} as table cell.${table}`);
  const tamperings = TAMPERINGS.filter(({ name }) => SHOWN.includes(name));
  expect(tamperings.map(({ name }) => name).sort()).toEqual([...SHOWN].sort());
  for (const { name, tamper } of tamperings) {
    await tamper(database);
    expect({ name, ...(await prove(managed)) }).toMatchObject({ name, isSound: false });
    for (const table of tables) {
      await database.query(`delete from cell.${table}`);
      await database.query(`insert into cell.${table} table kept_${table}`);
    }
  }
  expect(await prove(managed)).toMatchObject({ isSound: true });
});

test("a wallet is never reported as unsound because of concurrent charges", async () => {
  const managed = await setupManage();
  const { consume, topUp } = managed;
  await topUp("ada", 1_000_000);
  let isOver = false;
  const charging = Promise.all(
    times(8, async (caller) => {
      for (let i = 0; !isOver; i++)
        await consume({ customerId: "ada", feature: "image.render", idempotencyKey: `${caller}-${i}` });
    }),
  );
  const proofs = [];
  for (let i = 0; i < 60; i++) proofs.push(await prove(managed));
  isOver = true;
  await charging;
  expect(proofs.filter(({ isSound }) => isSound !== true)).toEqual([]);
  expect(new Set(proofs.map(({ entries }) => entries)).size).toBeGreaterThan(10);
});

test("a wallet check that takes too long fails with `overloaded`", async () => {
  const managed = await setupManage();
  const holder = await connectTo(managed.database);
  await holder.query("begin; lock table cell.ledger in access exclusive mode");
  const reply = await managed.manage("GET", "customers/ada/proof");
  expect(reply).toMatchObject({ status: 503, body: { code: "overloaded" } });
  await holder.query("rollback");
  expect(await prove(managed)).toMatchObject({ isSound: true });
});
