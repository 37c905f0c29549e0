import { expect, test } from "vitest";
import {
  connectTo,
  createDatabase,
  createTestProject,
  post,
  type Reply,
  setup,
  startTestService,
  type TestDatabase,
} from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { Wire } from "../../../test/wire.ts";

const EVENT = { customerId: "customer_1", event: "tokens", quantity: 1 };
const batchOf = (prefix: string, count: number) => ({
  events: times(count, (i) => ({ ...EVENT, idempotencyKey: `${prefix}-${i}` })),
});

type Result = { accepted: boolean; replayed?: boolean; error?: { code: string; status: number } };
const resultsOf = ({ body }: Reply): Result[] => body["results"] as Result[];

async function setupOnWire() {
  const database = await createDatabase();
  const project = await createTestProject(database);
  const wire = await Wire.open();
  const service = await startTestService(database, { DATABASE_URL: wire.urlOf(database) });
  const send = (body: unknown) => post(`${service.url}/v1/events/batch`, project.test.key.secret, body);
  return { database, wire, send };
}

test("if the response to a batch's commit is lost, its events are found and not marked as replayed", async () => {
  const { database, wire, send } = await setupOnWire();
  await send(batchOf("warm", 1));
  wire.loseNextCommitReply();
  const reply = await send(batchOf("lost", 700));
  expect(reply.status).toBe(200);
  expect(resultsOf(reply).filter(({ replayed }) => replayed === false)).toHaveLength(700);
  expect(await database.count("cell.events")).toBe(701);
});

test("an unknown outcome returns 503 for the whole batch, and resending the batch returns the results", async () => {
  const { database, wire, send } = await setupOnWire();
  await send(batchOf("warm", 1));
  wire.loseNextCommitReply({ thenRefusing: true });
  const reply = await send(batchOf("lost", 50));
  expect(reply).toMatchObject({ status: 503, body: { code: "outcome_unknown" } });
  expect(reply.headers.get("retry-after")).toBe("1");
  wire.mend();
  // Each lane reconnects independently, so the first request may still get 503.
  const countReplayed = async (): Promise<number> => {
    const again = await send(batchOf("lost", 50));
    return again.status === 200 ? resultsOf(again).filter(({ replayed }) => replayed === true).length : 0;
  };
  await expect.poll(countReplayed, { timeout: 5_000 }).toBe(50);
  expect(await database.count("cell.events")).toBe(51);
});

test("while the database is unreachable, a batch gets 503 within a second, and nothing is stored", async () => {
  const { database, wire, send } = await setupOnWire();
  await send(batchOf("warm", 1));
  wire.cut({ refusing: true });
  const startMs = performance.now();
  const reply = await send(batchOf("cut", 100));
  expect(reply).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(performance.now() - startMs).toBeLessThan(1_000);
  expect(await database.count("cell.events")).toBe(1);
});

test("an event that the database rejects fails alone, even if the batch also contains an invalid event", async () => {
  const { database, service, project } = await setup();
  await database.query("alter table cell.events add constraint no_poison check (event <> 'poison')");
  const { events } = batchOf("key", 40);
  const changed = events.map((event, i) => (i === 17 ? { ...event, event: "poison" } : event));
  const reply = await post(`${service.url}/v1/events/batch`, project.test.key.secret, {
    events: [...changed, { ...EVENT, quantity: 0, idempotencyKey: "bad" }],
  });
  expect(reply.status).toBe(200);
  const codes = resultsOf(reply).map(({ error }) => error?.code ?? null);
  const expected: (string | null)[] = times(41, () => null);
  expected[17] = "internal_error";
  expected[40] = "invalid_request";
  expect(codes).toEqual(expected);
  expect(await database.count("cell.events")).toBe(39);
  const alone = await post(`${service.url}/v1/events/batch`, project.test.key.secret, {
    events: [changed[17]],
  });
  expect(alone).toMatchObject({ status: 500, body: { code: "internal_error" } });
});

