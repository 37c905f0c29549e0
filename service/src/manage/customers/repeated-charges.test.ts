import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { ask } from "../../../test/usage.ts";

const DAY_MS = 24 * 3_600_000;

type Item = { customerId: string; customerName: string | null; charges: number; credits: number };

const list = async (managed: Managed): Promise<Item[]> =>
  (await ask<{ items: Item[] }>(managed, "repeated-charges")).items;

const examinedSince = async (managed: Managed): Promise<number> =>
  Date.parse((await ask<{ examinedSince: string }>(managed, "repeated-charges")).examinedSince);

/** Sends the charges and waits until all requests are logged. */
async function charge({ consume, manage }: Managed, ...charges: { customerId: string; quantity?: number }[]) {
  const logged = async (): Promise<number> => {
    const { body } = await manage("GET", "requests?limit=200");
    return (body["items"] as unknown[]).length;
  };
  const before = await logged();
  const ids: string[] = [];
  for (const body of charges) {
    const idempotencyKey = crypto.randomUUID();
    ids.push(String((await consume({ feature: "image.render", idempotencyKey, ...body })).body["consumeId"]));
  }
  await expect.poll(logged).toBe(before + charges.length);
  return ids;
}

test("two similar charges within a minute are listed, until one is reversed", async () => {
  const managed = await setupManage();
  const { manage, topUp, tokens } = managed;
  for (const customer of ["ada", "bob", "carl"]) await topUp(customer, 1_000);
  await managed.assign("bob");
  await managed.assign("carl");
  await manage("PUT", "customers/ada", { body: { name: "Ada Lovelace" } });
  const [, second = ""] = await charge(
    managed,
    { customerId: "ada", quantity: 3 },
    { customerId: "ada", quantity: 3 },
    { customerId: "bob", quantity: 1 },
    { customerId: "bob", quantity: 2 },
    // A longer series of charges is normal usage.
    ...Array.from({ length: 6 }, () => ({ customerId: "carl" })),
  );
  expect(await list(managed)).toEqual([
    {
      customerId: "ada",
      customerName: "Ada Lovelace",
      feature: "image.render",
      featureName: expect.any(String),
      quantity: 3,
      charges: 2,
      credits: 30,
      sequence: expect.any(Number),
      recordedAt: expect.any(String),
    },
  ]);
  const viewer = { token: tokens.viewer };
  expect((await manage("GET", "repeated-charges", viewer)).status).toBe(200);
  expect((await manage("POST", `customers/ada/consumes/${second}/reverse`, { body: {} })).status).toBe(200);
  expect(await list(managed)).toEqual([]);
});

test("charges before the history window, or more than a minute apart, are not listed", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await charge(managed, { customerId: "ada" }, { customerId: "ada" });
  expect(await list(managed)).toHaveLength(1);
  const setDays = (days: number | null) =>
    database.query("update control.workspace_plans set history_days_max = $1", [days]);
  await database.query("set session_replication_role = replica");
  await database.query("select cell.ensure_monthly_partitions(2, 0)");
  const moveBack = (by: string, which: string) =>
    database.query(
      `update cell.ledger set recorded_at = recorded_at - interval '${by}'
       where kind = 2 and sequence <= (select ${which}(sequence) from cell.ledger where kind = 2)`,
    );
  await moveBack("2 days", "max");
  await setDays(1);
  expect(await list(managed)).toEqual([]);
  await setDays(null);
  expect(await list(managed)).toHaveLength(1);
  await moveBack("61 seconds", "min");
  expect(await list(managed)).toEqual([]);
});

test("`examinedSince` is never earlier than a customer's newest 500 ledger entries", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await charge(managed, { customerId: "ada" }, { customerId: "ada" });
  // A long series of other charges, which is normal usage.
  const addEntries = (count: number) =>
    database.query(
      `insert into cell.ledger
       select (jsonb_populate_record(l, jsonb_build_object(
         'sequence', l.sequence + i, 'quantity', 7, 'recorded_at', l.recorded_at + make_interval(secs => i / 1000.0)))).*
       from cell.ledger as l
       cross join generate_series(1, $1::integer) as i
       where l.kind = 2
         and l.sequence = (select max(sequence) from cell.ledger where kind = 2)`,
      [count],
    );
  await database.query("set session_replication_role = replica");
  await addEntries(498);
  expect(await list(managed)).toHaveLength(1);
  const [last] = await database.query(
    "select floor(extract(epoch from max(recorded_at)) * 1000) as at from cell.ledger where quantity = 1",
  );
  await addEntries(2);
  expect(await list(managed)).toEqual([]);
  expect(await examinedSince(managed)).toBeGreaterThan(Number(last?.["at"]));
});

