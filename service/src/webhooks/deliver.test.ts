import { expect, test } from "vitest";
import { post, startTestService } from "../../test/harness.ts";
import { expireHolds, forgetNextEnds, openHolds } from "../../test/holds.ts";
import { rounds } from "../../test/rounds.ts";
import { countAllowed, times } from "../../test/two-services.ts";
import { expectDone, setupNotified, startReceiver } from "../../test/webhooks.ts";
import { windBack } from "../../test/wind-back.ts";
import { forgetOldNotices } from "../jobs/forget-old-requests.ts";

const DAYS = (count: number) => `interval '${count} days'`;

test("a charge that crosses a threshold is delivered, signed and named", async () => {
  const notified = await setupNotified();
  const receiver = await startReceiver();
  await notified.listen(receiver);
  await notified.render(5);
  const { body } = await notified.render(1);
  expect(body["balance"]).toBe(40);
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(receiver.received).toEqual([
    {
      id: expect.stringMatching(/^ntc_[0-9a-z]{26}$/),
      type: "balance.low",
      timestamp: expect.stringMatching(/Z$/),
      data: { customerId: "ada", sequence: 3, pool: "credits", threshold: 50, balance: 40 },
    },
  ]);
  expect(receiver.forged).toEqual([]);
  await expect
    .poll(() => notified.database.query("select state, attempts, status from cell.deliveries"))
    .toEqual([{ state: "delivered", attempts: 1, status: 204 }]);
});

test("a webhook receives only its types, and a disabled one nothing", async () => {
  const notified = await setupNotified();
  const [all, depleted, disabled] = [await startReceiver(), await startReceiver(), await startReceiver()];
  await notified.listen(all);
  await notified.listen(depleted, { types: ["balance.depleted"] });
  const id = await notified.listen(disabled);
  expectDone(await notified.manage("PATCH", `webhooks/${id}`, { body: { enabled: false } }));
  await notified.render(10);
  await expect
    .poll(() => all.received.map(({ type }) => type))
    .toEqual(["balance.low", "balance.low", "balance.depleted"]);
  await expect.poll(() => depleted.received.map(({ type }) => type)).toEqual(["balance.depleted"]);
  expect(await notified.database.count("cell.deliveries")).toBe(4);
});

test("two webhooks of two processes: each notice arrives once, even if 50 charges race", {
  timeout: 240_000,
}, async () => {
  const notified = await setupNotified();
  const { database, project, service, topUp } = notified;
  const urls = [service.url, (await startTestService(database, { WEBHOOK_TARGETS: "any" })).url];
  const [first, second] = [await startReceiver(), await startReceiver()];
  await notified.listen(first);
  await notified.listen(second, { types: ["balance.low"] });
  const charge = (turn: number, key: string) =>
    post(`${urls[turn % 2]}/v1/consume`, project.test.key.secret, {
      customerId: "ada",
      feature: "image.render",
      idempotencyKey: key,
    });
  let spent = 0;
  for (const round of rounds(10)) {
    // 100 credits: ten of the charges are allowed, and they cross 50, 20 and 1 once.
    if (round > 0) await topUp("ada", 100);
    const replies = await Promise.all(times(50, (turn) => charge(turn, `${round}-${turn}`)));
    expect(countAllowed(replies)).toBe(10);
    spent += 100;
  }
  const count = spent / 100;
  await expect.poll(() => database.count("cell.deliveries", "state = 'pending'")).toBe(0);
  const kinds = Object.groupBy(first.received, ({ type, data }) => `${type} ${data["threshold"] ?? ""}`);
  expect(Object.fromEntries(Object.entries(kinds).map(([kind, of]) => [kind, of?.length]))).toEqual({
    "balance.low 50": count,
    "balance.low 20": count,
    "balance.depleted ": count,
  });
  expect(second.received).toHaveLength(2 * count);
  for (const { received } of [first, second]) {
    expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
    const sequences = received.map(({ data }) => Number(data["sequence"]));
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  }
  expect([...first.forged, ...second.forged]).toEqual([]);
});

test("customers without requests are noticed: a plan and a hold that end", async () => {
  const notified = await setupNotified();
  const { database, manage } = notified;
  const receiver = await startReceiver();
  await notified.listen(receiver);
  const soon = new Date(Date.now() + 3_000).toISOString();
  expectDone(
    await manage("POST", "customers/ada/plan", { body: { plan: "pro", endsAt: soon, shorten: true } }),
  );
  await notified.assign("bob");
  const holdId = await openHolds(notified).open({ customerId: "bob", feature: "image.render" });
  await expireHolds(database);
  await forgetNextEnds(database);
  const types = () => receiver.received.map(({ type, data }) => `${data["customerId"]} ${type}`).toSorted();
  await expect
    .poll(types)
    .toEqual([
      "ada balance.depleted",
      "ada balance.low",
      "ada balance.low",
      "ada plan.ended",
      "bob hold.expired",
    ]);
  const ended = receiver.received.find(({ type }) => type === "hold.expired");
  expect(ended?.data).toEqual({
    ...{ customerId: "bob", sequence: 1 },
    ...{ holdId, charged: false },
  });
  expect(await database.count("cell.due_plans", "due_at <= now()")).toBe(0);
});

test("an erasure deletes the customer's notices and deliveries", async () => {
  const notified = await setupNotified();
  const { database, manage } = notified;
  const receiver = await startReceiver();
  receiver.answer = (_, response, { data }) => response.writeHead(500).end(JSON.stringify(data));
  await notified.listen(receiver);
  await notified.render(6);
  await expect.poll(() => database.count("cell.deliveries", "answer like '%ada%'")).toBe(1);
  expectDone(await manage("DELETE", "customers/ada"));
  expect(await database.count("cell.notices")).toBe(0);
  expect(await database.count("cell.deliveries")).toBe(0);
});

test("notices are kept for 30 days", async () => {
  const notified = await setupNotified();
  const { database, cell } = notified;
  const receiver = await startReceiver();
  await notified.listen(receiver);
  await notified.render(6);
  await expect.poll(() => database.count("cell.deliveries", "state = 'delivered'")).toBe(1);
  await database.query(`update cell.notices set recorded_at = recorded_at - ${DAYS(29)}`);
  expect(await forgetOldNotices(cell)).toBe(0);
  await database.query(`update cell.notices set recorded_at = recorded_at - ${DAYS(2)}`);
  expect(await forgetOldNotices(cell)).toBe(1);
  expect(await database.count("cell.deliveries")).toBe(0);
});

test("without a webhook, nothing is noticed and wallets stay as they are", async () => {
  const notified = await setupNotified();
  await notified.render(10);
  expect(await notified.database.count("cell.notices")).toBe(0);
  await windBack(notified.database, 0);
  const [wallet] = await notified.database.query("select state from cell.wallets");
  expect(wallet?.["state"]).toMatch(/^\[1,/);
});
