import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { ADA, BOB, TOP_UP } from "../../../test/customers.ts";
import { connectTo, post, type TestDatabase } from "../../../test/harness.ts";
import { times } from "../../../test/two-services.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { addCredits } from "../credits/add-credits.ts";
import { eraseCustomer, finishErasures } from "./erase-customer.ts";

const CAROL = brandAs<CustomerId>("carol@example.com");
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("no table contains the ID or metadata of an erased customer", async () => {
  const credits = await setupCredits();
  const { cell, context, database } = credits;
  await live(credits);
  expect(await findTraces(database)).not.toEqual([]);
  const outcome = await eraseCustomer(cell, context, { customerId: CAROL });
  expect(await finishErasures(cell, { hiddenMs: 0 })).toBe(0);
  // Three rows had metadata: a charge, a denial and an event.
  expect(outcome).toEqual({ kind: "erased", rows: 3 });
  expect(await findTraces(database)).toEqual([]);
});

test("an erased customer's amounts are kept under an anonymous customer number", async () => {
  const credits = await setupCredits();
  const { cell, context, database } = credits;
  await live(credits);
  const amounts = () =>
    database.query(`
      select sequence, kind, amount, balance_after, parts, quantity, key_hash from cell.ledger
      order by customer_number, sequence`);
  const before = await amounts();
  await eraseCustomer(cell, context, { customerId: CAROL });
  expect(await amounts()).toEqual(before);
  expect(await database.count("cell.events")).toBe(1);
  expect(await database.count("cell.denials")).toBe(1);
  expect(
    await database.count("cell.customers", "erased_at is not null and customer_id like 'erased:%'"),
  ).toBe(1);
  await expectSoundBooks(database);
});

test("an erased customer's ID can be reused, and the new customer starts with an empty wallet", async () => {
  const credits = await setupCredits();
  const { cell, context, consume, check, assign } = credits;
  await live(credits);
  await eraseCustomer(cell, context, { customerId: CAROL });
  const body = { customerId: CAROL, feature: "image.render" };
  expect((await check(body)).body).toMatchObject({ reason: "customer_not_found", balance: null });
  await assign(CAROL);
  expect((await consume({ ...body, idempotencyKey: "again" })).body).toMatchObject({
    allowed: true,
    balance: 90,
  });
});

test("unknown and erased customers are not found, and other customers keep their data", async () => {
  const credits = await setupCredits();
  const { cell, context, database } = credits;
  await credits.consume({ customerId: "ada", feature: "export", metadata: { a: 1 }, idempotencyKey: "a" });
  await live(credits);
  expect(await eraseCustomer(cell, context, { customerId: BOB })).toEqual({ kind: "customer_not_found" });
  await eraseCustomer(cell, context, { customerId: CAROL });
  expect(await eraseCustomer(cell, context, { customerId: CAROL })).toEqual({ kind: "customer_not_found" });
  expect(await database.query("select metadata from cell.ledger where metadata is not null")).toEqual([
    { metadata: { a: 1 } },
  ]);
  expect(await database.count("cell.audit", "action = 'customer.erased'")).toBe(1);
});

const REWRITES = [
  ["cell.ledger", "metadata = '{\"a\":2}'"],
  ["cell.ledger", "metadata = null, amount = amount - 1"],
  ["cell.ledger", "metadata = null, parts = ''"],
  ["cell.ledger", "customer_number = customer_number + 1"],
  ["cell.denials", "metadata = '{}'"],
  ["cell.denials", "metadata = null, balance = 0"],
  ["cell.events", "metadata = '{\"a\":2}'"],
  ["cell.events", "metadata = null, quantity = quantity + 1"],
  ["cell.ledger", "member_id = 'other'"],
  ["cell.ledger", "member_id = null, metadata = null, amount = amount - 1"],
  ["cell.denials", "member_id = 'other', metadata = null"],
  ["cell.events", "member_id = 'other'"],
] as const;

const REWRITTEN_WORDS = [
  "cell.grants set note = 'other'",
  "cell.grants set reference = 'other'",
  "cell.grants set reference = null",
  "cell.grants set reference = cell.erased_reference('other')",
  "cell.grants set note = null, credits = credits + 1",
  "cell.keyed_requests set key = 'other'",
  "cell.keyed_requests set key = '', fingerprint = gen_random_uuid()",
  "cell.keyed_requests set key_hash = gen_random_uuid()",
];

test("the text of grants and idempotency keys can be erased but not rewritten, even by the database owner", async () => {
  const credits = await setupCredits();
  await live(credits);
  const { database } = credits;
  for (const change of REWRITTEN_WORDS)
    await expect(database.query(`update ${change}`), change).rejects.toThrow("is refused");
  await database.query("update cell.grants set note = null, reference = cell.erased_reference(reference)");
  await database.query("update cell.keyed_requests set key = ''");
});

