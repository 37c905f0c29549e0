import { expect, test } from "vitest";
import { post, type Setup, setup, startTestService } from "../../../test/harness.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3, idempotencyKey: "key-1" };

test.each([
  ["quantity", { ...EVENT, quantity: 4 }],
  ["customer", { ...EVENT, customerId: "customer_2" }],
  ["event", { ...EVENT, event: "tokens.read" }],
  ["metadata", { ...EVENT, metadata: { a: 1 } }],
  ["timestamp", { ...EVENT, timestamp: new Date().toISOString() }],
])(
  "a key reused with another %s changes nothing and shows nothing from the first response",
  async (_, body) => {
    const { database, record } = await setup();
    const first = await record(EVENT);
    const reused = await record(body);
    expect(reused.status).toBe(409);
    expect(reused.headers.get("content-type")).toContain("application/problem+json");
    expect(reused.body).toMatchObject({ code: "idempotency_key_reused", conflict: "payload", status: 409 });
    expect(reused.text).not.toContain(String(first.body["eventId"]));
    await expectRows(database, 1);
  },
);

test("a key reused in the other environment is rejected, even with the same body", async () => {
  const { database, record, service, project } = await setup();
  await record(EVENT);
  const reused = await post(`${service.url}/v1/events`, project.live.key.secret, EVENT);
  expect(reused.status).toBe(409);
  expect(reused.body).toMatchObject({ code: "idempotency_key_reused", conflict: "environment" });
  await expectRows(database, 1);
});

test("a key that was used on another endpoint is rejected", async () => {
  const { database, record } = await setup();
  await record(EVENT);
  await database.query("alter table cell.keyed_requests disable trigger all");
  await database.query("update cell.keyed_requests set endpoint = 2");
  const reused = await record(EVENT);
  expect(reused.status).toBe(409);
  expect(reused.body).toMatchObject({ code: "idempotency_key_reused", conflict: "endpoint" });
  await expectRows(database, 1);
});

test("if two processes receive one key with different payloads, one request is accepted and the others get 409", async () => {
  const { database, service, project } = await setup();
  const other = await startTestService(database);
  for (let round = 0; round < 20; round++) {
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        post(`${[service.url, other.url][i % 2]}/v1/events`, project.test.key.secret, {
          ...EVENT,
          customerId: `customer_${i}`,
          idempotencyKey: `round-${round}`,
        }),
      ),
    );
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 409)).toHaveLength(15);
  }
  await expectRows(database, 20);
});

async function expectRows(database: Setup["database"], count: number): Promise<void> {
  expect(await database.count("cell.events")).toBe(count);
  expect(await database.count("cell.keyed_requests")).toBe(count);
  expect(await database.count("cell.customers")).toBeLessThanOrEqual(count);
}
