import { expect, test } from "vitest";
import { setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };
const DAY = 24 * 3_600_000;

test.each([
  ["an event key of 120 characters", { event: "x".repeat(120) }, { event: "x".repeat(121) }],
  ["a quantity of 1", { quantity: 1 }, { quantity: 0 }],
  ["a quantity of 1,000,000", { quantity: 1_000_000 }, { quantity: 1_000_001 }],
])(
  "%s is accepted, and a value just beyond this limit is rejected and stores nothing",
  async (_name, within, beyond) => {
    const { database, record } = await setup();
    expect((await record({ ...EVENT, ...within })).status).toBe(200);
    const changed = await changedTables(database, async () => {
      expect((await record({ ...EVENT, ...beyond })).status).toBe(400);
    });
    expect(changed).toEqual([]);
  },
);

test.each([
  // The JSON {"a":"…"} is 8 bytes longer than the text that it contains.
  ["bytes", 8_192, { a: "x".repeat(8_184) }, { a: "x".repeat(8_185) }],
  ["bytes", 8_192, { a: "é".repeat(4_092) }, { a: `x${"é".repeat(4_092)}` }],
  ["keys", 50, keys(50), keys(51)],
  ["keys", 50, { list: [keys(20), keys(29)] }, { list: [keys(20), keys(30)] }],
  ["depth", 5, nest(5), nest(6)],
])(
  "metadata is limited in %s: %i are accepted, and one more gets 422 and stores nothing",
  async (limit, max, within, beyond) => {
    const { database, record } = await setup();
    expect((await record({ ...EVENT, metadata: within })).status).toBe(200);
    const changed = await changedTables(database, async () => {
      const reply = await record({ ...EVENT, metadata: beyond });
      expect(reply).toMatchObject({
        status: 422,
        body: { code: "metadata_limit_exceeded", limit, max, actual: max + 1 },
      });
    });
    expect(changed).toEqual([]);
  },
);

test("metadata limits are set for each workspace", async () => {
  const { database, record } = await setup();
  await database.query("update control.workspace_plans set metadata_keys_max = 2");
  expect((await record({ ...EVENT, metadata: keys(2) })).status).toBe(200);
  expect(await record({ ...EVENT, metadata: keys(3) })).toMatchObject({
    status: 422,
    body: { code: "metadata_limit_exceeded", limit: "keys", max: 2, actual: 3 },
  });
});

test("a body of 64 KiB is accepted, and one byte more gets 413", async () => {
  const { record } = await setup();
  const body = JSON.stringify(EVENT);
  expect((await record(body.padEnd(64 * 1024))).status).toBe(200);
  expect(await record(body.padEnd(64 * 1024 + 1))).toMatchObject({
    status: 413,
    body: { code: "body_too_large" },
  });
});

test("requests beyond the workspace's rate limit get 429 with Retry-After and are not stored", async () => {
  const { database, record } = await setup();
  await database.query("update control.workspace_plans set requests_per_second_max = 3");
  const replies = await Promise.all(Array.from({ length: 10 }, () => record(EVENT)));
  const refused = replies.filter((reply) => reply.status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const reply of refused) {
    expect(reply.body["code"]).toBe("rate_limited");
    expect(reply.headers.get("retry-after")).toBe("1");
  }
  expect(await database.count("cell.events")).toBe(10 - refused.length);
});

test("usage older than the workspace's history window is still recorded", async () => {
  const { database, record } = await setup();
  await database.query("update control.workspace_plans set history_days_max = 1");
  const timestamp = new Date(Date.now() - 30 * DAY).toISOString();
  expect((await record({ ...EVENT, timestamp })).status).toBe(200);
  expect(await database.count("cell.events", "occurred_at < now() - interval '29 days'")).toBe(1);
});

test.each(["update cell.events set quantity = 1", "delete from cell.events", "truncate cell.events"])(
  "events are append-only: even the schema owner cannot `%s`",
  async (statement) => {
    const { database, record } = await setup();
    await record(EVENT);
    await expect(database.query(statement)).rejects.toThrow("append-only");
    expect(await database.count("cell.events", `quantity = ${EVENT.quantity}`)).toBe(1);
  },
);

function keys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i]));
}

function nest(depth: number): object {
  return depth === 1 ? { leaf: 1 } : { inner: nest(depth - 1) };
}