test.each(REWRITES)(
  "%s allows only updates that erase personal data: `set %s` fails, even for the database owner",
  async (table, change) => {
    const credits = await setupCredits();
    await live(credits);
    await expect(credits.database.query(`update ${table} set ${change}`)).rejects.toThrow("append-only");
    expect(await findTraces(credits.database)).toContain(table);
    await expect(credits.database.query(`update ${table} set metadata = null`)).resolves.toEqual([]);
  },
);

test("requests during an erasure leave no data about the customer after a second erasure", async () => {
  const credits = await setupCredits();
  const { cell, context, consume, record, database } = credits;
  await live(credits);
  const running = times(60, async (i) => {
    await pause(3 * i);
    const what = { customerId: CAROL, metadata: { to: "carol@example.com" }, idempotencyKey: `busy-${i}` };
    return i % 2 === 0
      ? consume({ ...what, feature: "text.generate" })
      : record({ ...what, event: "sent", quantity: 1 });
  });
  await pause(60);
  await eraseCustomer(cell, context, { customerId: CAROL });
  for (const { status } of await Promise.all(running)) expect(status).toBe(200);
  // Later requests created a new customer with the same ID. This customer is erased as well.
  await eraseCustomer(cell, context, { customerId: CAROL });
  expect(await findTraces(database)).toEqual([]);
  await expectSoundBooks(database);
});

test("an event in flight during an erasure leaves no data about the customer", async () => {
  const credits = await setupCredits({ LANES: "1" });
  const { cell, context, record, database, project } = credits;
  await live(credits);
  // Another transaction holds the event's key, so the event is written but not yet committed.
  const blocker = await connectTo(database);
  await blocker.query("begin");
  await blocker.query(
    `insert into cell.keyed_requests
       (project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key)
     values ($1, $2, $3, now(), $2, gen_random_uuid(), 3, 1, 'slow')`,
    [project.projectId, shortHash("slow"), project.test.environmentId],
  );
  const metadata = { to: "carol@example.com" };
  const event = record({ customerId: CAROL, event: "sent", quantity: 1, metadata, idempotencyKey: "slow" });
  await pause(200);
  const erased = eraseCustomer(cell, context, { customerId: CAROL });
  await Promise.race([erased, pause(500)]);
  await blocker.query("rollback");
  expect((await event).status).toBe(200);
  await erased;
  expect(await findTraces(database)).toEqual([]);
});

test("an erasure keeps the text of an expired key that another environment uses again", async () => {
  const credits = await setupCredits({ IDEMPOTENCY_DAYS: "40", LANES: "1" });
  const { cell, context, database, service, project } = credits;
  await live(credits);
  await database.query("alter table cell.keyed_requests disable trigger user");
  await database.query("update cell.keyed_requests set recorded_at = recorded_at - interval '41 days'");
  await database.query("alter table cell.keyed_requests enable trigger user");
  const keys = ["carol-1", "carol-2", "carol-3"];
  for (const idempotencyKey of keys) {
    const event = { customerId: "somebody", event: "sent", quantity: 1, idempotencyKey };
    expect((await post(`${service.url}/v1/events`, project.live.key.secret, event)).status).toBe(200);
  }
  await eraseCustomer(cell, context, { customerId: CAROL });
  const rows = await database.query("select key from cell.keyed_requests order by key");
  expect(rows.map(({ key }) => key)).toEqual(keys);
});

/** Creates a customer with all kinds of data that Purser can store about a customer. */
async function live({ assign, consume, record, cell, context, database }: Credits): Promise<void> {
  await assign(CAROL);
  await addCredits(cell, context, { ...TOP_UP, customerId: CAROL, reference: "pay_1" });
  const metadata = { to: "carol@example.com" };
  const body = { customerId: CAROL, feature: "image.render", metadata };
  await consume({ ...body, quantity: 2, idempotencyKey: "carol-1" });
  await consume({ ...body, quantity: 200, idempotencyKey: "carol-2" });
  await record({ customerId: CAROL, event: "sent", quantity: 1, metadata, idempotencyKey: "carol-3" });
  await database.query(
    `update cell.customers
     set name = 'carol@example.com', email = 'carol@example.com', billing_reference = 'carol@example.com',
       metadata = '{"to":"carol@example.com"}'
     where customer_id = $1`,
    [CAROL],
  );
  expect(await database.count("cell.customers", `customer_id = '${ADA}'`)).toBe(1);
}

/** Finds tables that contain the customer's ID or metadata. */
async function findTraces(database: TestDatabase): Promise<string[]> {
  const tables = await database.query(`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('cell', 'control') and c.relkind in ('r', 'p') and not c.relispartition
    order by name`);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await database.count(`${name} as t`, "to_jsonb(t)::text like '%carol@example.com%'");
    if (rows > 0) found.push(String(name));
  }
  return found;
}
