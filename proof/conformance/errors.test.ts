import { expect, test } from "vitest";
import { post, type Reply, type Setup, setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

test("a reused key gets 409 idempotency_key_reused", async () => {
  const { record } = await setup();
  await record({ ...EVENT, idempotencyKey: "key-1" });
  const reply = await record({ ...EVENT, quantity: 4, idempotencyKey: "key-1" });
  expect(reply.status).toBe(409);
  expect(reply.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(reply.body).toEqual({
    type: "/docs/errors/idempotency_key_reused",
    title: expect.any(String),
    status: 409,
    detail: expect.any(String),
    code: "idempotency_key_reused",
    requestId: reply.headers.get("x-request-id"),
    conflict: "payload",
  });
});

test.each([
  ["more than 35 days ago", -35 * DAY - 10 * SECOND],
  ["years ago", -2_000 * DAY],
  ["more than 5 minutes ahead", 5 * MINUTE + 10 * SECOND],
  ["years ahead", 2_000 * DAY],
])("a timestamp %s gets 422 timestamp_out_of_range and stores nothing", async (_name, skewMs) => {
  const { database, record } = await setup();
  const timestamp = fromNow(skewMs);
  const changed = await changedTables(database, async () => {
    const reply = await record({ ...EVENT, timestamp, idempotencyKey: "key-1" });
    expect(reply).toMatchObject({ status: 422, body: { code: "timestamp_out_of_range" } });
  });
  expect(changed).toEqual([]);
});

test.each([
  ["almost 35 days ago", -35 * DAY + 10 * SECOND],
  ["almost 5 minutes ahead", 5 * MINUTE - 10 * SECOND],
])("a timestamp %s is accepted", async (_name, skewMs) => {
  const { record } = await setup();
  expect((await record({ ...EVENT, timestamp: fromNow(skewMs) })).status).toBe(200);
});

test("an accepted timestamp that became too old is rejected in a new request, but replays under its key", async () => {
  const { record } = await setup();
  const timestamp = fromNow(-35 * DAY + 3 * SECOND);
  const original = await record({ ...EVENT, timestamp, idempotencyKey: "key-1" });
  expect(original.status).toBe(200);

  await expect.poll(async () => (await record({ ...EVENT, timestamp })).status, { timeout: 8_000 }).toBe(422);
  const replay = await record({ ...EVENT, timestamp, idempotencyKey: "key-1" });
  expect({ status: replay.status, text: replay.text }).toEqual({ status: 200, text: original.text });
});

test("a rejected timestamp does not use up the key, and the same request is accepted when its timestamp is in range", async () => {
  const { record } = await setup();
  const body = { ...EVENT, timestamp: fromNow(5 * MINUTE + 2 * SECOND), idempotencyKey: "key-1" };
  expect((await record(body)).status).toBe(422);
  await expect.poll(async () => (await record(body)).status, { timeout: 8_000 }).toBe(200);
});

const MISTAKES: readonly [string, number, (setUp: Setup) => Promise<Reply>][] = [
  ["invalid_json", 400, ({ record }) => record("{")],
  ["invalid_request", 400, ({ record }) => record({})],
  ["api_key_missing", 401, ({ service }) => post(`${service.url}/v1/events`, null, EVENT)],
  ["api_key_invalid", 401, ({ service }) => post(`${service.url}/v1/events`, "nonsense", EVENT)],
  ["browser_not_allowed", 403, ({ record }) => record(EVENT, { origin: "https://app.example.com" })],
  ["not_found", 404, ({ service }) => post(`${service.url}/v1/nothing`, null, EVENT)],
  ["body_too_large", 413, ({ record }) => record({ ...EVENT, event: "x".repeat(64 * 1024) })],
  ["unsupported_media_type", 415, ({ record }) => record(EVENT, { "content-type": "text/plain" })],
  ["timestamp_out_of_range", 422, ({ record }) => record({ ...EVENT, timestamp: fromNow(-99 * DAY) })],
  ["metadata_limit_exceeded", 422, ({ record }) => record({ ...EVENT, metadata: { a: "x".repeat(9_000) } })],
];

test.each(MISTAKES)(
  "the error %s has status %i and the common format, and its type links to its documentation page",
  async (code, status, make) => {
    const setUp = await setup();
    const reply = await make(setUp);
    expect(reply.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(reply.body).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status: reply.status,
      detail: expect.any(String),
      code,
      requestId: reply.headers.get("x-request-id"),
    });
    expect(reply.status).toBe(status);

    const url = new URL(String(reply.body["type"]), setUp.service.url);
    const page = await fetch(url);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await page.text()).toContain(`<h1 id="${code}"`);
    const markdown = await fetch(url, { headers: { accept: "text/markdown" } });
    expect(await markdown.text()).toMatch(new RegExp(`^# ${code}\n`));
  },
);

function fromNow(skewMs: number): string {
  return new Date(Date.now() + skewMs).toISOString();
}
