import pg from "pg";
import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import type { Reply, TestDatabase } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { times } from "../../../test/two-services.ts";
import { verifyDatabase } from "../../commands/verify/verify-database.ts";
import { finishErasures } from "./erase-customer.ts";

const MARKER = "jane.roe-7f3a";
const JANE = `${MARKER}@person.example`;
const HERE = `customers/${encodeURIComponent(JANE)}`;

const charge = (quantity: number, key: string) => ({
  customerId: JANE,
  feature: "image.render",
  quantity,
  idempotencyKey: `${MARKER}-${key}`,
  metadata: { who: { [MARKER]: [JANE] } },
});

const EVENT = {
  ...{ customerId: JANE, event: "page.view", quantity: 1, metadata: { by: JANE } },
  idempotencyKey: `event/${MARKER}`,
};

const TOP_UP = {
  credits: 40,
  kind: "purchase",
  reference: `pay-${MARKER}`,
  note: `Bought by ${JANE}`,
  price: { amount: 900, currency: "EUR" },
};

/** Writes the marker into every field that a caller or an operator can set. */
async function live({ manage, consume, record }: Managed): Promise<Reply[]> {
  const profile = { name: `Jane ${MARKER}`, email: JANE, billingReference: `cus_${MARKER}` };
  await manage("PUT", HERE, { body: { ...profile, metadata: { [MARKER]: JANE } } });
  await manage("POST", `${HERE}/plan`, { body: { plan: "pro" } });
  await manage("POST", `${HERE}/credits`, { body: TOP_UP });
  await manage("POST", `${HERE}/credits`, { body: { credits: 1, kind: "manual", note: `For ${JANE}` } });
  const charged = await consume(charge(2, "charge"));
  const answers = [charged, await consume(charge(900, "denial")), await record(EVENT)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  // Requests with a member but no metadata.
  const { metadata: _, ...bare } = charge(1, "member");
  for (const reply of [
    await consume({ ...bare, memberId: JANE }),
    await consume({ ...bare, memberId: JANE, quantity: 901, idempotencyKey: `${MARKER}-member-denial` }),
    await record({ customerId: JANE, event: "page.view", quantity: 3, memberId: JANE }),
  ])
    expect(reply.status).toBe(200);
  // A key reused with another payload is kept in the request log.
  expect((await consume({ ...charge(3, "charge"), metadata: { other: JANE } })).status).toBe(409);
  await record({ customerId: JANE, event: "page.view", quantity: 2, metadata: { by: JANE } });
  await manage("POST", `${HERE}/consumes/${charged.body["consumeId"]}/reverse`, {
    body: { quantity: 1, reference: `ticket ${MARKER}`, note: `Asked by ${JANE}` },
  });
  await manage("POST", `${HERE}/grants/2/revoke`, { body: { note: `Refunded to ${JANE}` } });
  return answers;
}

/** Finds all columns in both schemas that contain the marker. Searches partitions instead of partitioned tables. */
async function findTraces(database: TestDatabase): Promise<string[]> {
  const tables = await database.query(`
    select format('%I.%I', n.nspname, c.relname) as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname in ('cell', 'control') and c.relkind = 'r'
    group by 1
    order by 1`);
  expect(tables.flatMap(({ columns }) => columns).length).toBeGreaterThan(100);
  const marks = [MARKER, Buffer.from(MARKER).toString("hex")];
  const found: string[] = [];
  for (const { name, columns } of tables) {
    const has = (columns as string[]).map((column) => {
      const isFound = marks.map((mark) => `strpos(lower(${column}::text), '${mark}') > 0`).join(" or ");
      return `bool_or(${isFound}) as ${column}`;
    });
    const [row = {}] = await database.query(`select ${has.join(", ")} from ${name}`);
    for (const [column, isFound] of Object.entries(row))
      if (isFound === true) found.push(`${name}.${column}`);
  }
  return found;
}

/** Waits until the rejected request is in the request log, which is written in the background. */
async function untilLogged({ database }: Managed): Promise<void> {
  await expect.poll(() => database.count("cell.request_log", "status = 409")).toBeGreaterThan(0);
}

test("no table column contains an erased customer's personal data, and the ledger passes verification", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await live(managed);
  await untilLogged(managed);
  const traces = await findTraces(database);
  for (const column of [
    "cell.customers.customer_id",
    "cell.customers.name",
    "cell.customers.email",
    "cell.customers.billing_reference",
    "cell.customers.metadata",
    "cell.grants.reference",
    "cell.grants.note",
  ]) {
    expect(traces).toContain(column);
  }
  for (const table of ["events", "ledger", "denials"])
    for (const column of ["metadata", "member_id"])
      expect(traces).toContainEqual(expect.stringMatching(`cell.${table}_.*.${column}`));
  expect(traces).toContainEqual(expect.stringMatching(/cell.keyed_requests_\d.key/));
  const amounts =
    "select sequence, kind, amount, balance_after, parts from cell.ledger order by customer_number, sequence";
  const before = await database.query(amounts);

  expect((await manage("DELETE", HERE)).body).toEqual({ outcome: "erased" });
  expect(await findTraces(database)).toEqual([]);
  expect(await database.query(amounts)).toEqual(before);
  expect(await database.count("cell.request_log", "customer_number <> 1")).toBe(0);
  expect(await verifyDatabase(database.serviceUrl)).toMatchObject({
    mismatch: null,
    checked: { wallets: 2 },
  });
  await expectSoundBooks(database);
  for (const method of ["GET", "DELETE"]) expect((await manage(method, HERE)).status).toBe(404);
});

