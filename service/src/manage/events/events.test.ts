import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";

type Item = {
  eventId: string;
  event: string;
  featureId: null;
  customerId: string;
  quantity: number;
  occurredAt: string;
  recordedAt: string;
  metadata: Record<string, unknown> | null;
};

/** Reads all items of the list. Returns them and the number of pages. */
async function walk({ manage }: Managed, path: string): Promise<{ items: Item[]; pages: number }> {
  const items: Item[] = [];
  let pages = 0;
  for (let cursor = ""; ; ) {
    const { status, body, text } = await manage("GET", `${path}${cursor}`);
    expect([status, text]).toEqual([200, text]);
    pages += 1;
    items.push(...(body["items"] as Item[]));
    if (body["nextCursor"] === null) return { items, pages };
    cursor = `&cursor=${body["nextCursor"]}`;
  }
}

const quantities = ({ items }: { items: Item[] }): number[] => items.map(({ quantity }) => quantity);
const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * 3_600_000).toISOString();

/** Records five events for two customers, identified by quantity. The oldest event is sent last. */
async function setupEvents(): Promise<Managed> {
  const managed = await setupManage();
  const { record } = managed;
  const send = (quantity: number, more: object): Promise<unknown> =>
    record({ customerId: "ada", event: "tokens", quantity, ...more });
  await send(1, { timestamp: at(1) });
  await send(2, { timestamp: at(2), metadata: { model: "large", n: 3 } });
  await send(3, { customerId: "bob", timestamp: at(3), metadata: { model: "small" } });
  await send(4, { timestamp: at(30), event: "visits", metadata: { model: "large" } });
  await send(5, { timestamp: at(24 * 34) });
  return managed;
}

test("events are listed by the time they occurred, newest first, without duplicates", async () => {
  const managed = await setupEvents();
  const all = await walk(managed, "events?limit=2");
  expect(quantities(all)).toEqual([1, 2, 3, 4, 5]);
  expect(all.pages).toBe(3);
  const [, second] = all.items;
  expect(second).toEqual({
    eventId: expect.stringMatching(/^evt_/),
    event: "tokens",
    featureId: null,
    customerId: "ada",
    customerName: null,
    quantity: 2,
    occurredAt: expect.any(String),
    recordedAt: expect.any(String),
    memberId: null,
    metadata: { model: "large", n: 3 },
    requestId: expect.stringMatching(/^req_/),
  });
  expect((await managed.manage("GET", `events/${second?.eventId}`)).body).toEqual(second);
});

test("events are filtered by key, customer, time and metadata, alone and combined", async () => {
  const managed = await setupEvents();
  const find = async (query: string): Promise<number[]> => quantities(await walk(managed, `events?${query}`));
  const times = (from: number, to: number): string => `from=${at(from)}&to=${at(to)}`;
  expect(await find("event=visits")).toEqual([4]);
  expect(await find("customerId=bob")).toEqual([3]);
  expect(await find("customerId=nobody")).toEqual([]);
  expect(await find(times(25, 1.5))).toEqual([2, 3]);
  // This event arrived 34 days late, but is found by the time it occurred.
  expect(await find(times(24 * 35, 24 * 33))).toEqual([5]);
  expect(await find("metadata=model%3Dlarge")).toEqual([2, 4]);
  expect(await find("metadata=n%3D3")).toEqual([2]);
  expect(await find(`customerId=ada&event=tokens&metadata=model%3Dlarge&${times(25, 0)}`)).toEqual([2]);
  expect(quantities(await walk(managed, "customers/ada/events?limit=3"))).toEqual([1, 2, 4, 5]);
  expect(quantities(await walk(managed, "customers/ada/events?event=visits"))).toEqual([4]);
  expect((await managed.manage("GET", "customers/nobody/events")).status).toBe(404);
});

test("each event is listed once, even if several have the same timestamp", async () => {
  const managed = await setupManage();
  const timestamp = at(1);
  const body = { customerId: "ada", event: "tokens", timestamp };
  await Promise.all(Array.from({ length: 9 }, (_, i) => managed.record({ ...body, quantity: i + 1 })));
  const { items } = await walk(managed, "events?limit=2");
  expect(items.map(({ quantity }) => quantity).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("an event filter with few matches returns a short page and a cursor for the remaining matches", async () => {
  const managed = await setupManage();
  await managed.record({ customerId: "ada", event: "rare", quantity: 7, timestamp: at(700) });
  await managed.database.query(
    `insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id)
     select e.recorded_at, gen_random_uuid(), e.occurred_at + n * interval '1 second', e.customer_number, e.environment_id, 1, 'frequent', ''
     from cell.events as e
     cross join generate_series(1, 5500) as n`,
  );
  const rare = await walk(managed, "events?event=rare");
  expect([quantities(rare), rare.pages]).toEqual([[7], 3]);
  const ofCustomer = await walk(managed, "customers/ada/events?event=rare");
  expect([quantities(ofCustomer), ofCustomer.pages]).toEqual([[7], 12]);
  expect((await walk(managed, "events?limit=200")).items).toHaveLength(5_501);
});

test("an invalid cursor, a time without an offset, and a metadata filter without a value are rejected", async () => {
  const { manage } = await setupManage();
  for (const query of ["cursor=nonsense", "cursor=WzEsMl0", "from=2026-01-01T00:00:00", "metadata=model"]) {
    expect((await manage("GET", `events?${query}`)).status, query).toBe(400);
  }
  expect((await manage("GET", "events/evt_nonsense")).status).toBe(404);
});