test("while 10,000 events wait, another batch is rejected as a whole, and single events still succeed", async () => {
  const { database, service, project, record } = await setup();
  const send = (body: unknown) => post(`${service.url}/v1/events/batch`, project.test.key.secret, body);
  const countWaiting = async (): Promise<number> => {
    const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
    return Number(/^purser_bulk_queue_events (\d+)/m.exec(text)?.[1]);
  };
  await send(batchOf("held", 1));
  const holder = await connectTo(database);
  await holder.query("begin; select from cell.keyed_requests for update");
  // One event for each of the two lanes, which then wait for the lock.
  const waiting = times(2, () => send(batchOf("held", 1)));
  await expect.poll(() => countLockWaits(database), { interval: 10 }).toBe(2);
  waiting.push(...times(10, (i) => send(batchOf(`full-${i}`, 1_000))));
  await expect.poll(countWaiting, { interval: 10 }).toBe(10_000);
  const [refused, single] = await Promise.all([send(batchOf("late", 5)), record(EVENT)]);
  expect(refused).toMatchObject({ status: 503, body: { code: "overloaded" } });
  expect(single.status).toBe(200);
  await holder.query("rollback");
  await Promise.all(waiting);
  expect(await database.count("cell.keyed_requests", "key like 'late-%'")).toBe(0);
});

function countLockWaits(database: TestDatabase): Promise<number> {
  return database.count("pg_stat_activity", "wait_event_type = 'Lock' and datname = current_database()");
}

/** A service whose workspace allows this many requests per second. */
async function setupWithRate(rate: number) {
  const database = await createDatabase();
  const project = await createTestProject(database);
  await database.query("update control.workspace_plans set requests_per_second_max = $1", [rate]);
  const service = await startTestService(database);
  const send = (path: string, body: unknown) =>
    post(`${service.url}/v1/${path}`, project.test.key.secret, body);
  return { database, send };
}

test("each event of a batch takes a token, and the next request waits until the deficit is refilled", async () => {
  const { database, send } = await setupWithRate(100);
  const first = await send("events/batch", batchOf("first", 10));
  expect(first.headers.get("ratelimit")).toBe('"key-per-process";r=90;t=1');
  // Admitted, because the bucket is not in deficit yet. Its deficit is then about 210 tokens.
  const large = await send("events/batch", batchOf("large", 300));
  expect(large.status).toBe(200);
  expect(large.headers.get("ratelimit")).toBe('"key-per-process";r=0;t=3');
  for (const path of ["events/batch", "events"]) {
    const refused = await send(path, path === "events" ? EVENT : batchOf("refused", 1));
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1);
  }
  expect(await database.count("cell.events")).toBe(310);
});

test("only one of several concurrent batches puts the bucket into deficit", async () => {
  const { database, send } = await setupWithRate(50);
  const replies = await Promise.all(times(8, (i) => send("events/batch", batchOf(`batch-${i}`, 900))));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(7);
  expect(await database.count("cell.events")).toBe(900);
});

test("after the upgrade is finished, the request log has one entry for each batch, with its counts", async () => {
  const { database, service, project } = await setup();
  const send = (body: unknown) => post(`${service.url}/v1/events/batch`, project.test.key.secret, body);
  await database.query("update cell.identity set data_format = 1");
  await send(batchOf("early", 1));
  await post(`${service.url}/v1/events`, project.test.key.secret, EVENT);
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(1);
  await database.query("update cell.identity set data_format = 2");
  const { events } = batchOf("early", 5);
  await send({ events: [...events, { ...EVENT, quantity: 0 }] });
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(2);
  const rows = await database.query(
    "select endpoint, status, code, reason, is_replay, customer_number, subject, key_hash, counts from cell.request_log order by id",
  );
  expect(rows[0]).toMatchObject({ endpoint: "events", counts: null });
  const nothing = { code: null, reason: null, customer_number: null, subject: null, key_hash: null };
  const counts = { accepted: 4, replayed: 1, rejected: 1 };
  expect(rows[1]).toEqual({ endpoint: "events/batch", status: 200, is_replay: false, ...nothing, counts });
  expect(
    await database.query("select endpoint, outcome, requests from cell.request_counts order by 1"),
  ).toEqual([
    { endpoint: "events", outcome: "ok", requests: "1" },
    { endpoint: "events/batch", outcome: "ok", requests: "1" },
  ]);
});