test("requests with an erased customer's idempotency keys still return the stored responses", async () => {
  const managed = await setupManage();
  const { manage, consume, record, database } = managed;
  const answers = await live(managed);
  await manage("DELETE", HERE);
  const counts = async () => [await database.count("cell.ledger"), await database.count("cell.events")];
  const before = await counts();
  const again = [
    await consume(charge(2, "charge")),
    await consume(charge(900, "denial")),
    await record(EVENT),
  ];
  for (const [index, reply] of again.entries()) {
    expect([reply.status, reply.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(reply.text).toBe(answers[index]?.text);
  }
  expect((await consume(charge(4, "charge"))).body["code"]).toBe("idempotency_key_reused");
  expect(await counts()).toEqual(before);
  expect(await findTraces(database)).toEqual([]);
});

test("an erased customer's payment references cannot be used again", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await live(managed);
  await manage("DELETE", HERE);
  for (const customer of ["customers/ada", HERE]) {
    expect(await manage("POST", `${customer}/credits`, { body: TOP_UP })).toMatchObject({
      status: 409,
      body: { code: "reference_reused" },
    });
  }
});

test.each([
  ["during the sweep", "request_log", "delete", "true"],
  ["before the last step", "customers", "update", "new.customer_id like 'erased:%'"],
])("a job finishes an erasure that was interrupted %s", async (_when, table, verb, condition) => {
  const managed = await setupManage();
  const { manage, database, check } = managed;
  await live(managed);
  await untilLogged(managed);
  await failOn(database, table, verb, condition);
  expect((await manage("DELETE", HERE)).status).toBe(500);
  expect((await manage("GET", HERE)).status).toBe(404);
  expect((await manage("DELETE", HERE)).status).toBe(404);
  expect((await check({ customerId: JANE, feature: "image.render" })).body["allowed"]).toBe(false);
  const pool = openTestPool(database.serviceUrl);
  await expect(finishErasures(pool, { hiddenMs: 0 })).rejects.toThrow("unplugged");
  await database.query(`drop trigger fail on cell.${table}`);
  // The job skips an erasure that may still be running.
  expect(await finishErasures(pool)).toBe(0);
  expect(await finishErasures(pool, { hiddenMs: 0 })).toBe(1);
  expect(await findTraces(database)).toEqual([]);
  expect(await database.count("cell.audit", "action = 'customer.erased'")).toBe(1);
  expect(await database.count("cell.customers", "customer_id like 'erasing:%'")).toBe(0);
  await pool.end();
});

test("finishing an erasure does not affect a new customer with the same ID", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await live(managed);
  await failOn(database, "ledger", "update", "true");
  expect((await manage("DELETE", HERE)).status).toBe(500);
  const body = { kind: "purchase", credits: 7, pool: "credits", note: "bought since" };
  expect((await manage("POST", `${HERE}/credits`, { body })).status).toBe(200);
  await database.query("drop trigger fail on cell.ledger");
  const pool = openTestPool(database.serviceUrl);
  expect(await finishErasures(pool, { hiddenMs: 0 })).toBe(1);
  expect((await manage("GET", HERE)).status).toBe(200);
  expect(await database.count("cell.customers", "customer_id like 'erased:%'")).toBe(1);
  expect(await database.count("cell.grants", "note = 'bought since'")).toBe(1);
  await pool.end();
});

