import { expect, test } from "vitest";
import { setupCredits } from "../../service/test/credits.ts";
import { createTestProject, post, type Reply, type Setup, setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";
import { createAnotherKey } from "./replay.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };
const event = (idempotencyKey: string, change: object = {}) => ({ ...EVENT, idempotencyKey, ...change });

type Result = { accepted: boolean; eventId?: string; replayed?: boolean; error?: Record<string, unknown> };
const resultsOf = ({ body }: Reply): Result[] => body["results"] as Result[];

const send = ({ service, project }: Setup, events: readonly unknown[], secret = project.test.key.secret) =>
  post(`${service.url}/v1/events/batch`, secret, { events });

test("a batch can have 1 to 1,000 events", async () => {
  const parts = await setup();
  const many = (count: number) => Array.from({ length: count }, (_, i) => event(`key-${i}`));
  const changed = await changedTables(parts.database, async () => {
    for (const count of [0, 1_001])
      expect(await send(parts, many(count))).toMatchObject({
        status: 400,
        body: { code: "invalid_request" },
      });
  });
  expect(changed).toEqual([]);
  for (const count of [1, 1_000]) {
    const reply = await send(parts, many(count));
    expect(resultsOf(reply).map(({ accepted }) => accepted)).toEqual(many(count).map(() => true));
  }
  expect(await parts.database.count("cell.events")).toBe(1_000);
});

test("a batch can have at most 1 MiB", async () => {
  const parts = await setup();
  const url = `${parts.service.url}/v1/events/batch`;
  const body = JSON.stringify({ events: [event("key")] });
  const sized = (bytes: number) => post(url, parts.project.test.key.secret, body.padEnd(bytes));
  expect(await sized(1_048_577)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
  expect((await sized(1_048_576)).status).toBe(200);
});

test("each event in a batch needs an idempotency key", async () => {
  const parts = await setup();
  const changed = await changedTables(parts.database, async () => {
    const [result] = resultsOf(await send(parts, [EVENT]));
    expect(result).toMatchObject({
      accepted: false,
      error: { code: "invalid_request", errors: [{ field: "idempotencyKey", code: "required" }] },
    });
  });
  expect(changed).toEqual([]);
});

test("a batch returns one result for each event, in order, and a rejected event does not affect the others", async () => {
  const parts = await setup();
  const reply = await send(parts, [
    event("first"),
    event("second", { timestamp: "2020-01-01T00:00:00Z" }),
    event("third", { quantity: 0 }),
    event("fourth"),
  ]);
  expect(reply.status).toBe(200);
  expect(resultsOf(reply)).toEqual([
    { accepted: true, eventId: expect.stringMatching(/^evt_/), replayed: false },
    { accepted: false, error: expect.objectContaining({ code: "timestamp_out_of_range", status: 422 }) },
    { accepted: false, error: expect.objectContaining({ code: "invalid_request", status: 400 }) },
    { accepted: true, eventId: expect.stringMatching(/^evt_/), replayed: false },
  ]);
  const rows = await parts.database.query("select key from cell.keyed_requests order by key");
  expect(rows).toEqual([{ key: "first" }, { key: "fourth" }]);
});

test("a rejected event does not use up its key", async () => {
  const parts = await setup();
  await send(parts, [event("key", { timestamp: "2020-01-01T00:00:00Z" }), event("other", { quantity: 0 })]);
  const results = resultsOf(await send(parts, [event("key"), event("other")]));
  expect(results.map(({ replayed }) => replayed)).toEqual([false, false]);
});

test("the accepted events of a batch are stored before the response is sent", async () => {
  const parts = await setup();
  await send(parts, [event("first"), event("second")]);
  expect(await parts.database.count("cell.events")).toBe(2);
});

test("an event that is sent again is replayed, alone or in any batch, and stores nothing", async () => {
  const parts = await setup();
  const [first, second] = resultsOf(await send(parts, [event("first"), event("second")]));
  const secret = await createAnotherKey(parts, "events");
  const changed = await changedTables(parts.database, async () => {
    const again = resultsOf(await send(parts, [event("second"), event("first"), event("second")], secret));
    expect(again).toEqual([second, first, second].map((result) => ({ ...result, replayed: true })));
    const single = await parts.record(event("first"));
    expect(single.body["eventId"]).toBe(first?.eventId);
    expect(single.headers.get("idempotent-replayed")).toBe("true");
  });
  expect(changed).toEqual([]);
});

test("an event whose key was used for another payload, endpoint or environment gets a conflict", async () => {
  const parts = await setupCredits();
  const { service, project, assign, consume, database } = parts;
  await assign("customer_1");
  await consume({ customerId: "customer_1", feature: "image.render", idempotencyKey: "endpoint" });
  await post(`${service.url}/v1/events`, project.live.key.secret, event("environment"));
  await send(parts, [event("payload")]);
  const changed = await changedTables(database, async () => {
    const reply = await send(parts, [
      event("payload", { quantity: 4 }),
      event("endpoint"),
      event("environment"),
    ]);
    const errors = resultsOf(reply).map(({ error }) => [error?.["code"], error?.["conflict"]]);
    expect(errors).toEqual(
      ["payload", "endpoint", "environment"].map((conflict) => ["idempotency_key_reused", conflict]),
    );
  });
  expect(changed).toEqual([]);
});

test("another project can use the same idempotency keys in a batch", async () => {
  const parts = await setup();
  await send(parts, [event("key")]);
  const other = await createTestProject(parts.database, "Another product");
  const [result] = resultsOf(await send(parts, [event("key")], other.test.key.secret));
  expect(result).toMatchObject({ accepted: true, replayed: false });
  expect(await parts.database.count("cell.events")).toBe(2);
});

test("batches of events do not change balances", async () => {
  const parts = await setupCredits();
  await parts.assign("ada");
  const read = () => parts.check({ customerId: "ada", feature: "image.render" });
  const before = await read();
  await send(parts, [event("key", { customerId: "ada", event: "image.render", quantity: 1_000 })]);
  expect((await read()).text).toBe(before.text);
  expect(await parts.database.count("cell.ledger", "kind = 2")).toBe(0);
});
