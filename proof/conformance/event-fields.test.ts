import { expect, test } from "vitest";
import { publicId } from "../../service/src/primitives/public-id.ts";
import { type Setup, setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };
const NOW = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString().slice(0, 19);

test.each(["customerId", "event", "quantity"])("%s is required", async (field) => {
  const body = Object.fromEntries(Object.entries(EVENT).filter(([name]) => name !== field));
  await expectRefused([{ body, field, code: "required" }]);
});

test("metadata, timestamp and idempotencyKey are optional", async () => {
  const { record } = await setup();
  expect((await record(EVENT)).status).toBe(200);
});

test("null is rejected in every field, even if the field is optional", async () => {
  const fields = ["customerId", "event", "quantity", "metadata", "timestamp", "idempotencyKey"];
  await expectRefused(
    fields.map((field) => ({ body: { ...EVENT, [field]: null }, field, code: "wrong_type" })),
  );
});

test("an unknown field is rejected, and the error names it", async () => {
  await expectRefused([{ body: { ...EVENT, amount: 1 }, field: "amount", code: "unknown_field" }]);
});

test.each([
  ["an array", "[]"],
  ["a string", '"event"'],
  ["a number", "1"],
  ["null", "null"],
])("the body is a JSON object, so %s is rejected", async (_name, body) => {
  await expectRefused([{ body, field: "", code: "wrong_type" }]);
});

test("customerId is a string of 1 to 255 characters, stored unchanged", async () => {
  const accepted = ["c", "x".repeat(255), "🙂".repeat(255), " padded ", "Ünï/код:#1"];
  const { database } = await expectAccepted(accepted.map((customerId) => ({ customerId })));
  const stored = await database.query("select customer_id from cell.customers");
  expect(stored.map((row) => row["customer_id"]).sort()).toEqual([...accepted].sort());

  await expectRefused([
    { body: { ...EVENT, customerId: "" }, field: "customerId", code: "too_short" },
    { body: { ...EVENT, customerId: "x".repeat(256) }, field: "customerId", code: "too_long" },
    { body: { ...EVENT, customerId: 42 }, field: "customerId", code: "wrong_type" },
    { body: { ...EVENT, customerId: "nul\0" }, field: "customerId", code: "wrong_form" },
    { body: { ...EVENT, customerId: "\ud800" }, field: "customerId", code: "wrong_form" },
  ]);
});

test("event is a string of 1 to 120 code points, stored unchanged", async () => {
  const accepted = ["e", "x".repeat(120), "🙂".repeat(120)];
  const { database } = await expectAccepted(accepted.map((event) => ({ event })));
  const stored = await database.query("select event from cell.events");
  expect(stored.map((row) => row["event"]).sort()).toEqual([...accepted].sort());

  await expectRefused([
    { body: { ...EVENT, event: "" }, field: "event", code: "too_short" },
    { body: { ...EVENT, event: "x".repeat(121) }, field: "event", code: "too_long" },
    { body: { ...EVENT, event: "🙂".repeat(121) }, field: "event", code: "too_long" },
    { body: { ...EVENT, event: ["e"] }, field: "event", code: "wrong_type" },
  ]);
});

test("quantity is an integer from 1 to 1,000,000, without type coercion", async () => {
  const { database } = await expectAccepted([{ quantity: 1 }, { quantity: 1_000_000 }]);
  const stored = await database.query("select quantity from cell.events order by quantity");
  expect(stored).toEqual([{ quantity: 1 }, { quantity: 1_000_000 }]);

  await expectRefused([
    { body: { ...EVENT, quantity: 0 }, field: "quantity", code: "too_small" },
    { body: { ...EVENT, quantity: -1 }, field: "quantity", code: "too_small" },
    { body: { ...EVENT, quantity: 1_000_001 }, field: "quantity", code: "too_large" },
    { body: { ...EVENT, quantity: 1.5 }, field: "quantity", code: "wrong_type" },
    { body: { ...EVENT, quantity: "1" }, field: "quantity", code: "wrong_type" },
    { body: { ...EVENT, quantity: true }, field: "quantity", code: "wrong_type" },
    { body: { ...EVENT, quantity: null }, field: "quantity", code: "wrong_type" },
  ]);
});

test("metadata is a JSON object, stored unchanged", async () => {
  const metadata = { model: "small", nested: { list: [1, "two", null, true, 0.5] }, "": "🙂" };
  const { database } = await expectAccepted([{ metadata }]);
  expect(await database.query("select metadata from cell.events")).toEqual([{ metadata }]);

  const others = [["a"], "a", 1, true];
  await expectRefused([
    ...others.map((value) => ({
      body: { ...EVENT, metadata: value },
      field: "metadata",
      code: "wrong_type",
    })),
    { body: { ...EVENT, metadata: { a: "\0" } }, field: "metadata", code: "wrong_form" },
    { body: { ...EVENT, metadata: { a: 2 ** 53 } }, field: "metadata", code: "wrong_form" },
  ]);
});

