import { expect, test } from "vitest";
import { setupCredits } from "../../../test/credits.ts";
import { connectTo, post, type Reply, type Setup, setup, startTestService } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";

type Result = { accepted: boolean; eventId?: string; replayed?: boolean; error?: Record<string, unknown> };

const EVENT = { customerId: "customer_1", event: "tokens", quantity: 1 };
const event = (idempotencyKey: string, change: object = {}) => ({ ...EVENT, idempotencyKey, ...change });
const stored = (replayed: boolean) => ({
  accepted: true,
  eventId: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
  replayed,
});
const rejected = (code: string, more: object = {}) => ({
  accepted: false,
  error: expect.objectContaining({ code, ...more }),
});

function sendTo({ service, project }: Setup, body: unknown): Promise<Reply> {
  return post(`${service.url}/v1/events/batch`, project.test.key.secret, body);
}

const resultsOf = ({ body }: Reply): Result[] => body["results"] as Result[];
const idsOf = (reply: Reply) => resultsOf(reply).map(({ eventId }) => eventId);

test("each event in a batch gets its own result, in order, and an invalid event does not affect the others", async () => {
  const parts = await setup();
  const old = new Date(Date.now() - 36 * 86_400_000).toISOString();
  const reply = await sendTo(parts, {
    events: [
      event("a"),
      EVENT,
      event("b", { quantity: 0 }),
      event("c", { timestamp: old }),
      event("d", { metadata: { text: "x".repeat(9_000) } }),
      event("e", { customerId: "a\0b" }),
      17,
      event("f", { unknown: 1 }),
      event("g", { customerId: "customer_2", memberId: "user_7", metadata: { model: "small" } }),
    ],
  });
  expect(reply.status).toBe(200);
  expect(resultsOf(reply)).toEqual([
    stored(false),
    rejected("invalid_request", {
      status: 400,
      errors: [{ field: "idempotencyKey", code: "required", message: expect.any(String) }],
    }),
    rejected("invalid_request", {
      errors: [{ field: "quantity", code: "too_small", message: expect.any(String) }],
    }),
    rejected("timestamp_out_of_range", { status: 422 }),
    rejected("metadata_limit_exceeded", { limit: "bytes", max: 8_192 }),
    rejected("invalid_request", {
      errors: [{ field: "customerId", code: "wrong_form", message: expect.any(String) }],
    }),
    rejected("invalid_request", { detail: "The body must be an object." }),
    rejected("invalid_request", {
      errors: [{ field: "unknown", code: "unknown_field", message: expect.any(String) }],
    }),
    stored(false),
  ]);
  expect(await parts.database.count("cell.events")).toBe(2);
  expect(await parts.database.count("cell.keyed_requests")).toBe(2);
  expect(await parts.database.count("cell.customers")).toBe(2);
  const [row] = await parts.database.query(
    "select request_id, member_id, metadata from cell.events where member_id is not null",
  );
  expect(row).toEqual({
    request_id: reply.headers.get("x-request-id"),
    member_id: "user_7",
    metadata: { model: "small" },
  });
});

test("a rejected event has the error that a single event would have returned", async () => {
  const parts = await setup();
  for (const bad of [event("a", { quantity: "1" }), event("b", { timestamp: "2020-01-01T00:00:00Z" }), []]) {
    const headers = { "x-request-id": "same-request" };
    const single = await parts.record(bad, headers);
    const batch = await post(
      `${parts.service.url}/v1/events/batch`,
      parts.project.test.key.secret,
      { events: [bad] },
      headers,
    );
    expect(batch.status).toBe(200);
    const undated = (text: string) => text.replaceAll(/between .* and [^.]*\.\d+Z/g, "");
    expect(undated(batch.text)).toBe(undated(`{"results":[{"accepted":false,"error":${single.text}}]}`));
  }
});

