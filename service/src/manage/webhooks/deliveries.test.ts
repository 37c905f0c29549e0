import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { expectDone, type Notified, setupNotified, startReceiver } from "../../../test/webhooks.ts";

type Item = { noticeId: string; state: string; data: Record<string, unknown> } & Record<string, unknown>;

async function list({ manage }: Pick<Notified, "manage">, id: string, query = ""): Promise<Item[]> {
  return expectDone(await manage("GET", `webhooks/${id}/deliveries${query}`))["items"] as Item[];
}

/** Charges 60 of 100 credits, so that the balance falls below 50. */
async function fallBelow50({ consume, manage }: Notified, customerId = "ada"): Promise<void> {
  await manage("POST", `customers/${customerId}/plan`, { body: { plan: "pro" } });
  const charge = {
    customerId,
    feature: "image.render",
    quantity: 6,
    idempotencyKey: `six-${customerId}`,
  };
  expect((await consume(charge)).body).toMatchObject({ allowed: true, balance: 40 });
}

/** Inserts notices about "ada", one second apart, beginning 10 days ago. */
async function insertNotices({ database, context }: Notified, count: number): Promise<void> {
  await database.query(
    `insert into cell.notices (environment_id, customer_number, type, sequence, details, effective_at, recorded_at)
     select $1, 1, 'plan.ended', 1, '{"plan": "pro"}', at, at
     from generate_series(1, $2) as n
     cross join lateral (select date_trunc('milliseconds', now()) - interval '10 days' + n * interval '1 second') as t (at)`,
    [context.environmentId, count],
  );
}

test("a test is delivered with the ID that the call returned, and listed with the answer", async () => {
  const notified = await setupNotified();
  const { manage, tokens } = notified;
  const receiver = await startReceiver();
  receiver.answer = (_, response) => response.writeHead(200).end("Thank you");
  const id = await notified.listen(receiver);
  const { noticeId } = expectDone(await manage("POST", `webhooks/${id}/test`, { token: tokens.operator }));
  await expect.poll(() => list(notified, id, "?state=delivered")).toHaveLength(1);
  expect(receiver.received).toMatchObject([{ id: noticeId, type: "webhook.test", data: {} }]);
  expect(receiver.forged).toEqual([]);
  expect(await list(notified, id)).toEqual([
    {
      noticeId,
      type: "webhook.test",
      customerId: null,
      customerName: null,
      data: {},
      effectiveAt: expect.any(String),
      recordedAt: expect.any(String),
      state: "delivered",
      attempts: 1,
      nextAttemptAt: null,
      lastAttemptAt: expect.any(String),
      status: 200,
      answer: "Thank you",
    },
  ]);
  expect((await manage("GET", "notices")).body["items"]).toEqual([]);
});

test("a delivery shows exactly what the webhook received, and only webhooks subscribed to its type receive it", async () => {
  const notified = await setupNotified();
  const [receiver, other] = [await startReceiver(), await startReceiver()];
  const id = await notified.listen(receiver);
  const otherId = await notified.listen(other, { types: ["plan.ended"] });
  await notified.manage("PUT", "customers/ada", { body: { name: "Ada Lovelace" } });
  await fallBelow50(notified);
  await expect.poll(() => receiver.received).toHaveLength(1);
  const [received] = receiver.received;
  const data = { customerId: "ada", sequence: 2, pool: "credits", threshold: 50, balance: 40 };
  expect(received).toMatchObject({ type: "balance.low", data });
  await expect.poll(() => list(notified, id, "?state=delivered")).toHaveLength(1);
  const [shown] = await list(notified, id);
  expect(shown).toMatchObject({
    noticeId: received?.id,
    customerId: "ada",
    customerName: "Ada Lovelace",
    status: 204,
    answer: "",
  });
  expect(shown?.data).toEqual(received?.data);
  expect(await list(notified, otherId)).toEqual([]);
  expect(other.received).toEqual([]);
});

