import type { Client } from "pg";
import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { connectTo, type Reply } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { setDefaultPlan } from "../../manage/plans/operations.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("requests for a wallet that is locked for 300 ms wait and are then decided", async () => {
  const credits = await setupCredits({ LANES: "1" });
  const held = await hold(credits, "ada");
  const startedAt = performance.now();
  const waiting = times(12, (i) => render(credits, "ada", `held-${i}`));
  await pause(300);
  await held.query("commit");
  const replies = await Promise.all(waiting);
  expect(performance.now() - startedAt).toBeGreaterThan(290);
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(replies.filter(({ body }) => body["allowed"])).toHaveLength(10);
  await expectSoundBooks(credits.database);
});

test("while a wallet is locked for 300 ms, other customers on the lane are served", async () => {
  const credits = await setupCredits({ LANES: "1" });
  await credits.assign("bob");
  await render(credits, "bob", "warm");
  const held = await hold(credits, "ada");
  const own = render(credits, "ada", "held");
  const others = times(10, async (i) => {
    await pause(25 * i);
    const reply = await render(credits, "bob", `beside-${i}`);
    return { status: reply.status, isHeld };
  });
  let isHeld = true;
  await pause(300);
  isHeld = false;
  await held.query("commit");
  expect((await own).body["allowed"]).toBe(true);
  // All requests got a response while the wallet was locked.
  expect(await Promise.all(others)).toEqual(Array(10).fill({ status: 200, isHeld: true }));
});

test("requests for a wallet that is locked for 3 s get 503 overloaded and charge nothing", async () => {
  const credits = await setupCredits({ LANES: "1" });
  const held = await hold(credits, "ada");
  const startedAt = performance.now();
  const replies = await Promise.all(times(5, (i) => render(credits, "ada", `held-${i}`)));
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  for (const reply of replies) {
    expect(reply).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(reply.headers.get("retry-after")).toBe("1");
  }
  await held.query("rollback");
  expect(await credits.database.count("cell.ledger", "kind = 2")).toBe(0);
  // Not executed, so the same key can be retried.
  expect((await render(credits, "ada", "held-0")).body).toMatchObject({ allowed: true, balance: 90 });
});

test("while a wallet is locked for 3 s under load, no other customer is rejected or delayed", async () => {
  const credits = await setupCredits({ LANES: "1" });
  const customers = times(10, (i) => `customer-${i}`);
  for (const customer of customers) await credits.assign(customer);
  const held = await hold(credits, "ada");
  const { own, others, slowestMs } = await load(credits, customers);
  await held.query("rollback");
  expect(own.filter(({ status }) => status !== 503)).toEqual([]);
  expect(tally(others)).toEqual({ 200: others.length });
  expect(slowestMs).toBeLessThan(500);
});

test("while a wallet is locked for 3 s, new customers are not rejected", async () => {
  const credits = await setupCredits({ LANES: "1" });
  await setDefaultPlan(credits.cell, credits.context, { plan: "pro" });
  const held = await hold(credits, "ada");
  const { others } = await load(
    credits,
    times(600, (i) => `new-${i}`),
  );
  await held.query("rollback");
  expect(tally(others)).toEqual({ 200: others.length });
});

test("800 requests for new customers are all decided after the database stalls for 600 ms", async () => {
  const credits = await setupCredits({ LANES: "1" });
  await setDefaultPlan(credits.cell, credits.context, { plan: "pro" });
  const blocker = await connectTo(credits.database);
  await blocker.query("begin");
  await blocker.query("lock table cell.wallets in exclusive mode");
  const waiting = times(800, (i) => render(credits, `new-${i}`, `key-${i}`));
  await pause(600);
  await blocker.query("commit");
  expect(tally(await Promise.all(waiting))).toEqual({ 200: 800 });
});

test("a check never waits for a wallet", async () => {
  const credits = await setupCredits({ LANES: "1" });
  const held = await hold(credits, "ada");
  const startedAt = performance.now();
  const reply = await credits.check({ customerId: "ada", feature: "image.render" });
  expect(reply.body).toMatchObject({ allowed: true, balance: 100 });
  expect(performance.now() - startedAt).toBeLessThan(250);
  await held.query("rollback");
});

function render({ consume }: Credits, customerId: string, idempotencyKey: string): Promise<Reply> {
  return consume({ customerId, feature: "image.render", idempotencyKey });
}

async function hold({ database }: Credits, customerId: string): Promise<Client> {
  const client = await connectTo(database);
  await client.query("begin");
  const { rowCount } = await client.query(
    `select from cell.wallets as w
     join cell.customers as c on c.environment_id = w.environment_id and c.number = w.customer_number
     where c.customer_id = $1 for update of w`,
    [customerId],
  );
  expect(rowCount).toBe(1);
  return client;
}

type Load = { own: Reply[]; others: Reply[]; slowestMs: number };

/** For 3 s, sends one request for the locked customer every 100 ms, and one for other customers every 5 ms. */
async function load(credits: Credits, customers: readonly string[]): Promise<Load> {
  const own: Promise<Reply>[] = [];
  const others: Promise<Reply>[] = [];
  let slowestMs = 0;
  const startedAt = performance.now();
  for (let turn = 0; performance.now() - startedAt < 3_000; turn++) {
    if (turn % 20 === 0) own.push(render(credits, "ada", `own-${turn}`));
    const customer = customers[turn % customers.length] ?? "";
    const sentAt = performance.now();
    others.push(
      credits
        .consume({ customerId: customer, feature: "text.generate", idempotencyKey: `other-${turn}` })
        .then((reply) => {
          slowestMs = Math.max(slowestMs, performance.now() - sentAt);
          return reply;
        }),
    );
    await pause(5);
  }
  return { own: await Promise.all(own), others: await Promise.all(others), slowestMs };
}

function tally(replies: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