test("`examinedSince` is never earlier than the oldest examined request", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const ageDays = async () => (Date.now() - (await examinedSince(managed))) / DAY_MS;
  expect(await ageDays()).toBeCloseTo(7, 1);
  await database.query("update control.workspace_plans set history_days_max = 1");
  expect(await ageDays()).toBeCloseTo(1, 1);
  await charge(managed, { customerId: "ada" }, { customerId: "ada" });
  expect(await list(managed)).toHaveLength(1);
  // Newer requests to other endpoints, one per millisecond.
  const log = (from: number, to: number) =>
    database.query(
      `insert into cell.request_log
         (environment_id, id, recorded_at, request_id, endpoint, status, is_replay, duration_ms)
       select c.environment_id, rpad(lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0'), 32, '0')::uuid,
         t.at, 'busy', 'check', 200, false, 1
       from generate_series($1::integer, $2::integer) as i
       cross join (select l.environment_id, max(l.recorded_at) as latest from cell.request_log as l group by 1) as c
       cross join lateral (select c.latest + make_interval(secs => 60 + i / 1000.0) as at) as t`,
      [from, to],
    );
  await log(1, 19_998);
  expect(await list(managed)).toHaveLength(1);
  await database.query("delete from cell.request_log where request_id = 'busy'");
  await log(1, 20_000);
  expect(await list(managed)).toEqual([]);
  const [oldest] = await database.query(
    "select floor(extract(epoch from min(recorded_at)) * 1000) as at from cell.request_log where request_id = 'busy'",
  );
  expect(await examinedSince(managed)).toBe(Number(oldest?.["at"]));
});

test("`examinedSince` excludes the charges of customers beyond the first hundred", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await charge(managed, { customerId: "ada" }, { customerId: "ada" });
  const [last] = await database.query(
    "select floor(extract(epoch from max(recorded_at)) * 1000) as at from cell.request_log",
  );
  // Pairs of charges for other customers, each a second after the previous charge. The quantities may differ.
  const addPairs = (from: number, to: number) =>
    database.query(
      `insert into cell.request_log
         (environment_id, id, recorded_at, request_id, endpoint, status, is_replay, duration_ms, customer_number, subject)
       select l.environment_id, rpad(lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0'), 32, '0')::uuid,
         t.at, l.request_id, l.endpoint, l.status, l.is_replay, 1, l.customer_number + t.pair + 1000, l.subject
       from (select * from cell.request_log where endpoint = 'consume' order by id limit 1) as l
       cross join generate_series(2 * $1::integer, 2 * $2::integer + 1) as i
       cross join lateral (select i / 2 as pair, l.recorded_at + make_interval(secs => i) as at) as t`,
      [from, to],
    );
  await addPairs(1, 99);
  expect(await list(managed)).toHaveLength(1);
  await addPairs(100, 100);
  expect(await list(managed)).toEqual([]);
  expect(await examinedSince(managed)).toBeGreaterThan(Number(last?.["at"]));
});

test("`examinedSince` excludes charges that are not listed because of the item limit", async () => {
  const managed = await setupManage();
  const customers = Array.from({ length: 51 }, (_, index) => `customer-${index}`);
  for (const customerId of customers) {
    await managed.topUp(customerId, 1_000);
    await managed.assign(customerId);
  }
  await charge(managed, ...customers.flatMap((customerId) => [{ customerId }, { customerId }]));
  const listed = await ask<{ items: { recordedAt: string }[]; examinedSince: string }>(
    managed,
    "repeated-charges",
  );
  expect(listed.items).toHaveLength(50);
  expect(listed.examinedSince).toBe(listed.items.at(-1)?.recordedAt);
});
