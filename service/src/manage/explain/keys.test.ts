import { expect, test } from "vitest";
import { post } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { reverseConsume } from "../credits/reverse-consume.ts";
import { eraseCustomer } from "../customers/erase-customer.ts";

type Story = Record<string, unknown> & {
  readonly uses: { code: string | null; isReplay: boolean; refused: { differs: string[] } | null }[];
};

async function storyOf({ manage }: Managed, key: string): Promise<Story> {
  const reply = await manage("GET", `keys/${encodeURIComponent(key)}`);
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply.body as Story;
}

async function logged({ database }: Managed, count: number): Promise<void> {
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(count);
}

const BODY = { customerId: "ada", feature: "image.render", idempotencyKey: "job/7+%20" };

test("a charge's key shows its exact response, its uses, and how a rejected reuse differed", async () => {
  const managed = await setupManage();
  const { consume, record } = managed;
  const key = BODY.idempotencyKey;
  const first = await consume({ ...BODY, metadata: { a: 1, b: [2] } });
  await consume({ ...BODY, metadata: { b: [2], a: 1.0 } });
  await consume({ ...BODY, quantity: 2, metadata: { a: 1, b: [2] } });
  await consume({ ...BODY, feature: "export" });
  await consume({ ...BODY, customerId: "bob", metadata: { a: 1, b: [3] } });
  await record({ customerId: "ada", event: "e", quantity: 1, idempotencyKey: key });
  await logged(managed, 6);
  const story = await storyOf(managed, key);
  expect(story).toMatchObject({
    state: "kept",
    endpoint: "consume",
    customerId: "ada",
    charge: {
      consumeId: first.body["consumeId"],
      credits: 10,
      balanceAfter: 90,
      metadata: { a: 1, b: [2] },
      reversedQuantity: 0,
    },
    denial: null,
    hold: null,
    event: null,
  });
  expect(JSON.stringify(story["answer"])).toBe(first.text);
  expect(story.uses.map(({ code, isReplay, refused }) => [code, isReplay, refused?.differs ?? null])).toEqual(
    [
      ["idempotency_key_reused", false, ["endpoint"]],
      ["idempotency_key_reused", false, ["customerId", "metadata"]],
      ["idempotency_key_reused", false, ["feature", "metadata"]],
      ["idempotency_key_reused", false, ["quantity"]],
      [null, true, null],
      [null, false, null],
    ],
  );
});

test("a key shows how much of its charge was reversed, and a denied request's key shows the denial ID", async () => {
  const managed = await setupManage();
  const { consume, cell, context, manage } = managed;
  const { consumeId } = (await consume({ ...BODY, quantity: 3 })).body;
  await reverseConsume(cell, context, { consumeId: String(consumeId), quantity: 2, note: null });
  expect(await storyOf(managed, BODY.idempotencyKey)).toMatchObject({
    charge: { quantity: 3, reversedQuantity: 2, reversedCredits: 20 },
  });
  const denied = await consume({ ...BODY, quantity: 300, idempotencyKey: "denied" });
  const story = await storyOf(managed, "denied");
  expect(JSON.stringify(story["answer"])).toBe(denied.text);
  const { denialId } = story["denial"] as { denialId: string };
  expect((await manage("GET", `denials/${denialId}`)).body).toMatchObject({ idempotencyKey: "denied" });
});

test("an event's key shows the event, and whether a reuse had a different timestamp or different metadata", async () => {
  const managed = await setupManage();
  const { record } = managed;
  const body = { customerId: "eve", event: "tokens", quantity: 5, idempotencyKey: "e-1" };
  const first = await record(body);
  await record({ ...body, timestamp: new Date(Date.now() - 60_000).toISOString() });
  await record({ ...body, metadata: { a: 1 } });
  await logged(managed, 3);
  const story = await storyOf(managed, "e-1");
  expect(story).toMatchObject({
    endpoint: "events",
    customerId: "eve",
    answer: first.body,
    event: { eventId: first.body["eventId"], event: "tokens", quantity: 5, metadata: null },
    charge: null,
  });
  expect(story.uses.map(({ refused }) => refused?.differs ?? null)).toEqual([
    ["metadata"],
    ["timestamp"],
    null,
  ]);
});

test("a key from the other environment shows only that it was used there, and an unused key is not found", async () => {
  const managed = await setupManage();
  const { consume, manage, here, service, project } = managed;
  await consume(BODY);
  const live = here.replace("/test", "/live");
  const url = `${live}/keys/${encodeURIComponent(BODY.idempotencyKey)}`;
  expect((await manage("GET", url)).body).toEqual({
    idempotencyKey: BODY.idempotencyKey,
    state: "other_environment",
    endpoint: null,
    recordedAt: null,
    customerId: null,
    customerName: null,
    answer: null,
    charge: null,
    charges: [],
    denial: null,
    hold: null,
    event: null,
    uses: [],
  });
  const event = { customerId: "ada", event: "e", quantity: 1, idempotencyKey: BODY.idempotencyKey };
  await post(`${service.url}/v1/events`, project.live.key.secret, event);
  await logged(managed, 2);
  expect((await manage("GET", url)).body["uses"]).toMatchObject([{ refused: { differs: ["environment"] } }]);
  expect((await manage("GET", "keys/never")).status).toBe(404);
});

test("a key whose denial is not stored can be reused, and the request log shows the key's uses", async () => {
  const managed = await setupManage();
  await managed.consume({ ...BODY, customerId: "stranger" });
  await logged(managed, 1);
  const story = await storyOf(managed, BODY.idempotencyKey);
  expect(story).toMatchObject({ state: "not_kept", answer: null });
  expect(story.uses).toMatchObject([{ reason: "customer_not_found", refused: null }]);
});

test("an erased customer's key shows amounts, but no ID or metadata", async () => {
  const managed = await setupManage();
  const { consume, cell, context } = managed;
  await consume({ ...BODY, metadata: { to: "ada" } });
  await consume({ ...BODY, metadata: { to: "bob" }, quantity: 2 });
  await logged(managed, 2);
  await eraseCustomer(cell, context, { customerId: brandAs<CustomerId>("ada") });
  const story = await storyOf(managed, BODY.idempotencyKey);
  expect(story).toMatchObject({
    customerId: null,
    answer: { customerId: null, creditsCharged: 10 },
    charge: { credits: 10, metadata: null },
  });
  expect(story.uses).toEqual([]);
  expect(JSON.stringify(story)).not.toContain('"ada"');
});

test("an expired key has the state `ended`, and is not found in the other environment", async () => {
  const managed = await setupManage({ IDEMPOTENCY_DAYS: "40" });
  const { database, consume, manage, here } = managed;
  const first = await consume({ ...BODY, idempotencyKey: "k" });
  const age = async (days: number): Promise<void> => {
    await database.query("alter table cell.keyed_requests disable trigger user");
    await database.query(
      "update cell.keyed_requests set recorded_at = recorded_at - make_interval(days => $1)",
      [days],
    );
    await database.query("alter table cell.keyed_requests enable trigger user");
  };
  await age(39);
  expect(await storyOf(managed, "k")).toMatchObject({ state: "kept" });
  const live = `${here.replace(/test$/, "live")}/keys/k`;
  expect((await manage("GET", live)).body).toMatchObject({ state: "other_environment" });
  await age(2);
  expect(await storyOf(managed, "k")).toMatchObject({
    state: "ended",
    charge: { consumeId: first.body["consumeId"] },
    answer: { consumeId: first.body["consumeId"] },
  });
  expect((await manage("GET", live)).status).toBe(404);
});