test("a failed delivery shows its next attempt and the answer, and a retry delivers it immediately", async () => {
  const notified = await setupNotified();
  const { manage } = notified;
  const receiver = await startReceiver();
  receiver.answer = (_, response) => response.writeHead(500).end("Database is down");
  const id = await notified.listen(receiver);
  await fallBelow50(notified);
  const attempted = async (): Promise<unknown> =>
    (await list(notified, id, "?state=pending"))[0]?.["attempts"];
  await expect.poll(attempted).toBe(1);
  const [failed] = await list(notified, id);
  expect(failed).toMatchObject({ status: 500, answer: "Database is down" });
  expect(Date.parse(String(failed?.["nextAttemptAt"]))).toBeGreaterThan(
    Date.parse(String(failed?.["lastAttemptAt"])),
  );
  expect((await manage("GET", "webhooks")).body["items"]).toMatchObject([
    { failingSince: expect.any(String) },
  ]);
  receiver.answer = (_, response) => response.writeHead(204).end();
  const path = `webhooks/${id}/deliveries/${failed?.noticeId}/retry`;
  for (const _ of ["the failed delivery", "the delivered one"]) {
    const count = receiver.received.length;
    expect(expectDone(await manage("POST", path))).toEqual({ noticeId: failed?.noticeId });
    await expect.poll(() => receiver.received.length).toBe(count + 1);
    await expect.poll(() => list(notified, id, "?state=delivered")).toHaveLength(1);
  }
  expect(new Set(receiver.received.map((received) => received.id))).toEqual(new Set([failed?.noticeId]));
  expect((await manage("GET", "webhooks")).body["items"]).toMatchObject([{ failingSince: null }]);
});

test("only a delivery of the same webhook can be retried", async () => {
  const notified = await setupNotified();
  const { manage } = notified;
  const id = await notified.listen(await startReceiver());
  const otherId = await notified.listen(await startReceiver(), { types: ["plan.ended"] });
  await fallBelow50(notified);
  const [shown] = await list(notified, id);
  for (const path of [
    `webhooks/${otherId}/deliveries/${shown?.noticeId}/retry`,
    `webhooks/${id}/deliveries/ntc_01m7e9sv00000000000000000z/retry`,
    `webhooks/${id}/deliveries/nonsense/retry`,
    `webhooks/x/deliveries/${shown?.noticeId}/retry`,
  ])
    expect([path, (await manage("POST", path)).status]).toEqual([path, 404]);
});

test("a replay delivers notices from before the webhook was created, in the given range", async () => {
  const notified = await setupNotified();
  const { manage, database } = notified;
  const first = await notified.listen(await startReceiver());
  await fallBelow50(notified);
  const [lost] = await list(notified, first);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  await manage("DELETE", `webhooks/${first}`);

  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  const replay = (body: object) => manage("POST", `webhooks/${id}/replay`, { body });
  expect((await replay({ from, to: from })).body).toEqual({ replayed: 0, nextCursor: null });
  expect((await replay({ from })).body).toEqual({ replayed: 1, nextCursor: null });
  await expect.poll(() => receiver.received).toMatchObject([{ id: lost?.noticeId, data: lost?.data }]);
  await expect.poll(() => list(notified, id, "?state=delivered")).toHaveLength(1);
  expect((await replay({ from })).body).toMatchObject({ replayed: 1 });
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(await list(notified, id)).toHaveLength(1);
  const { items } = (await manage("GET", "audit?action=webhook.replayed")).body as { items: object[] };
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ before: null, after: { id, from, to: expect.any(String), replayed: 1 } });

  expect((await replay({ from, undeliveredOnly: true })).body).toMatchObject({ replayed: 0 });
  await database.query("update cell.deliveries set state = 'failed'");
  expect((await replay({ from, undeliveredOnly: true })).body).toMatchObject({ replayed: 1 });
  await manage("PATCH", `webhooks/${id}`, { body: { types: ["plan.ended"] } });
  expect((await replay({ from })).body).toMatchObject({ replayed: 0 });
});