test("batches and single events share their idempotency keys, and an event is replayed even if other events are new", async () => {
  const parts = await setup();
  const single = await parts.record(event("single"));
  const first = await sendTo(parts, { events: [event("single"), event("batch")] });
  expect(resultsOf(first)).toEqual([
    { accepted: true, eventId: single.body["eventId"], replayed: true },
    stored(false),
  ]);
  const again = await parts.record(event("batch"));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.body["eventId"]).toBe(idsOf(first)[1]);
  const both = await sendTo(parts, { events: [event("new"), event("batch"), event("single")] });
  expect(resultsOf(both).map(({ replayed }) => replayed)).toEqual([false, true, true]);
  expect(idsOf(both).slice(1)).toEqual(idsOf(first).reverse());
  expect(await parts.database.count("cell.events")).toBe(3);
});

test("a key already used for a different request rejects only its own event", async () => {
  const parts = await setupCredits();
  const { service, project, assign, consume } = parts;
  await parts.record(event("payload"));
  await post(`${service.url}/v1/events`, project.live.key.secret, event("environment"));
  await assign("customer_1");
  await consume({ customerId: "customer_1", feature: "image.render", idempotencyKey: "endpoint" });
  const reply = await sendTo(parts, {
    events: [event("payload", { quantity: 2 }), event("environment"), event("endpoint"), event("free")],
  });
  expect(resultsOf(reply)).toEqual([
    rejected("idempotency_key_reused", { status: 409, conflict: "payload" }),
    rejected("idempotency_key_reused", { conflict: "environment" }),
    rejected("idempotency_key_reused", { conflict: "endpoint" }),
    stored(false),
  ]);
  expect(await parts.database.count("cell.events")).toBe(3);
});

test("two equal events with the same key in a batch are stored once, and a different event with that key is a conflict", async () => {
  const parts = await setup();
  const reply = await sendTo(parts, {
    events: [event("a"), event("a"), event("a", { quantity: 2 }), event("b")],
  });
  expect(resultsOf(reply)).toEqual([
    stored(false),
    stored(true),
    rejected("idempotency_key_reused", { conflict: "payload" }),
    stored(false),
  ]);
  expect(idsOf(reply)[1]).toBe(idsOf(reply)[0]);
  expect(await parts.database.count("cell.events")).toBe(2);
});

test("1,000 events are stored in a few transactions, and resending the batch replays them in order", async () => {
  const parts = await setup();
  const { database } = parts;
  const events = times(1_000, (i) => event(`key-${i}`, { customerId: `customer_${i % 7}`, quantity: i + 1 }));
  // The last event repeats the first, in another transaction of the batch.
  events[999] = event("key-0", { customerId: "customer_0" });
  const reply = await sendTo(parts, { events });
  expect(reply.status).toBe(200);
  const rows = await database.query(
    "select quantity, xmin::text as transaction from cell.events order by quantity",
  );
  expect(rows.map(({ quantity }) => quantity)).toEqual(times(999, (i) => i + 1));
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThanOrEqual(4);
  expect(resultsOf(reply).map(({ replayed }) => replayed)).toEqual([...times(999, () => false), true]);
  expect(idsOf(reply)[999]).toBe(idsOf(reply)[0]);
  const again = await sendTo(parts, { events });
  expect(resultsOf(again)).toEqual(resultsOf(reply).map((result) => ({ ...result, replayed: true })));
  expect(await database.count("cell.events")).toBe(999);
  expect(await database.count("cell.customers")).toBe(7);
});

test("an empty batch, 1,001 events, an unknown field or a missing list get 400, and nothing is stored", async () => {
  const parts = await setup();
  const bodies: [unknown, string, string][] = [
    [{ events: [] }, "events", "too_short"],
    [{ events: times(1_001, (i) => event(`key-${i}`)) }, "events", "too_long"],
    [{ events: event("a") }, "events", "wrong_type"],
    [{}, "events", "required"],
    [{ events: [event("a")], atomic: true }, "atomic", "unknown_field"],
    [[event("a")], "", "wrong_type"],
  ];
  for (const [body, field, code] of bodies) {
    const reply = await sendTo(parts, body);
    expect([reply.status, reply.body["code"]]).toEqual([400, "invalid_request"]);
    expect(reply.body["errors"]).toEqual([{ field, code, message: expect.any(String) }]);
  }
  expect(await sendTo(parts, '{"events":[')).toMatchObject({ status: 400, body: { code: "invalid_json" } });
  expect(await parts.database.count("cell.events")).toBe(0);
});

