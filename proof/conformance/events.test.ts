import { expect, test } from "vitest";
import { createTestProject, post, setup, startTestService } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";
import { conflictOf, createAnotherKey, expectReplay } from "./replay.ts";

const AT = Math.floor(Date.now() / 1000) * 1000;
const EVENT = {
  customerId: "customer_1",
  event: "tokens.generated",
  quantity: 3,
  metadata: { model: "small", region: { name: "north", zone: 2 } },
  timestamp: new Date(AT).toISOString(),
  idempotencyKey: "key-1",
};

test("Content-Type application/json is accepted, with or without a charset", async () => {
  const { record } = await setup();
  expect((await record(EVENT, { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
});

test.each(["text/plain", "application/x-www-form-urlencoded", "application/json5"])(
  "a body of type %s gets 415, and nothing is stored",
  async (type) => {
    const { database, record } = await setup();
    const changed = await changedTables(database, async () => {
      const reply = await record(EVENT, { "content-type": type });
      expect(reply).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    });
    expect(changed).toEqual([]);
  },
);

test("an event is stored before its response is sent", async () => {
  const { database, record } = await setup();
  expect((await record(EVENT)).status).toBe(200);
  expect(await database.count("cell.events")).toBe(1);
});

test("a retry gets the original response byte for byte, is marked as replayed, and stores nothing", async () => {
  const { database, record } = await setup();
  const original = await record(EVENT);
  expect(original.headers.get("idempotent-replayed")).toBeNull();
  expect(await changedTables(database, () => expectReplay(record(EVENT), original))).toEqual([]);
});

test("another process and another API key for the project return the original response too", async () => {
  const { database, project, record } = await setup();
  const original = await record(EVENT);
  const secret = await createAnotherKey({ database, project }, "events");
  const second = await startTestService(database);
  await expectReplay(post(`${second.url}/v1/events`, secret, EVENT), original);
});

test("equivalent JSON is the same payload", async () => {
  const { database, record } = await setup();
  const original = await record(EVENT);
  const inTwoHours = new Date(AT + 2 * 3_600_000).toISOString().slice(0, 19);
  const spellings = [
    Object.fromEntries(Object.entries(EVENT).reverse()),
    { ...EVENT, metadata: { region: { zone: 2, name: "north" }, model: "small" } },
    { ...EVENT, timestamp: `${inTwoHours}+02:00` },
    { ...EVENT, timestamp: EVENT.timestamp.replace(".000", "") },
    JSON.stringify(EVENT, null, 2).replace('"quantity": 3', '"quantity": 3.0'),
    JSON.stringify(EVENT).replace("tokens", "\\u0074okens"),
  ];
  for (const body of spellings) await expectReplay(record(body), original);
  expect(await database.count("cell.events")).toBe(1);
});

test("empty metadata is the same as no metadata, in both directions", async () => {
  const { record } = await setup();
  const { metadata: _, ...bare } = EVENT;
  const first = await record(bare);
  await expectReplay(record({ ...bare, metadata: {} }), first);
  const second = await record({ ...bare, idempotencyKey: "key-2", metadata: {} });
  await expectReplay(record({ ...bare, idempotencyKey: "key-2" }), second);
});

test("40 concurrent copies through two processes store one event and get the same response", async () => {
  const { database, service, project } = await setup();
  const second = await startTestService(database);
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      post(`${i % 2 === 0 ? service.url : second.url}/v1/events`, project.test.key.secret, EVENT),
    ),
  );
  expect(new Set(replies.map((reply) => `${reply.status} ${reply.text}`)).size).toBe(1);
  expect(replies[0]?.status).toBe(200);
  expect(replies.filter((reply) => !reply.headers.has("idempotent-replayed"))).toHaveLength(1);
  expect(await database.count("cell.events")).toBe(1);
});

test("a rejected request does not use up its key", async () => {
  const { record } = await setup();
  expect((await record({ ...EVENT, quantity: 0 })).status).toBe(400);
  expect((await record({ ...EVENT, timestamp: "2020-01-01T00:00:00Z" })).status).toBe(422);
  const reply = await record(EVENT);
  expect(reply.status).toBe(200);
  expect(reply.headers.has("idempotent-replayed")).toBe(false);
});

test.each([
  ["customerId", { customerId: "customer_2" }],
  ["event", { event: "tokens.read" }],
  ["quantity", { quantity: 4 }],
  ["metadata", { metadata: { model: "large" } }],
  ["metadata, now absent", { metadata: undefined }],
  ["timestamp, by a millisecond", { timestamp: new Date(AT + 1).toISOString() }],
  ["timestamp, now absent", { timestamp: undefined }],
])(
  "a key reused with a different payload (%s) gets 409 idempotency_key_reused, and nothing is stored",
  async (_name, change) => {
    const { database, record } = await setup();
    await record(EVENT);
    const changed = await changedTables(database, async () => {
      expect(await record({ ...EVENT, ...change })).toMatchObject(conflictOf("payload"));
    });
    expect(changed).toEqual([]);
  },
);

test("a key reused in the other environment gets 409, and nothing is stored there", async () => {
  const { database, service, project, record } = await setup();
  await record(EVENT);
  const changed = await changedTables(database, async () => {
    const reply = await post(`${service.url}/v1/events`, project.live.key.secret, EVENT);
    expect(reply).toMatchObject(conflictOf("environment"));
  });
  expect(changed).toEqual([]);
});

test("an idempotency key used on consume gets 409 on events, even if everything else is the same", async () => {
  const { database, record } = await setup();
  await record(EVENT);
  // A copy of the event's row with another key and endpoint 2, which is consume.
  await database.query(`
    insert into cell.keyed_requests
      (project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key)
    select project_id, encode(substring(sha256('consumed') for 16), 'hex')::uuid, environment_id, recorded_at, fingerprint,
      subject_id, 2, answer_format, 'consumed'
    from cell.keyed_requests`);
  const changed = await changedTables(database, async () => {
    expect(await record({ ...EVENT, idempotencyKey: "consumed" })).toMatchObject(conflictOf("endpoint"));
  });
  expect(changed).toEqual([]);
});

test("a 409 reveals nothing about the original response, and the original request still replays", async () => {
  const { record } = await setup();
  const original = await record(EVENT);
  const conflict = await record({ ...EVENT, quantity: 4 });
  expect(conflict.text).not.toContain(String(original.body["eventId"]));
  expect(conflict.headers.has("idempotent-replayed")).toBe(false);
  await expectReplay(record(EVENT), original);
});

test("if 20 concurrent requests reuse a key with different payloads, one is accepted and 19 get 409", async () => {
  const { database, record } = await setup();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => record({ ...EVENT, customerId: `customer_${i}` })),
  );
  expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(19).fill(409)]);
  expect(await database.count("cell.events")).toBe(1);
  expect(await database.count("cell.customers")).toBe(1);
});

