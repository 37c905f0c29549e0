import { expect, test } from "vitest";
import {
  connectTo,
  createDatabase,
  createTestProject,
  post,
  setup,
  startTestService,
} from "../../../test/harness.ts";
import { Wire } from "../../../test/wire.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 1 };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function setupOnWire() {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const wire = await Wire.open();
  const service = await startTestService(database, { DATABASE_URL: wire.urlOf(database), LANES: "1" });
  const record = (body: unknown) => post(`${service.url}/v1/events`, project.test.key.secret, body);
  return { database, wire, record };
}

test("if the response to a commit is lost, the event is found and counted once, with or without a key", async () => {
  const { database, wire, record } = await setupOnWire();
  await record(EVENT);
  for (let round = 0; round < 5; round++) {
    wire.loseNextCommitReply();
    const replies = await Promise.all([
      record(EVENT),
      record({ ...EVENT, idempotencyKey: `key-${round}` }),
      record(EVENT),
    ]);
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expect(reply.headers.get("idempotent-replayed")).toBeNull();
    }
  }
  expect(await database.count("cell.events")).toBe(16);
  expect(await database.count("cell.keyed_requests")).toBe(5);
});

test("if a lost commit is not found in time, the outcome is reported as unknown, and a retry with the key returns it", async () => {
  const { database, wire, record } = await setupOnWire();
  await record(EVENT);
  wire.loseNextCommitReply({ thenRefusing: true });
  const reply = await record({ ...EVENT, idempotencyKey: "lost" });
  expect(reply.status).toBe(503);
  expect(reply.body).toMatchObject({ code: "outcome_unknown" });
  wire.mend();
  const repeat = () => record({ ...EVENT, idempotencyKey: "lost" });
  await expect.poll(async () => (await repeat()).status).toBe(200);
  const again = await repeat();
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await database.count("cell.events")).toBe(2);
});

test("during a database outage, every call gets 503 with Retry-After within a second, and calls succeed afterward", async () => {
  const { database, wire, record } = await setupOnWire();
  await record(EVENT);
  wire.cut({ refusing: true });
  const startedAt = performance.now();
  for (let round = 0; round < 3; round++) {
    const calls = Array.from({ length: 20 }, async () => {
      const calledAt = performance.now();
      const reply = await record(EVENT);
      expect(performance.now() - calledAt).toBeLessThan(1_000);
      expect(reply.status).toBe(503);
      expect(reply.headers.get("retry-after")).toBe("1");
      expect(["unavailable", "outcome_unknown"]).toContain(reply.body["code"]);
    });
    await Promise.all(calls);
  }
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  wire.mend();
  await pause(500);
  expect((await record(EVENT)).status).toBe(200);
  expect(await database.count("cell.events")).toBe(2);
});

test("a terminated database session is replaced without an error for the caller", async () => {
  const { database, record } = await setup({ LANES: "1" });
  await record(EVENT);
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'purser/% lane' and datname = current_database()",
  );
  expect((await record(EVENT)).status).toBe(200);
});

test("a row that PostgreSQL rejects is isolated by halving the batch, and the other rows are stored", async () => {
  const { database, record } = await setup({ LANES: "1" });
  await database.query("alter table cell.events add constraint no_poison check (event <> 'poison')");
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      record({ ...EVENT, event: i === 17 ? "poison" : "good", quantity: i + 1 }),
    ),
  );
  expect(replies.map((reply) => reply.status)).toEqual(replies.map((_, i) => (i === 17 ? 500 : 200)));
  expect(replies[17]?.body).toMatchObject({ code: "internal_error" });
  expect(await database.count("cell.events")).toBe(39);
});

test("a deleted customer is created again", async () => {
  const { database, record } = await setup({ LANES: "1" });
  await record(EVENT);
  await database.query("delete from cell.customers");
  expect((await record(EVENT)).status).toBe(200);
  expect(await database.count("cell.customers")).toBe(1);
});

test("while a table is locked, requests get 503 and store nothing; later requests succeed", async () => {
  const { database, record } = await setup({ LANES: "1" });
  await record(EVENT);
  const blocker = await connectTo(database);
  await blocker.query("begin");
  await blocker.query("lock table cell.events in exclusive mode");
  const first = record(EVENT);
  await pause(100);
  const queued = Array.from({ length: 30 }, () => record(EVENT));
  const replies = await Promise.all([first, ...queued]);
  await blocker.query("commit");
  for (const reply of replies) expect(reply.body).toMatchObject({ status: 503, code: "overloaded" });
  expect((await record(EVENT)).status).toBe(200);
  expect(await database.count("cell.events")).toBe(2);
});

test("a stored response in a newer release's format returns 503", async () => {
  const { database, record } = await setup();
  await record({ ...EVENT, idempotencyKey: "key-1" });
  await database.query("alter table cell.keyed_requests disable trigger all");
  await database.query("update cell.keyed_requests set answer_format = 99");
  const again = await record({ ...EVENT, idempotencyKey: "key-1" });
  expect(again.status).toBe(503);
  expect(again.body).toMatchObject({ code: "unavailable" });
});
