import { expect, test } from "vitest";
import { expectVerified } from "../../../test/holds.ts";
import { setupOverage } from "../../../test/overage.ts";
import { verifyDatabase } from "../../commands/verify/verify-database.ts";
import { verifyUsageCommand } from "../../commands/verify-usage.ts";

const IMAGE = { feature: "image.render" };

test("usage after all credits are spent is overage in the response, its replay and the ledger", async () => {
  const { consume, check, manage, here, database } = await setupOverage();
  const before = await check({ customerId: "ada", ...IMAGE, quantity: 12 });
  expect(before.body).toMatchObject({
    allowed: true,
    balance: 100,
    overage: { credits: 50, used: 0, remaining: 50 },
    overageCredits: 20,
  });
  const body = { ...IMAGE, quantity: 12, idempotencyKey: "the-same" };
  const first = await consume(body);
  expect(first.body).toMatchObject({
    allowed: true,
    creditsRequired: 120,
    creditsCharged: 100,
    overageCredits: 20,
    balance: 0,
    overage: { credits: 50, used: 20, remaining: 30 },
  });
  const again = await consume(body);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  const denied = await consume({ ...IMAGE, quantity: 4 });
  expect(denied.body).toMatchObject({
    reason: "insufficient_credits",
    affordableQuantity: 3,
    creditsCharged: 0,
    overageCredits: 0,
  });
  const customer = await manage("GET", `${here}/customers/ada`);
  const overage = { credits: 50, used: 20, held: 0, remaining: 30 };
  expect(customer.body["balances"]).toEqual([{ pool: "credits", balance: 0, held: 0, overage }]);
  const ledger = await manage("GET", `${here}/customers/ada/ledger?kind=consume`);
  expect(ledger.body["items"]).toMatchObject([{ amount: -100, overage: 20, uncovered: 0 }]);
  await expectVerified(database);
});

test("the overage to invoice can be read for a customer and for a month, without reversed overage", async () => {
  const { consume, manage, here, database, service } = await setupOverage(null);
  const { body } = await consume({ ...IMAGE, quantity: 15 });
  const reversal = { quantity: 2, reference: "failed" };
  const reversed = await manage("POST", `${here}/customers/ada/consumes/${body["consumeId"]}/reverse`, {
    body: reversal,
  });
  expect(reversed.body).toMatchObject({ credits: 0, overageCredits: 20 });
  const month = new Date().toISOString().slice(0, 7);
  expect((await manage("GET", `${here}/months/${month}`)).body["overage"]).toEqual([
    { pool: "credits", used: 50, reversed: 20 },
  ]);
  const hour = 3_600_000;
  const from = new Date(Math.floor(Date.now() / hour - 1) * hour).toISOString();
  const read = async (path: string) => (await manage("GET", `${here}/usage/${path}&from=${from}`)).body;
  await expect
    .poll(async () => (await read("totals?customerId=ada"))["overage"], { timeout: 20_000, interval: 250 })
    .toEqual([{ pool: "credits", count: 1, quantity: 0, credits: 30 }]);
  expect(await read("customers?source=overage")).toMatchObject({
    customers: [{ customerId: "ada", credits: 30 }],
    total: { credits: 30 },
  });
  expect((await read("totals?customerId=ada"))["charges"]).toMatchObject([{ quantity: 13, credits: 100 }]);
  await service.stop();
  const lines: string[] = [];
  await verifyUsageCommand({ databaseUrl: database.url, repair: null, print: (line) => lines.push(line) });
  expect(lines.join("\n")).not.toContain("MISMATCH");
});

test("items, holds and a backend's reversal record overage, and verification finds no mismatch", async () => {
  const { consume, open, settle, database, manage, here } = await setupOverage();
  const items = [
    { ...IMAGE, quantity: 9 },
    { feature: "text.generate", quantity: 10_000 },
  ];
  const charged = await consume({ items });
  expect(charged.body["items"]).toMatchObject([
    { creditsCharged: 90, overageCredits: 0, overage: { used: 20 } },
    { creditsCharged: 10, overageCredits: 20, overage: { used: 20 } },
  ]);
  const holdId = await open({ ...IMAGE, quantity: 2 });
  const customer = await manage("GET", `${here}/customers/ada`);
  expect(customer.body["balances"]).toMatchObject([{ overage: { used: 20, held: 20, remaining: 10 } }]);
  expect((await settle(holdId, { quantity: 4 })).body).toMatchObject({
    creditsCharged: 0,
    overageCredits: 30,
    creditsBeyondHold: 20,
    creditsUncovered: 10,
  });
  await expectVerified(database);
});

test("a change to the plan's overage applies to the next request", async () => {
  const { consume, publish } = await setupOverage();
  expect((await consume({ ...IMAGE, quantity: 13 })).body["overage"]).toMatchObject({
    used: 30,
    remaining: 20,
  });
  await publish(0);
  const { body } = await consume(IMAGE);
  expect([body["reason"], body["overage"]]).toEqual(["insufficient_credits", undefined]);
});

test("until the upgrade is finished, no plan can allow overage", async () => {
  const { publish, database } = await setupOverage(0);
  await database.query("update cell.identity set data_format = 1");
  expect((await publish(0)).status).toBe(200);
  expect(await publish(50)).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
});

test("purser verify reports overage that the ledger does not explain", async () => {
  const { consume, database } = await setupOverage();
  await consume({ ...IMAGE, quantity: 12 });
  await database.query("update cell.wallets set state = replace(state, ',null,20,0]', ',null,10,0]')");
  const { mismatch } = await verifyDatabase(database.serviceUrl);
  expect(mismatch?.text).toBe("grant 1 has a used overage of 10 in the wallet, 20 according to its ledger");
});
