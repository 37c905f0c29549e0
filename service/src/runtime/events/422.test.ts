import { expect, test } from "vitest";
import { type Reply, setup, type TestDatabase } from "../../../test/harness.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1, idempotencyKey: "k" };
const DAY_MS = 24 * 3_600_000;

const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

async function expectNothingStored(database: TestDatabase): Promise<void> {
  for (const table of ["cell.events", "cell.customers", "cell.keyed_requests"]) {
    expect([table, await database.count(table)]).toEqual([table, 0]);
  }
}

test.each([
  ["35 days and a minute ago", -35 * DAY_MS - 60_000],
  ["a year ago", -365 * DAY_MS],
  ["6 minutes ahead", 6 * 60_000],
  ["a year ahead", 365 * DAY_MS],
])("a timestamp %s is out of range: the response names the range, and no row is written", async (_, ms) => {
  const { database, record } = await setup();
  const reply = await record({ ...EVENT, timestamp: fromNow(ms) });
  expect([reply.status, reply.body["code"]]).toEqual([422, "timestamp_out_of_range"]);
  const [earliest, latest] = String(reply.body["detail"]).match(/\d{4}-\S+Z/g) ?? [];
  expect(Math.abs(Date.parse(String(earliest)) + 35 * DAY_MS - Date.now())).toBeLessThan(5_000);
  expect(Math.abs(Date.parse(String(latest)) - 300_000 - Date.now())).toBeLessThan(5_000);
  await expectNothingStored(database);
});

test.each([
  ["35 days less a minute ago", -35 * DAY_MS + 60_000],
  ["4 minutes ahead", 4 * 60_000],
])("a timestamp %s is within range", async (_, ms) => {
  const { record } = await setup();
  expect((await record({ ...EVENT, timestamp: fromNow(ms) })).status).toBe(200);
});

const manyKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
const deep = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

test.each([
  ["bytes", { a: "x".repeat(8_184) }, { a: "é".repeat(4_093) }, { max: 8_192, actual: 8_194 }],
  ["keys", manyKeys(50), manyKeys(51), { max: 50, actual: 51 }],
  ["depth", deep(5), deep(6), { max: 5, actual: 6 }],
])(
  "if metadata exceeds the %s limit, the response has the limit, maximum and actual value, and no row is written",
  async (limit, within, beyond, measured) => {
    const { database, record } = await setup();
    const reply = await record({ ...EVENT, metadata: beyond });
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ code: "metadata_limit_exceeded", limit, ...measured });
    await expectNothingStored(database);
    // The rejected key was not used up.
    expect((await record({ ...EVENT, metadata: within })).status).toBe(200);
  },
);

test("metadata limits come from the workspace's plan, and a change applies within seconds", async () => {
  const { database, record } = await setup();
  const send = (): Promise<Reply> =>
    record({ ...EVENT, idempotencyKey: undefined, metadata: { a: 1, b: 2, c: 3 } });
  expect((await send()).status).toBe(200);
  await database.query("update control.workspace_plans set metadata_keys_max = 2");
  await expect.poll(async () => (await send()).body["max"], { timeout: 6_000, interval: 100 }).toBe(2);
});

test("rejected events do not affect concurrent events that are accepted", async () => {
  const { database, record } = await setup();
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      record({
        customerId: `c${i}`,
        event: "e",
        quantity: 1,
        ...(i % 3 === 0 ? { timestamp: fromNow(-60 * DAY_MS) } : {}),
        ...(i % 3 === 1 ? { metadata: deep(6) } : {}),
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map((_, i) => (i % 3 === 2 ? 200 : 422)));
  expect([await database.count("cell.events"), await database.count("cell.customers")]).toEqual([20, 20]);
});
