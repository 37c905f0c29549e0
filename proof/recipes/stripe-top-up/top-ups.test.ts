import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { catchUpIdle } from "../../../service/src/jobs/catch-up-idle.ts";
import { freePort } from "../../../service/src/postgres/free-port.ts";
import { expectSoundBooks } from "../../../service/test/books.ts";
import { expectDone, setupNotified } from "../../../service/test/webhooks.ts";
import { DAY_MS, windBack } from "../../../service/test/wind-back.ts";
import { startLineTo } from "../line.ts";
import { startServer } from "../start-server.ts";
import { STRIPE_SECRET_KEY } from "../stripe-webhook/servers.ts";
import { startLocalPayments } from "./local-payments.ts";

const RULE = { below: 50, credits: 200, monthlyMax: 3 };

type Delivery = { readonly noticeId: string; readonly state: string; readonly data: object };

/** Purser with a rule for "ada", who has 100 credits; a local Stripe; and the recipe, which receives what Purser sends. */
async function setup() {
  const notified = await setupNotified();
  const { manage, service, tokens, project, database, cell, render } = notified;
  const stripe = await startLocalPayments();
  const line = await startLineTo(service.url);
  const url = `http://127.0.0.1:${await freePort()}`;
  const body = { url: `${url}/purser`, types: ["topup.due"] };
  const { webhook, secret } = expectDone(await manage("POST", "webhooks", { body })) as {
    webhook: { id: string };
    secret: string;
  };
  const start = () =>
    startServer("stripe-top-up", {
      PORT: new URL(url).port,
      STRIPE_URL: stripe.url,
      STRIPE_SECRET_KEY,
      WEBHOOK_SECRET: secret,
      PURSER_URL: line.url,
      PURSER_TOKEN: tokens.operator,
      PURSER_PROJECT: String(project.projectId),
      PURSER_ENVIRONMENT: "test",
      PRICE_PER_1000: "990",
      CURRENCY: "eur",
    });
  expectDone(await manage("PUT", "customers/ada", { body: { billingReference: "cus_1" } }));
  expectDone(await manage("PUT", "customers/ada/alerts", { body: { pools: { credits: { topUp: RULE } } } }));
  const openId = async (): Promise<string> => {
    const { body: alerts } = await manage("GET", "customers/ada/alerts");
    return /top_[0-9a-z]{26}/.exec(JSON.stringify(alerts))?.[0] ?? "";
  };
  const deliveries = async () => {
    const reply = await manage("GET", `webhooks/${webhook.id}/deliveries`);
    return (expectDone(reply)["items"] as Delivery[]).toReversed();
  };
  const post = async (id: string, content: object, key = secret): Promise<number> => {
    const text = JSON.stringify(content);
    const now = new Date();
    const signed = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(key).sign(id, now, text),
    };
    return (await fetch(`${url}/purser`, { method: "POST", headers: signed, body: text })).status;
  };
  return {
    ...{ ...notified, stripe, line, start, post },
    server: await start(),
    /** Falls below the rule, which requests a top-up. */
    spend: () => render(10),
    deliveries,
    /** Sends a delivery again, as Purser does if a response was lost. */
    repeat: async (attempt = 1): Promise<number> => {
      const delivery = (await deliveries())[attempt - 1];
      return post(delivery?.noticeId ?? "", { type: "topup.due", data: delivery?.data });
    },
    delivered: (count = 1) =>
      expect
        .poll(async () => (await deliveries()).map(({ state }) => state))
        .toEqual(Array(count).fill("delivered")),
    failed: () =>
      expect.poll(() => database.count("cell.deliveries", "attempts > 0 and state = 'pending'")).toBe(1),
    /** Delivers what failed now, instead of later. */
    retry: async () => {
      const { noticeId } = (await deliveries()).at(-1) ?? { noticeId: "" };
      await manage("POST", `webhooks/${webhook.id}/deliveries/${noticeId}/retry`, { body: {} });
    },
    letDayPass: async () => {
      const before = await openId();
      await windBack(database, DAY_MS);
      await database.query("update cell.due_plans set due_at = due_at - interval '1 day'");
      // The ID contains the time of the request, which has moved.
      const after = await openId();
      await database.query("update cell.notices set details = replace(details, $1, $2)", [before, after]);
      stripe.rename(before, after);
      stripe.forgetKeys();
      await catchUpIdle(cell);
    },
    grants: () =>
      database.query(
        `select reference, credits::integer, price_amount::integer as amount, price_currency as currency
         from cell.grants
         where reference is not null
         order by number`,
      ),
    sound: () => expectSoundBooks(database),
  };
}

const BOUGHT = { reference: "pi_1", credits: 200, amount: 198, currency: "EUR" };

test("a top-up charges the saved card once, and adds the credits that were paid for", async () => {
  const { spend, delivered, stripe, grants, manage, sound } = await setup();
  await spend();
  await delivered();
  expect(stripe.payments).toMatchObject([
    { status: "succeeded", amount: 198, currency: "eur", customer: "cus_1", metadata: { credits: "200" } },
  ]);
  expect(await grants()).toEqual([BOUGHT]);
  const { body } = await manage("GET", "customers/ada/alerts");
  expect(body).toMatchObject({ pools: { credits: { topUp: { requestedThisMonth: 1, open: null } } } });
  await sound();
});

