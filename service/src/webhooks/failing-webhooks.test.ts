import { expect, test } from "vitest";
import { expectDone, setupNotified, startReceiver } from "../../test/webhooks.ts";
import { retryAfter } from "./deliver.ts";

const DAYS = (count: number) => `interval '${count} days'`;

test("a customer's notices keep their order while the webhook fails, and others do not wait", async () => {
  const notified = await setupNotified();
  const receiver = await startReceiver();
  await notified.listen(receiver);
  let failures = 2;
  receiver.answer = (_, response, { data }) =>
    response.writeHead(data["customerId"] === "ada" && failures-- > 0 ? 503 : 200).end("busy");
  await notified.assign("bob");
  await notified.render(6);
  await notified.render(4);
  await notified.render(6, "bob");
  const due = () =>
    notified.database.query("update cell.deliveries set due_at = now() where state = 'pending'");
  await expect.poll(() => receiver.received.some(({ data }) => data["customerId"] === "bob")).toBe(true);
  await expect
    .poll(async () => {
      await due();
      return notified.database.count("cell.deliveries", "state = 'pending'");
    })
    .toBe(0);
  const ofAda = receiver.received.filter(({ data }) => data["customerId"] === "ada");
  expect(ofAda.map(({ data }) => data["threshold"] ?? "depleted")).toEqual([50, 50, 50, 20, "depleted"]);
});

test("a webhook that hangs does not delay another", async () => {
  const notified = await setupNotified();
  const [slow, quick] = [await startReceiver(), await startReceiver()];
  slow.answer = () => {};
  await notified.listen(slow);
  await notified.listen(quick);
  await notified.render(6);
  await expect.poll(() => slow.received.length).toBe(1);
  const startedAt = performance.now();
  await notified.assign("bob");
  await notified.render(6, "bob");
  await expect.poll(() => quick.received.length, { timeout: 8_000 }).toBe(2);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(await notified.database.count("cell.deliveries", "attempts > 0 and state = 'pending'")).toBe(0);
});

test("a notice that was recorded later does not overtake one that waits for another", async () => {
  const notified = await setupNotified();
  const { database } = notified;
  const receiver = await startReceiver();
  await notified.listen(receiver);
  receiver.answer = (_, response) => response.writeHead(503).end();
  await notified.render(6);
  await expect.poll(() => receiver.received).toHaveLength(1);
  await notified.render(3);
  await database.query("update cell.deliveries set due_at = now() where attempts > 0");
  receiver.answer = (_, response) => response.writeHead(200).end();
  await notified.render(1);
  await expect.poll(() => database.count("cell.deliveries", "state = 'delivered'")).toBe(3);
  const thresholds = receiver.received.map(({ data }) => data["threshold"] ?? "depleted");
  expect(thresholds.filter((threshold, index) => threshold !== thresholds[index - 1])).toEqual([
    50,
    20,
    "depleted",
  ]);
});

test("a retry while an attempt is in progress sends the notice again", async () => {
  const notified = await setupNotified();
  const { database, manage } = notified;
  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  const held: (() => void)[] = [];
  receiver.answer = (_, response) => held.push(() => response.writeHead(200).end());
  await notified.render(6);
  await expect.poll(() => receiver.received).toHaveLength(1);
  const noticeId = receiver.received[0]?.id;
  expectDone(await manage("POST", `webhooks/${id}/deliveries/${noticeId}/retry`));
  receiver.answer = (_, response) => response.writeHead(200).end();
  for (const answer of held) answer();
  await expect.poll(() => receiver.received.map((received) => received.id)).toEqual([noticeId, noticeId]);
  await expect.poll(() => database.count("cell.deliveries", "state = 'delivered'")).toBe(1);
});

test("an old failure does not disable a webhook that is rarely used", async () => {
  const notified = await setupNotified();
  const { database } = notified;
  const receiver = await startReceiver();
  await notified.listen(receiver);
  await database.query(
    `update cell.webhooks set failing_since = now() - ${DAYS(20)}, failed_at = now() - ${DAYS(19)}`,
  );
  receiver.answer = (_, response) => response.writeHead(503).end();
  await notified.render(6);
  await expect
    .poll(() => database.count("cell.webhooks", "failing_since > now() - interval '1 hour'"))
    .toBe(1);
  expect(await database.count("cell.webhooks", "disabled_at is null")).toBe(1);
});

test("after five days of failures, a webhook is disabled", async () => {
  const notified = await setupNotified();
  const { database, manage } = notified;
  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  receiver.answer = (_, response) => response.writeHead(500).end("broken pipe");
  await notified.render(6);
  await expect.poll(() => database.count("cell.deliveries", "attempts = 1")).toBe(1);
  const list = async () =>
    (expectDone(await manage("GET", "webhooks"))["items"] as Record<string, unknown>[])[0];
  expect(await list()).toMatchObject({ enabled: true, failingSince: expect.any(String) });
  await database.query(`update cell.webhooks set failing_since = now() - ${DAYS(6)}`);
  await database.query("update cell.deliveries set due_at = now()");
  await expect.poll(list).toMatchObject({ enabled: false, disabledByFailures: true });
  expect(await database.query("select state, status, answer from cell.deliveries")).toEqual([
    { state: "pending", status: 500, answer: "broken pipe" },
  ]);
  receiver.answer = (_, response) => response.writeHead(200).end();
  expectDone(await manage("PATCH", `webhooks/${id}`, { body: { enabled: true } }));
  await database.query("update cell.deliveries set due_at = now()");
  await expect.poll(list).toMatchObject({ enabled: true, failingSince: null, disabledByFailures: false });
});

test("a delivery that fails for three days has failed for good, and can be sent again", async () => {
  const notified = await setupNotified();
  const { database, manage } = notified;
  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  receiver.answer = (_, response) => response.writeHead(410).end();
  await notified.render(6);
  await expect.poll(() => database.count("cell.deliveries", "attempts = 1")).toBe(1);
  await database.query(`update cell.deliveries set due_at = now(), retried_since = now() - ${DAYS(4)}`);
  await expect.poll(() => database.count("cell.deliveries", "state = 'failed' and attempts = 2")).toBe(1);
  receiver.answer = (_, response) => response.writeHead(200).end();
  const noticeId = receiver.received[0]?.id;
  expectDone(await manage("POST", `webhooks/${id}/deliveries/${noticeId}/retry`));
  await expect.poll(() => database.count("cell.deliveries", "state = 'delivered'")).toBe(1);
  expect(new Set(receiver.received.map((received) => received.id))).toEqual(new Set([noticeId]));
});

test("retries wait longer each time, up to six hours", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 20].map((attempts) => retryAfter(attempts, 0.5) / 1_000)).toEqual([
    5, 20, 80, 320, 1_280, 5_120, 20_480, 21_600,
  ]);
  expect([0, 1].map((random) => retryAfter(0, random))).toEqual([4_375, 5_625]);
});