test("timestamp is an ISO 8601 time with an offset, and the event is stored at that instant", async () => {
  const accepted = [`${NOW}Z`, `${NOW}.0Z`, `${NOW}.000000000Z`, `${NOW}+00:00`, `${NOW.toLowerCase()}z`];
  const { database } = await expectAccepted(accepted.map((timestamp) => ({ timestamp })));
  const stored = await database.query("select distinct occurred_at from cell.events");
  expect(stored).toEqual([{ occurred_at: new Date(`${NOW}Z`) }]);

  const refused = [
    NOW,
    NOW.slice(0, 10),
    "2026-02-31T00:00:00Z",
    `${NOW}.0000000000Z`,
    `${NOW}+24:00`,
    "now",
    "",
  ];
  await expectRefused([
    ...refused.map((timestamp) => ({
      body: { ...EVENT, timestamp },
      field: "timestamp",
      code: "wrong_form",
    })),
    { body: { ...EVENT, timestamp: Date.now() }, field: "timestamp", code: "wrong_type" },
  ]);
});

test("without a timestamp, the event's time is the time of recording", async () => {
  const { database } = await expectAccepted([{}]);
  const [row] = await database.query(
    "select occurred_at = recorded_at as same, clock_timestamp() - recorded_at < interval '10 s' as recent from cell.events",
  );
  expect(row).toEqual({ same: true, recent: true });
});

test("idempotencyKey is a string of 1 to 255 visible ASCII characters", async () => {
  await expectAccepted([{ idempotencyKey: "k" }, { idempotencyKey: "~".repeat(255) }]);
  await expectRefused([
    { body: { ...EVENT, idempotencyKey: "" }, field: "idempotencyKey", code: "too_short" },
    { body: { ...EVENT, idempotencyKey: "k".repeat(256) }, field: "idempotencyKey", code: "too_long" },
    { body: { ...EVENT, idempotencyKey: "a b" }, field: "idempotencyKey", code: "wrong_form" },
    { body: { ...EVENT, idempotencyKey: "clé" }, field: "idempotencyKey", code: "wrong_form" },
    { body: { ...EVENT, idempotencyKey: 7 }, field: "idempotencyKey", code: "wrong_type" },
  ]);
});

test("the response has only `accepted` (true) and `eventId` (`evt_` plus the ID of the stored event)", async () => {
  const { database, record } = await setup();
  const reply = await record(EVENT);
  expect(reply.body).toEqual({ accepted: true, eventId: expect.stringMatching(/^evt_[0-9a-z]{26}$/) });
  const [row] = await database.query("select uuid_send(id) as id from cell.events");
  expect(Buffer.isBuffer(row?.["id"]) && publicId("evt", row["id"])).toBe(reply.body["eventId"]);
});

test("a stored event has no feature and keeps its event key, customer and environment", async () => {
  const { database, project, record } = await setup();
  await record(EVENT);
  const rows = await database.query(`
    select e.feature_id, e.event, e.environment_id, c.customer_id
    from cell.events as e
    join cell.customers as c on c.environment_id = e.environment_id and c.number = e.customer_number`);
  expect(rows).toEqual([
    {
      feature_id: null,
      event: EVENT.event,
      environment_id: project.test.environmentId,
      customer_id: EVENT.customerId,
    },
  ]);
});

test("an event for an existing customer changes no table except events and keyed requests", async () => {
  const { database, record } = await setup();
  const made = await changedTables(database, () => record({ ...EVENT, idempotencyKey: "key-1" }));
  // The first event creates the customer, with an empty wallet.
  expect(made).toEqual(["cell.customers", "cell.events", "cell.keyed_requests", "cell.wallets"]);
  expect(await database.count("cell.wallets", "balance = 0 and sequence = 0")).toBe(1);
  const changed = await changedTables(database, () => record({ ...EVENT, idempotencyKey: "key-2" }));
  expect(changed).toEqual(["cell.events", "cell.keyed_requests"]);
});

test("an event is accepted for a customer without a plan or credits", async () => {
  const { record } = await setup();
  const reply = await record({ ...EVENT, customerId: "customer_without_anything", quantity: 1_000_000 });
  expect(reply.status).toBe(200);
  expect(Object.keys(reply.body)).toEqual(["accepted", "eventId"]);
});

test("an event without a key changes only the events table", async () => {
  const { database, record } = await setup();
  await record(EVENT);
  expect(await changedTables(database, () => record(EVENT))).toEqual(["cell.events"]);
});

/** Sends an event with each change. Checks that each event is accepted and stored. */
async function expectAccepted(changes: readonly object[]): Promise<Setup> {
  const setUp = await setup();
  for (const change of changes) {
    const reply = await setUp.record({ ...EVENT, ...change });
    expect(reply.body, JSON.stringify(change)).toMatchObject({ accepted: true });
  }
  expect(await setUp.database.count("cell.events")).toBe(changes.length);
  return setUp;
}

/** Checks that each body is rejected with a 400 that names the field, and stores nothing. */
async function expectRefused(
  cases: readonly { body: unknown; field: string; code: string }[],
): Promise<void> {
  const { database, record } = await setup();
  const changed = await changedTables(database, async () => {
    for (const { body, field, code } of cases) {
      const reply = await record(body);
      expect(reply, JSON.stringify(body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(reply.body["errors"]).toContainEqual({ field, code, message: expect.any(String) });
    }
  });
  expect(changed).toEqual([]);
}
