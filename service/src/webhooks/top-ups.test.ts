import { expect, test } from "vitest";
import { post, startTestService, type TestDatabase } from "../../test/harness.ts";
import { rounds } from "../../test/rounds.ts";
import { countAllowed, times } from "../../test/two-services.ts";
import { expectDone, setupNotified, startReceiver } from "../../test/webhooks.ts";
import { DAY_MS, windBack } from "../../test/wind-back.ts";
import { catchUpIdle } from "../jobs/catch-up-idle.ts";

const RULE = { below: 50, credits: 200, monthlyMax: 1_000 };

/** Customer `ada` has 100 credits and a rule. A webhook receives only `topup.due`. */
async function setup(rule: Partial<typeof RULE> = {}) {
  const notified = await setupNotified();
  const receiver = await startReceiver();
  const webhook = await notified.listen(receiver, { types: ["topup.due"] });
  const body = { pools: { credits: { topUp: { ...RULE, ...rule } } } };
  const set = async () => expectDone(await notified.manage("PUT", "customers/ada/alerts", { body }));
  return { ...notified, receiver, webhook, set };
}

/** Moves the wallet, and the time when the job checks it, into the past. */
async function letPass(database: TestDatabase, ms: number): Promise<void> {
  await windBack(database, ms);
  await database.query("update cell.due_plans set due_at = due_at - make_interval(secs => $1)", [ms / 1000]);
}

test("a balance that falls below the rule is delivered with an ID for the payment", async () => {
  const { render, receiver, set } = await setup();
  await set();
  await render(6);
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(receiver.received).toEqual([
    {
      id: expect.stringMatching(/^ntc_[0-9a-z]{26}$/),
      type: "topup.due",
      timestamp: expect.stringMatching(/Z$/),
      data: {
        customerId: "ada",
        sequence: 2,
        pool: "credits",
        below: 50,
        balance: 40,
        credits: 200,
        topUpId: expect.stringMatching(/^top_[0-9a-z]{26}$/),
        attempt: 1,
      },
    },
  ]);
  expect(Object.keys(receiver.received[0]?.data ?? {})).toEqual(
    "customerId sequence pool below balance credits topUpId attempt".split(" "),
  );
});

test("two processes: 50 charges at once request one top-up", { timeout: 240_000 }, async () => {
  const { database, project, service, manage, receiver, set } = await setup({ credits: 100 });
  const urls = [service.url, (await startTestService(database, { WEBHOOK_TARGETS: "any" })).url];
  await set();
  const charge = (turn: number, idempotencyKey: string) =>
    post(`${urls[turn % 2]}/v1/consume`, project.test.key.secret, {
      ...{ customerId: "ada", feature: "image.render", idempotencyKey },
    });
  let count = 0;
  for (const round of rounds(10)) {
    // 100 credits: ten of the charges are allowed, and the sixth falls below 50.
    const body = { kind: "purchase", credits: 100 };
    if (round > 0) expectDone(await manage("POST", "customers/ada/credits", { body }));
    const replies = await Promise.all(times(50, (turn) => charge(turn, `${round}-${turn}`)));
    expect(countAllowed(replies)).toBe(10);
    count += 1;
    expect(await database.count("cell.notices", "type = 'topup.due'")).toBe(count);
  }
  await expect.poll(() => receiver.received).toHaveLength(count);
  expect(new Set(receiver.received.map(({ data }) => data["topUpId"])).size).toBe(count);
  expect(receiver.received.every(({ data }) => data["attempt"] === 1)).toBe(true);
});

test("an open request is repeated after 24 hours, even if the customer sends no requests", async () => {
  const { render, receiver, set, database, cell } = await setup();
  await set();
  await render(10);
  await expect.poll(() => receiver.received).toHaveLength(1);
  await letPass(database, DAY_MS - 60_000);
  await catchUpIdle(cell);
  expect(await database.count("cell.notices")).toBe(1);
  await letPass(database, 60_000);
  await catchUpIdle(cell);
  await catchUpIdle(cell);
  await expect.poll(() => receiver.received).toHaveLength(2);
  const [first, second] = receiver.received.map(({ data }) => data);
  expect(first).toMatchObject({ attempt: 1, balance: 0 });
  expect(String(second?.["topUpId"]).slice(-16)).toBe(String(first?.["topUpId"]).slice(-16));
  expect(second).toMatchObject({ attempt: 2, balance: 0 });
  expect(await database.count("cell.due_plans", "due_at > now() + interval '23 hours'")).toBe(1);
});

test("a request that cannot be repeated is checked once a day, and repeated as soon as possible", async () => {
  const { render, receiver, set, manage, database, cell } = await setup();
  await set();
  await render(10);
  expectDone(await manage("PUT", "customers/ada/block", { body: { blocked: true } }));
  await letPass(database, 2 * DAY_MS);
  await catchUpIdle(cell);
  expect(await database.count("cell.notices")).toBe(1);
  expect(await database.count("cell.due_plans", "due_at > now() + interval '23 hours'")).toBe(1);
  expectDone(await manage("PUT", "customers/ada/block", { body: { blocked: false } }));
  await letPass(database, DAY_MS);
  await catchUpIdle(cell);
  await expect.poll(() => receiver.received.map(({ data }) => data["attempt"])).toEqual([1, 2]);
});

test("without a webhook for this type, a top-up is requested with the customer's next request after one is created", async () => {
  const { render, receiver, set, manage, database, webhook } = await setup();
  expectDone(await manage("PATCH", `webhooks/${webhook}`, { body: { types: ["plan.ended"] } }));
  await set();
  await render(10);
  expect(await database.count("cell.notices")).toBe(0);
  expectDone(await manage("PATCH", `webhooks/${webhook}`, { body: { types: ["topup.due"] } }));
  const { body } = await render(1);
  expect(body["allowed"]).toBe(false);
  await expect.poll(() => receiver.received).toHaveLength(1);
});