test("a delivery that arrives again charges nothing, even after Stripe has forgotten the key", async () => {
  const { spend, delivered, repeat, stripe, grants } = await setup();
  await spend();
  await delivered();
  expect(await repeat()).toBe(200);
  stripe.forgetKeys();
  expect(await repeat()).toBe(200);
  expect(stripe.payments).toHaveLength(1);
  expect(await grants()).toEqual([BOUGHT]);
});

test("20 deliveries at once charge the card once, also of different attempts", async () => {
  const { deliveries, post, spend, server, start, stripe, grants, retry, delivered } = await setup();
  await server.kill();
  await spend();
  await start();
  stripe.delayMs = 200;
  const [{ data } = { data: {} }] = await deliveries();
  const statuses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      post(`ntc_${n % 2}`, { type: "topup.due", data: { ...data, attempt: 1 + (n % 2) } }),
    ),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 500]));
  await retry();
  await delivered();
  expect(stripe.payments).toHaveLength(1);
  expect(await grants()).toEqual([BOUGHT]);
});

test("a declined card is not charged again by the same attempt, but by the next one after 24 hours", async () => {
  const { spend, delivered, repeat, stripe, grants, letDayPass, deliveries, sound } = await setup();
  stripe.outcome = "declined";
  await spend();
  await delivered();
  stripe.outcome = "succeeded";
  stripe.forgetKeys();
  expect(await repeat()).toBe(200);
  expect(stripe.payments).toMatchObject([{ status: "requires_payment_method" }]);
  expect(await grants()).toEqual([]);
  await letDayPass();
  await delivered(2);
  expect((await deliveries()).map(({ data }) => data)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  expect(stripe.payments).toMatchObject([{ status: "succeeded" }, { status: "canceled" }]);
  expect(await grants()).toEqual([{ ...BOUGHT, reference: "pi_2" }]);
  expect([await repeat(1), await repeat(2)]).toEqual([200, 200]);
  expect(stripe.payments).toHaveLength(2);
  await sound();
});

test("a crash between the payment and the credits neither loses the credits nor charges again", async () => {
  const { spend, failed, retry, delivered, line, server, start, stripe, grants } = await setup();
  line.next.push("up", "cut");
  await spend();
  await failed();
  expect(stripe.charged()).toBe(1);
  await server.kill();
  stripe.forgetKeys();
  await start();
  await retry();
  await delivered();
  expect(stripe.payments).toHaveLength(1);
  expect(await grants()).toEqual([BOUGHT]);
});

test("if a response of Stripe or Purser is lost, the next delivery finds the payment", async () => {
  const { spend, failed, retry, delivered, line, stripe, grants, database } = await setup();
  stripe.lost = 1;
  await spend();
  await failed();
  expect(await grants()).toEqual([]);
  line.next.push("up", "cut_after");
  await retry();
  await expect.poll(grants).toEqual([BOUGHT]);
  await expect.poll(() => database.count("cell.deliveries", "state = 'pending' and status = 500")).toBe(1);
  await retry();
  await delivered();
  expect(stripe.payments).toHaveLength(1);
  expect(await grants()).toEqual([BOUGHT]);
});

test("a payment that is processed for a day is not charged again, and its credits are added", async () => {
  const { spend, delivered, repeat, stripe, grants, letDayPass } = await setup();
  stripe.outcome = "processing";
  await spend();
  await delivered();
  await letDayPass();
  await delivered(2);
  expect(await repeat(2)).toBe(200);
  expect(stripe.payments).toMatchObject([{ status: "processing" }]);
  stripe.complete();
  // The third attempt follows two days after the second.
  await letDayPass();
  await letDayPass();
  await delivered(3);
  expect(stripe.payments).toHaveLength(1);
  expect(await grants()).toEqual([BOUGHT]);
});

test("a delivery that arrives after the customer has bought credits charges nothing", async () => {
  const { server, spend, start, failed, retry, delivered, manage, stripe } = await setup();
  await server.kill();
  await spend();
  await failed();
  expectDone(await manage("POST", "customers/ada/credits", { body: { kind: "purchase", credits: 500 } }));
  await start();
  await retry();
  await delivered();
  expect(stripe.payments).toEqual([]);
});

test("a late delivery charges no customer who was blocked", async () => {
  const { server, spend, start, failed, retry, delivered, manage, stripe } = await setup();
  await server.kill();
  await spend();
  await failed();
  expectDone(await manage("PUT", "customers/ada/block", { body: { blocked: true } }));
  await start();
  await retry();
  await delivered();
  expect(stripe.payments).toEqual([]);
});

test("a forged delivery charges nothing", async () => {
  const { post, stripe } = await setup();
  const data = { customerId: "ada", pool: "credits", credits: 1, topUpId: "top_1", attempt: 1 };
  const forged = `whsec_${Buffer.from("x".repeat(32)).toString("base64")}`;
  expect(await post("ntc_1", { type: "topup.due", data }, forged)).toBe(400);
  expect(await post("ntc_1", { type: "plan.ended", data })).toBe(200);
  expect(stripe.payments).toEqual([]);
});
