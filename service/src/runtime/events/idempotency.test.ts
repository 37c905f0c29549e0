import { expect, test } from "vitest";
import { createTestProject, post, setup, startTestService } from "../../../test/harness.ts";
import { openTestPool } from "../../../test/seed.ts";
import { createApiKey } from "../../manage/keys/create-api-key.ts";
import { transaction } from "../../postgres/transaction.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3, idempotencyKey: "key-1" };

test("the same key and request replay the response byte for byte, even if the same values are written differently", async () => {
  const { database, record } = await setup();
  const at = new Date(Date.now() - 60_000);
  const timestamp = at.toISOString();
  const first = await record({ ...EVENT, timestamp });
  expect(first.headers.get("idempotent-replayed")).toBeNull();

  const local = new Date(at.getTime() + 2 * 3_600_000).toISOString().replace("Z", "000000+02:00");
  const spellings = [
    { ...EVENT, timestamp },
    { idempotencyKey: "key-1", timestamp, quantity: 3, event: "tokens.generated", customerId: "customer_1" },
    { ...EVENT, timestamp, metadata: {} },
    { ...EVENT, timestamp: local },
    JSON.stringify({ ...EVENT, timestamp }).replace(":3,", ":3.0,"),
  ];
  for (const body of spellings) {
    const again = await record(body);
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  }
  expect(await database.count("cell.events")).toBe(1);
});

test("a request whose metadata keys are in another order is the same request", async () => {
  const { record } = await setup();
  const first = await record({ ...EVENT, metadata: { a: 1, b: { c: 2, d: 3 } } });
  const again = await record({ ...EVENT, metadata: { b: { d: 3, c: 2 }, a: 1 } });
  expect(again.text).toBe(first.text);
});

test("an accepted event can be replayed after its timestamp has become too old", async () => {
  const { record } = await setup();
  const timestamp = new Date(Date.now() - 35 * 24 * 3_600_000 + 2_000).toISOString();
  const first = await record({ ...EVENT, timestamp });
  expect(first.status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await record({ ...EVENT, timestamp, idempotencyKey: "key-2" })).status).toBe(422);
  const late = await record({ ...EVENT, timestamp });
  expect(late.status).toBe(200);
  expect(late.text).toBe(first.text);
});

test("another API key of the project gets the replay too, so a key rotation does not break a retry", async () => {
  const { database, record, service, project } = await setup();
  const first = await record(EVENT);
  const pool = openTestPool(database.url);
  const second = await transaction(pool, (tx) =>
    createApiKey(tx, {
      projectId: project.projectId,
      environmentId: project.test.environmentId,
      kind: "test",
      name: "Second",
      scopes: ["events"],
      createdBy: { kind: "system", id: null },
    }),
  );
  await pool.end();
  const again = await post(`${service.url}/v1/events`, second.secret, EVENT);
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("32 concurrent copies of a request, through one process or two, store one event", async () => {
  const { database, service, project } = await setup();
  const other = await startTestService(database);
  for (let round = 0; round < 20; round++) {
    const urls = round % 2 === 0 ? [service.url] : [service.url, other.url];
    const copies = Array.from({ length: 32 }, (_, i) =>
      post(`${urls[i % urls.length]}/v1/events`, project.test.key.secret, {
        ...EVENT,
        idempotencyKey: `round-${round}`,
      }),
    );
    const replies = await Promise.all(copies);
    expect(replies.map((reply) => reply.status)).toEqual(Array(32).fill(200));
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers.get("idempotent-replayed") === null)).toHaveLength(1);
  }
  expect(await database.count("cell.events")).toBe(20);
  expect(await database.count("cell.keyed_requests")).toBe(20);
});

test("another project can use the same idempotency key", async () => {
  const { database, record, service } = await setup();
  const stranger = await createTestProject(database, "Another product");
  const first = await record(EVENT);
  const theirs = await post(`${service.url}/v1/events`, stranger.test.key.secret, EVENT);
  expect(theirs.status).toBe(200);
  expect(theirs.text).not.toBe(first.text);
});