test("a batch can be up to 1 MiB, and any other runtime request up to 64 KiB", async () => {
  const parts = await setup();
  const { service, project } = parts;
  const largest = JSON.stringify({ events: [event("a")] });
  const padded = (bytes: number) => largest + " ".repeat(bytes - largest.length);
  expect((await sendTo(parts, padded(1_048_576))).status).toBe(200);
  const reply = await sendTo(parts, padded(1_048_577));
  expect(reply).toMatchObject({
    status: 413,
    body: { code: "body_too_large", detail: "A body may have at most 1048576 bytes." },
  });
  const openapi = (await (await fetch(`${service.url}/openapi/runtime.json`)).json()) as {
    paths: Record<string, object>;
  };
  const others = Object.entries(openapi.paths)
    // The key may not reverse charges, which is checked before the body is read.
    .filter(([path, methods]) => "post" in methods && !/batch$|reverse$/.test(path))
    .map(([path]) => path.replace("{holdId}", "hld_none"));
  expect(others).toContain("/v1/events");
  for (const path of others) {
    const other = await post(`${service.url}${path}`, project.test.key.secret, padded(65_537));
    expect([path, other.status]).toEqual([path, 413]);
  }
});

test("the same batch sent to two processes concurrently stores each event once, and both get the same IDs", async () => {
  const parts = await setup();
  const { service, project, database } = parts;
  const second = await startTestService(database);
  const events = times(400, (i) => event(`key-${i}`, { customerId: `customer_${i}` }));
  const urls = [service.url, second.url, service.url, second.url];
  const replies = await Promise.all([
    ...urls.map((url) => post(`${url}/v1/events/batch`, project.test.key.secret, { events })),
    // Single events through the other lane at the same time.
    ...events.slice(0, 50).map((body) => post(`${second.url}/v1/events`, project.test.key.secret, body)),
  ]);
  for (const reply of replies) expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  const batches = replies.slice(0, 4);
  for (const batch of batches) expect(idsOf(batch)).toEqual(idsOf(batches[0] as Reply));
  const originals = replies.flatMap(({ body, headers }) =>
    "results" in body
      ? (body["results"] as Result[]).filter(({ replayed }) => replayed === false)
      : headers.get("idempotent-replayed") === null
        ? [body]
        : [],
  );
  expect(originals.length).toBe(400);
  expect(await database.count("cell.events")).toBe(400);
  expect(await database.count("cell.customers")).toBe(400);
});

test("while a batch waits for a lock, charges and single events do not", async () => {
  const parts = await setupCredits();
  await parts.assign("customer_1");
  await sendTo(parts, { events: [event("held")] });
  const holder = await connectTo(parts.database);
  await holder.query("begin; select from cell.keyed_requests for update");
  const waiting = sendTo(parts, { events: [event("held"), ...times(300, (i) => event(`key-${i}`))] });
  for (const i of times(20, (index) => index)) {
    const startMs = performance.now();
    expect((await parts.record(event(`single-${i}`))).status).toBe(200);
    const charge = { customerId: "customer_1", feature: "image.render", idempotencyKey: `charge-${i}` };
    expect((await parts.consume(charge)).status).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(500);
  }
  await holder.query("rollback");
  expect(resultsOf(await waiting).map(({ replayed }) => replayed)).toEqual([
    true,
    ...times(300, () => false),
  ]);
});

test("an API key without the scope gets 403, a request without a key gets 401, and a GET request gets 405", async () => {
  const parts = await setup();
  const { service, project, database } = parts;
  const url = `${service.url}/v1/events/batch`;
  expect(await post(url, null, { events: [event("a")] })).toMatchObject({ status: 401 });
  expect((await fetch(url)).status).toBe(405);
  await database.query("update control.api_keys set scopes = '{check}'");
  const other = await startTestService(database);
  const reply = await post(`${other.url}/v1/events/batch`, project.test.key.secret, { events: [event("a")] });
  expect(reply).toMatchObject({ status: 403, body: { code: "scope_missing" } });
});
