import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { setupOverage } from "../../../test/overage.ts";

const CHARGE = { customerId: "ada", feature: "image.render", quantity: 15, idempotencyKey: "k" };

/** Spends the plan's 100 credits and 50 added credits. */
async function charge({ consume }: Managed): Promise<string> {
  const { body } = await consume(CHARGE);
  expect(body).toMatchObject({ allowed: true, creditsCharged: 150 });
  return `customers/ada/consumes/${String(body["consumeId"])}/reverse`;
}

const balanceOf = async ({ manage }: Managed): Promise<unknown> =>
  (await manage("GET", "customers/ada")).body["balances"];

test("a reversal does exactly what its preview showed, and the preview writes nothing", async () => {
  const managed = await setupManage();
  const { manage, topUp, database } = managed;
  await topUp("ada", 60);
  const path = await charge(managed);
  const entries = await database.count("cell.ledger");
  const { body } = await manage("POST", `${path}/preview`, { body: { quantity: 6 } });
  expect(body).toEqual({
    quantity: 6,
    credits: 60,
    overageCredits: 0,
    pool: "credits",
    balanceBefore: 10,
    balanceAfter: 70,
    returns: [
      expect.objectContaining({ grant: 1, kind: "allowance", credits: 10, spendable: 10, rest: null }),
      expect.objectContaining({ grant: 2, credits: 50, spendable: 50, rest: null }),
    ],
  });
  expect(await database.count("cell.ledger")).toBe(entries);
  await manage("POST", path, { body: { quantity: 6 } });
  expect(await balanceOf(managed)).toEqual([{ pool: "credits", balance: 70, held: 0, overage: null }]);
});

test("revoking one of several merged grants keeps the credits of the others", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  // The credits were added twice by mistake. The second grant is revoked.
  const credits = { credits: 100, kind: "purchase" };
  await manage("POST", "customers/ada/credits", { body: credits });
  await manage("POST", "customers/ada/credits", { body: credits });
  await manage("POST", "customers/ada/grants/2/revoke");
  const path = await charge(managed);
  const { body } = await manage("POST", `${path}/preview`, { body: {} });
  expect(body).toMatchObject({
    balanceBefore: 50,
    balanceAfter: 200,
    returns: [
      { grant: 1, spendable: 100, rest: null },
      { grant: 2, credits: 50, spendable: 50, rest: null },
    ],
  });
  await manage("POST", path, { body: {} });
  expect(await balanceOf(managed)).toEqual([{ pool: "credits", balance: 200, held: 0, overage: null }]);
});

test("a preview shows which credits would return to revoked grants or to a plan the customer has left", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await manage("POST", "customers/ada/credits", { body: { credits: 100, kind: "purchase" } });
  const path = await charge(managed);
  await manage("POST", "customers/ada/grants/2/revoke");
  await manage("DELETE", "customers/ada/plan");
  const { body } = await manage("POST", `${path}/preview`, { body: {} });
  expect(body).toMatchObject({
    credits: 150,
    returns: [
      { grant: 1, credits: 100, spendable: 0, rest: "waiting" },
      { grant: 2, credits: 50, spendable: 0, rest: "revoked" },
    ],
  });
  await manage("POST", path, { body: {} });
  expect(await balanceOf(managed)).toEqual([
    { pool: "credits", balance: body["balanceAfter"], held: 0, overage: null },
  ]);
  expect((await manage("POST", `${path}/preview`, { body: {} })).body["code"]).toBe("nothing_to_reverse");
  expect((await manage("POST", `${path.replace("ada", "nobody")}/preview`, { body: {} })).status).toBe(404);
});

test("a preview shows that a lowered allowance limits the credits that can be spent again", async () => {
  const managed = await setupManage();
  const { manage, publish } = managed;
  await manage("POST", "customers/ada/credits", { body: { credits: 50, kind: "purchase" } });
  const path = await charge(managed);
  await publish({
    allowances: [{ pool: "credits", credits: 40, period: "month", rollover: 0, overage: 0 }],
    reach: "now",
  });
  const { body } = await manage("POST", `${path}/preview`, { body: {} });
  expect(body).toMatchObject({
    balanceAfter: 90,
    returns: [
      { grant: 1, credits: 100, spendable: 40, rest: "lowered" },
      { grant: 2, credits: 50, spendable: 50, rest: null },
    ],
  });
  await manage("DELETE", "customers/ada/plan");
  const later = await manage("POST", `${path}/preview`, { body: {} });
  expect(later.body).toMatchObject({
    returns: [{ grant: 1, spendable: 0, rest: "lowered" }, { rest: null }],
  });
});

test("a preview shows that overage is reversed before credits return", async () => {
  const { consume, manage } = await setupOverage(50);
  // Charges 100 credits and 30 overage credits.
  const { body: charged } = await consume({ feature: "image.render", quantity: 13, idempotencyKey: "over" });
  const path = `customers/ada/consumes/${String(charged["consumeId"])}/reverse`;
  const steps = [
    { quantity: 2, credits: 0, overageCredits: 20, balanceAfter: 0, used: 10 },
    { quantity: 2, credits: 10, overageCredits: 10, balanceAfter: 10, used: 0 },
    { quantity: null, credits: 90, overageCredits: 0, balanceAfter: 100, used: 0 },
  ];
  for (const { quantity, balanceAfter, used, ...undone } of steps) {
    const preview = await manage("POST", `${path}/preview`, { body: { quantity } });
    expect(preview.body).toMatchObject({ ...undone, balanceAfter });
    const reversed = await manage("POST", path, { body: { quantity } });
    expect(reversed.body).toMatchObject({
      ...undone,
      quantity: preview.body["quantity"],
      customer: { balances: [{ balance: balanceAfter, overage: { used } }] },
    });
  }
  expect((await manage("GET", "keys/over")).body["charge"]).toMatchObject({
    ...{ credits: 100, overageCredits: 30 },
    ...{ reversedQuantity: 13, reversedCredits: 100, reversedOverageCredits: 30 },
  });
});
