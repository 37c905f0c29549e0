import { createServer } from "node:http";
import { expect, test } from "vitest";
import { post } from "../../../service/test/harness.ts";
import { openHolds } from "../../../service/test/holds.ts";
import { readRetryTable } from "../../docs/retry-table.ts";
import { CUSTOMER, FEATURE, openChat } from "../chat.ts";
import { listen } from "../line.ts";
import { CLIENTS, runClient } from "./clients.ts";

const table = readRetryTable().filter(({ status }) => status !== 200);

/** Starts a server that responds to each first request with this error, and to its retry with a charge. */
async function startFailing(
  status: number,
  code: string | null,
): Promise<{ url: string; attempts: () => number }> {
  let attempts = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      attempts += 1;
      if (attempts > 1) return void response.writeHead(200).end('{"allowed":true}');
      response.writeHead(status).end(code === null ? "<h1>error</h1>" : JSON.stringify({ status, code }));
    });
  });
  return { url: await listen(server), attempts: () => attempts };
}

test.each(CLIENTS)("%s retries exactly the errors that the guide lists", async (client) => {
  const wrong: unknown[] = [];
  for (const rule of table) {
    const server = await startFailing(rule.status, rule.code);
    const env = { PURSER_URL: server.url, PURSER_KEY: "pur_test_abc" };
    const { code } = await runClient(client, env, [
      "consume",
      '{"customerId":"ada","idempotencyKey":"test:1"}',
    ]);
    const isRetried = server.attempts() === 2 && code === 0;
    if (isRetried !== rule.isRetried || (!isRetried && server.attempts() !== 1)) wrong.push(rule);
  }
  expect(table.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test("the service responds as the guide describes, and an error does not use up the idempotency key", async () => {
  const chat = await openChat(100);
  const { url } = chat.service;
  const { secret } = chat.project.test.key;
  const holds = openHolds(chat);
  const good = { customerId: CUSTOMER, feature: FEATURE, idempotencyKey: "test:free" };
  const consume = (change: object, headers = {}) => chat.consume({ ...good, ...change }, headers);
  const who = { customerId: CUSTOMER };
  const settled = await holds.open({ ...who, feature: FEATURE });
  await holds.settle(settled, who);
  const released = await holds.open({ ...who, feature: FEATURE });
  await holds.release(released, who);
  const open = await holds.open({ ...who, feature: FEATURE });
  await consume({ idempotencyKey: "test:used" });
  const nextWeek = new Date(Date.now() + 8 * 86_400_000).toISOString();
  const replies = {
    invalid_json: await post(`${url}/v1/consume`, secret, "{"),
    invalid_request: await consume({ quantity: 0 }),
    api_key_missing: await post(`${url}/v1/consume`, null, good),
    api_key_invalid: await post(`${url}/v1/consume`, "pur_test_wrong", good),
    browser_not_allowed: await consume({}, { origin: "https://example.com" }),
    feature_not_found: await consume({ feature: "chat.tokenz" }),
    hold_not_found: await holds.settle("hld_01m7mf2pmr0000000100000001", who),
    not_found: await post(`${url}/v1/consumed`, secret, good),
    method_not_allowed: await holds.read("/v1/consume"),
    idempotency_key_reused: await consume({ idempotencyKey: "test:used", quantity: 2 }),
    hold_settled: await holds.release(settled, who),
    hold_released: await holds.settle(released, who),
    body_too_large: await consume({ metadata: { a: "b".repeat(70_000) } }),
    unsupported_media_type: await consume({}, { "content-type": "text/plain" }),
    metadata_limit_exceeded: await consume({ metadata: { a: "b".repeat(9_000) } }),
    timestamp_out_of_range: await chat.record({
      ...good,
      feature: undefined,
      event: "e",
      quantity: 1,
      timestamp: "2020-01-01T00:00:00Z",
    }),
    hold_items_mismatch: await holds.settle(open, { ...who, items: [{ feature: "export", quantity: 1 }] }),
    hold_too_long: await holds.extend(open, { ...who, expiresAt: nextWeek }),
  };
  const wrong = Object.entries(replies).filter(([code, { status, body }]) => {
    const rule = table.find((row) => row.code === code);
    return rule === undefined || rule.isRetried || rule.status !== status || body["code"] !== code;
  });
  expect(wrong.map(([code, { status, text }]) => [code, status, text])).toEqual([]);
  const charged = await consume({});
  expect(charged.headers.get("idempotent-replayed")).toBeNull();
  expect(charged.body).toMatchObject({ allowed: true, creditsCharged: 1 });
});
