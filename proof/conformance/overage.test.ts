import { expect, test } from "vitest";
import { expectVerified } from "../../service/test/holds.ts";
import { setupOverage } from "../../service/test/overage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";

// Overage is usage that is invoiced later. Ada has 100 credits a month and an overage of 50; an image costs 10.

const images = (quantity: number) => ({ feature: "image.render", quantity });

test("overage is used only after all credits, including top-ups, and is not part of the balance", async () => {
  const { consume, manage, here } = await setupOverage();
  await manage("POST", `${here}/customers/ada/credits`, { body: { kind: "purchase", credits: 15 } });
  expect((await consume(images(11))).body).toMatchObject({
    balance: 5,
    overageCredits: 0,
    overage: { used: 0 },
  });
  expect((await consume(images(2))).body).toMatchObject({
    ...{ balance: 0, creditsRequired: 20, creditsCharged: 5, overageCredits: 15 },
    overage: { credits: 50, used: 15, remaining: 35 },
  });
});

test("overage never exceeds what the plan allows, and a denial shows the affordable quantity", async () => {
  const { consume, check } = await setupOverage();
  expect((await consume(images(16))).body).toMatchObject({ allowed: false, affordableQuantity: 15 });
  expect((await consume(images(15))).body).toMatchObject({ allowed: true, overage: { remaining: 0 } });
  expect((await check({ customerId: "ada", ...images(1) })).body).toMatchObject({
    reason: "insufficient_credits",
    affordableQuantity: 0,
  });
});

test("a plan with an overage of null allows unlimited overage", async () => {
  const { consume } = await setupOverage(null);
  expect((await consume(images(1_000))).body).toMatchObject({
    allowed: true,
    overageCredits: 9_900,
    overage: { credits: null, used: 9_900, remaining: null },
  });
});

test("responses for plans without overage have no overage fields", async () => {
  const { consume } = await setupOverage(0);
  const { text, body } = await consume(images(1));
  expect([body["creditsCharged"], text.includes("overage")]).toEqual([10, false]);
});

test("a top-up does not repay overage", async () => {
  const { consume, manage, here } = await setupOverage();
  await consume(images(12));
  await manage("POST", `${here}/customers/ada/credits`, { body: { kind: "purchase", credits: 100 } });
  expect((await consume(images(1))).body).toMatchObject({ balance: 90, overage: { used: 20 } });
});

test("overage restarts at zero in each period", async () => {
  const { consume, database } = await setupOverage();
  await consume(images(12));
  await windBack(database, 32 * DAY_MS);
  expect((await consume(images(1))).body).toMatchObject({ balance: 90, overage: { used: 0, remaining: 50 } });
  await expectVerified(database);
});

test("used overage still counts after the customer leaves a plan and returns", async () => {
  const { consume, publish, assign, database } = await setupOverage();
  await consume(images(12));
  await publish(0, "plain");
  await assign("ada", "plain");
  expect((await consume(images(1))).body).not.toHaveProperty("overage");
  await assign("ada", "pro");
  expect((await consume(images(1))).body).toMatchObject({ overage: { used: 30 } });
  await expectVerified(database);
});

test("an override replaces the plan's overage immediately", async () => {
  const { consume, manage, here } = await setupOverage(0);
  const put = (overage: number | null) =>
    manage("PUT", `${here}/customers/ada/overrides`, { body: { allowances: { credits: { overage } } } });
  expect((await put(30)).status).toBe(200);
  expect((await consume(images(12))).body).toMatchObject({ overage: { credits: 30, used: 20 } });
  await put(20);
  expect((await consume(images(1))).body["reason"]).toBe("insufficient_credits");
  await put(null);
  expect((await consume(images(1))).body).toMatchObject({ allowed: true, overage: { credits: null } });
});

test("a reversal undoes overage first, and the overage of the current period can be used again", async () => {
  const { consume, manage, here, database } = await setupOverage();
  const { body } = await consume(images(13));
  const reverse = (quantity: number) =>
    manage("POST", `${here}/customers/ada/consumes/${body["consumeId"]}/reverse`, { body: { quantity } });
  expect((await reverse(2)).body).toMatchObject({ credits: 0, overageCredits: 20 });
  expect((await reverse(2)).body).toMatchObject({ credits: 10, overageCredits: 10 });
  expect((await consume(images(1))).body).toMatchObject({ balance: 0, overage: { used: 0, remaining: 50 } });
  await expectVerified(database);
});