test("a replay of many notices continues with a cursor, and ends although more notices are recorded meanwhile", async () => {
  const notified = await setupNotified();
  const { manage, database } = notified;
  const id = await notified.listen(await startReceiver());
  await manage("PATCH", `webhooks/${id}`, { body: { enabled: false } });
  await insertNotices(notified, 2_345);
  const body = { from: new Date(Date.now() - 20 * 86_400_000).toISOString() };
  const counts: unknown[] = [];
  for (let cursor: unknown; cursor !== null; ) {
    const more = cursor === undefined ? {} : { cursor };
    const replayed = expectDone(
      await manage("POST", `webhooks/${id}/replay`, { body: { ...body, ...more } }),
    );
    counts.push(replayed["replayed"]);
    cursor = replayed["nextCursor"];
    await database.query(
      "update cell.notices set recorded_at = date_trunc('milliseconds', now()) where number = 2345",
    );
  }
  expect(counts).toEqual([1_000, 1_000, 344]);
  expect(await database.count("cell.deliveries", `webhook_id = ${id}`)).toBe(2_344);
});

test("invalid ranges and cursors of a replay are rejected", async () => {
  const notified = await setupNotified();
  const id = await notified.listen(await startReceiver());
  const from = "2026-01-01T00:00:00Z";
  const replay = (body: object) => notified.manage("POST", `webhooks/${id}/replay`, { body });
  for (const body of [
    {},
    { from: "2026-01-01T00:00:00" },
    { from, to: "soon" },
    { from, cursor: "nonsense" },
    { from, cursor: Buffer.from("[1]").toString("base64url") },
  ])
    expect([body, (await replay(body)).status]).toEqual([body, 400]);
  const huge = Buffer.from(`[-5,1,${Number.MAX_SAFE_INTEGER}]`).toString("base64url");
  expect((await replay({ from, cursor: huge })).body).toEqual({ replayed: 0, nextCursor: null });
});

test("a list of one state with few matches returns short pages and reaches every match once", async () => {
  const notified = await setupNotified();
  const { manage, database } = notified;
  const id = await notified.listen(await startReceiver());
  await insertNotices(notified, 5_600);
  await database.query(
    `insert into cell.deliveries (webhook_id, notice, customer_number, state, due_at, retried_since)
     select $1, number, 1, case when number in (1, 2) then 'failed' else 'delivered' end, now(), now()
     from cell.notices`,
    [id],
  );
  const pages: number[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await manage("GET", `webhooks/${id}/deliveries?state=failed&limit=1${cursor}`);
    pages.push((body["items"] as unknown[]).length);
    if (body["nextCursor"] === null) break;
    cursor = `&cursor=${body["nextCursor"]}`;
  }
  expect(pages).toEqual([0, 1, 1]);
  const all = await manage("GET", `webhooks/${id}/deliveries?limit=200`);
  expect(all.body["items"]).toHaveLength(200);
  expect((await manage("GET", `webhooks/${id}/deliveries?state=lost`)).status).toBe(400);
});

test("deliveries to a disabled webhook wait until it is enabled", async () => {
  const notified = await setupNotified();
  const { manage } = notified;
  const receiver = await startReceiver();
  const id = await notified.listen(receiver);
  await manage("PATCH", `webhooks/${id}`, { body: { enabled: false } });
  await fallBelow50(notified);
  const { noticeId } = expectDone(await manage("POST", `webhooks/${id}/test`));
  expect(await list(notified, id)).toMatchObject([
    { noticeId, state: "pending", attempts: 0, lastAttemptAt: null },
  ]);
  await manage("PATCH", `webhooks/${id}`, { body: { enabled: true } });
  await expect.poll(() => receiver.received).toMatchObject([{ id: noticeId }]);
});

test("an erasure deletes the customer's notices and deliveries", async () => {
  const notified = await setupNotified();
  const id = await notified.listen(await startReceiver());
  await fallBelow50(notified);
  await fallBelow50(notified, "bob");
  expect(await list(notified, id)).toMatchObject([{ customerId: "bob" }, { customerId: "ada" }]);
  await notified.manage("DELETE", "customers/ada");
  expect((await list(notified, id)).map(({ customerId }) => customerId)).toEqual(["bob"]);
});

test("a viewer cannot send anything to a webhook", async () => {
  const { manage, tokens } = await setupManage();
  for (const path of ["test", "replay", "deliveries/ntc_01m7e9sv00000000000000000z/retry"]) {
    const reply = await manage("POST", `webhooks/1/${path}`, { token: tokens.viewer });
    expect([path, reply.body["code"]]).toEqual([path, "role_missing"]);
  }
});