test("an erasure waits for transactions that have read the customer number, even of another database role", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await live(managed);
  const writer = new pg.Client({ connectionString: database.url, application_name: "purser lane" });
  await writer.connect();
  await writer.query("begin");
  await writer.query("select number from cell.customers where customer_id = $1", [JANE]);
  let isErased = false;
  const erasure = manage("DELETE", HERE).then(() => {
    isErased = true;
  });
  await expect.poll(async () => (await manage("GET", HERE)).status).toBe(404);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isErased).toBe(false);
  await writer.query("commit");
  await writer.end();
  await erasure;
  expect(await findTraces(database)).toEqual([]);
});

test("an erasure deletes the customer's data on all pages of events and idempotency keys", {
  timeout: 120_000,
}, async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await live(managed);
  const [own] = await database.query(
    "select number, environment_id from cell.customers where customer_id = $1",
    [JANE],
  );
  const { number, environment_id } = own ?? {};
  // Every third event belongs to the erased customer, and every event has a key.
  await database.query(
    `insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id, metadata)
     select t.at, gen_random_uuid(), t.at, case when i % 3 = 0 then $1::bigint else 1 end, $2, 1, 'bulk', 'req',
       case when i % 3 = 0 then jsonb_build_object('by', $3::text) else '{"by":"somebody"}' end
     from generate_series(1, 66000) as i
     cross join lateral (select date_trunc('milliseconds', now()) - i / 100 * interval '1 ms' as at) as t`,
    [number, environment_id, JANE],
  );
  await database.query(
    `insert into cell.keyed_requests
       (project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key)
     select 1, gen_random_uuid(), e.environment_id, e.recorded_at, gen_random_uuid(), e.id, 3, 1,
       case when e.customer_number = $1 then $2 else 'somebody' end || e.id
     from cell.events as e
     where e.event = 'bulk'`,
    [number, JANE],
  );
  expect((await manage("DELETE", HERE)).body).toEqual({ outcome: "erased" });
  expect(await findTraces(database)).toEqual([]);
  expect(await database.count("cell.events", "metadata ->> 'by' = 'somebody'")).toBe(44_000);
  expect(await database.count("cell.keyed_requests", "key like 'somebody%'")).toBe(44_000);
});

test("requests and edits during an erasure leave no data about the customer", async () => {
  const managed = await setupManage();
  const { manage, consume, record, database } = managed;
  await live(managed);
  let isOver = false;
  const writers = times(4, async (writer) => {
    for (let i = 0; !isOver; i++) {
      const key = `busy-${writer}-${i}`;
      if (writer === 0) await consume(charge(1, key));
      else if (writer === 1) await record({ ...EVENT, idempotencyKey: `${MARKER}/${key}` });
      else if (writer === 2) await manage("PUT", HERE, { body: { name: JANE, metadata: { i, by: JANE } } });
      else
        await manage("POST", `${HERE}/credits`, {
          body: { credits: 1, kind: "manual", note: JANE, reference: `${MARKER}-${key}` },
        });
    }
  });
  for (let round = 0; round < 5; round++) {
    const { status } = await manage("DELETE", HERE);
    expect([200, 404]).toContain(status);
  }
  isOver = true;
  await Promise.all(writers);
  while ((await manage("DELETE", HERE)).status === 200);
  expect(await findTraces(database)).toEqual([]);
  expect(await verifyDatabase(database.serviceUrl)).toMatchObject({ mismatch: null });
});

async function failOn(database: TestDatabase, table: string, verb: string, condition: string): Promise<void> {
  await database.query(
    "create function public.fail() returns trigger language plpgsql as $$ begin raise exception 'unplugged'; end $$",
  );
  await database.query(
    `create trigger fail before ${verb} on cell.${table} for each row when (${condition}) execute function public.fail()`,
  );
}
