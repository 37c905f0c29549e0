import { expect, test } from "vitest";
import { setup } from "../../../test/harness.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };

test("an accepted event is stored with its fields, its recorded time and the request ID, but no feature", async () => {
  const { database, record } = await setup();
  const metadata = { model: "small", nested: { list: [1, "two", null] } };
  const timestamp = new Date(Date.now() - 60_000).toISOString();

  const reply = await record({ ...EVENT, metadata, timestamp }, { "x-request-id": "my-request" });

  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    accepted: true,
    eventId: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
  });
  expect(reply.headers.get("x-request-id")).toBe("my-request");
  const [row] = await database.query(`
    select e.feature_id, e.event, e.quantity, e.metadata, e.occurred_at, e.recorded_at, e.request_id, c.customer_id
    from cell.events as e
    join cell.customers as c on c.number = e.customer_number`);
  expect(row).toMatchObject({
    feature_id: null,
    event: "tokens.generated",
    quantity: 3,
    metadata,
    request_id: "my-request",
    customer_id: "customer_1",
    occurred_at: new Date(timestamp),
  });
  expect(Math.abs(Date.now() - Number(row?.["recorded_at"]))).toBeLessThan(10_000);
});

test("without an idempotency key, every request is a new event", async () => {
  const { database, record } = await setup();
  const replies = await Promise.all(Array.from({ length: 20 }, () => record(EVENT)));
  expect(new Set(replies.map((reply) => reply.body["eventId"])).size).toBe(20);
  expect(await database.count("cell.events")).toBe(20);
  expect(await database.count("cell.customers")).toBe(1);
});