test("keys are scoped to the project: another project can use the same key", async () => {
  const { database, service, record } = await setup();
  const other = await createTestProject(database, "Another product");
  const original = await record(EVENT);
  const reply = await post(`${service.url}/v1/events`, other.test.key.secret, { ...EVENT, quantity: 4 });
  expect(reply.status).toBe(200);
  expect(reply.headers.has("idempotent-replayed")).toBe(false);
  expect(reply.body["eventId"]).not.toBe(original.body["eventId"]);
});

test("without a key, every accepted request is a new event", async () => {
  const { database, record } = await setup();
  const { idempotencyKey: _, ...unkeyed } = EVENT;
  const replies = [await record(unkeyed), ...(await Promise.all([record(unkeyed), record(unkeyed)]))];
  expect(new Set(replies.map((reply) => reply.body["eventId"])).size).toBe(3);
  expect(replies.some((reply) => reply.headers.has("idempotent-replayed"))).toBe(false);
  expect(await database.count("cell.events")).toBe(3);
});

test("the Idempotency-Key header is ignored", async () => {
  const { database, record } = await setup();
  const { idempotencyKey: _, ...unkeyed } = EVENT;
  await record(unkeyed, { "idempotency-key": "key-1" });
  await record(unkeyed, { "idempotency-key": "key-1" });
  expect(await database.count("cell.events")).toBe(2);
  expect(await database.count("cell.keyed_requests")).toBe(0);
});
