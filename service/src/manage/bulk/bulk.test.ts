import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { connectTo } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

const BULK = "bulk-assignments";

/** Creates 300 customers "f…" on the "free" plan, 20 "p…" on "pro", 5 "n…" without a plan, and "ada" on "pro". */
async function setupMany(): Promise<Managed> {
  const managed = await setupManage();
  const { publish, here, service, tokens } = managed;
  await publish({
    key: "free",
    allowances: [{ pool: "credits", credits: 10, period: "month", rollover: 0, overage: 0 }],
  });
  const rows = [
    ...Array.from({ length: 300 }, (_, i) => `f${i},free`),
    ...Array.from({ length: 20 }, (_, i) => `p${i},pro`),
    ...Array.from({ length: 5 }, (_, i) => `n${i},`),
  ];
  const { status } = await fetch(`${service.url}${here}/imports?name=many`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "text/csv" },
    body: `customerId,plan\n${rows.join("\n")}\n`,
  });
  expect(status).toBe(200);
  return managed;
}

type Sample = { before: { customerId: string }; after: { customerId: string } };

test("a bulk assignment does exactly what its preview showed", async () => {
  const { manage, database } = await setupMany();
  const body = { filter: { plan: "free" }, plan: "pro", endsAt: "2099-01-01T00:00:00Z" };
  const audits = await database.count("cell.audit");
  const preview = await manage("POST", `${BULK}/preview`, { body });
  expect(preview.body).toMatchObject({
    matching: 300,
    isExact: true,
    changed: 300,
    unchanged: 0,
    nextCursor: null,
  });
  expect(await database.count("cell.audit")).toBe(audits);
  const sample = preview.body["sample"] as Sample[];
  expect(sample).toHaveLength(10);
  expect(sample[0]).toMatchObject({
    before: { customerId: "f299", plan: { key: "free" }, balances: [{ balance: 10 }] },
    after: { plan: { key: "pro", endsAt: "2099-01-01T00:00:00.000Z" }, balances: [{ balance: 100 }] },
  });
  const others = "select customer_id from cell.customers where customer_id !~ '^f' order by 1";
  const done = await manage("POST", BULK, { body: { ...body, expectedCount: 300 } });
  expect([done.status, done.body]).toEqual([
    200,
    {
      ...{ matching: 300, changed: 300, unchanged: 0, wouldShorten: 0, skipped: 0, nextCursor: null },
      auditEntryId: expect.any(String),
    },
  ]);
  for (const { after } of sample) {
    const { body: now } = await manage("GET", `customers/${after.customerId}`);
    // Compares everything except the times that depend on the plan's start.
    const timeless = ({ plan }: Record<string, unknown>) => ({
      ...Object(plan),
      anchor: "",
      periodEndsAt: "",
    });
    expect({ ...now, plan: timeless(now) }).toEqual({ ...after, plan: timeless(after) });
  }
  expect(await database.query(others)).toHaveLength(26);
  expect(await database.count("cell.audit", "action = 'plan.assigned' and actor_kind = 'token'")).toBe(
    300 + 300 + 20,
  );
  expect((await manage("GET", "customers/n0")).body["plan"]).toBe(null);
  await expectSoundBooks(database);
});

test("a bulk assignment with `customerIds` changes exactly those customers, and repeating it changes nothing", async () => {
  const { manage, database } = await setupMany();
  const customerIds = [...Array.from({ length: 10 }, (_, i) => `f${i * 7}`), "p1"];
  const body = { filter: { customerIds: [...customerIds, "gone"] }, plan: "pro" };
  const preview = await manage("POST", `${BULK}/preview`, { body });
  expect(preview.body).toMatchObject({ matching: 11, isExact: true, changed: 10, unchanged: 1 });
  const sample = preview.body["sample"] as Sample[];
  expect(sample.map(({ before }) => before.customerId)).toEqual(customerIds);
  const done = await manage("POST", BULK, { body: { ...body, expectedCount: 11 } });
  expect(done.body).toMatchObject({ matching: 11, changed: 10, unchanged: 1, nextCursor: null });
  const { body: again } = await manage("POST", BULK, { body: { ...body, expectedCount: 11 } });
  expect(again).toMatchObject({ changed: 0, unchanged: 11 });
  const audited = await database.query(
    "select c.customer_id as id from cell.audit as a join cell.customers as c on c.number = a.customer_number " +
      "where a.action = 'plan.assigned' and a.subject = 'pro' and c.customer_id like 'f%' order by a.id",
  );
  expect(audited.map(({ id }) => id).sort()).toEqual(customerIds.slice(0, 10).sort());
  const [audit] = await database.query("select after from cell.audit where action = 'plan.assigned_in_bulk'");
  expect(audit?.["after"]).toMatchObject({ customerIds: 12, changed: 10 });

  for (const filter of [
    { customerIds: [] },
    { customerIds: ["f1", "f1"] },
    { customerIds: ["f1"], search: "f" },
    { customerIds: Array.from({ length: 5_001 }, (_, i) => `f${i}`) },
  ])
    expect((await manage("POST", `${BULK}/preview`, { body: { filter, plan: "pro" } })).status).toBe(400);
});

test("a bulk assignment skips and counts customers whose plan would end earlier, unless `shorten` is set", async () => {
  const { manage } = await setupMany();
  const endsAt = "2099-01-01T00:00:00.000Z";
  const body = { filter: { search: "p1" }, plan: "pro", endsAt };
  const preview = await manage("POST", `${BULK}/preview`, { body });
  expect(preview.body).toMatchObject({ matching: 11, changed: 0, unchanged: 0, wouldShorten: 11 });
  const kept = await manage("POST", BULK, { body: { ...body, expectedCount: 11 } });
  expect(kept.body).toMatchObject({ changed: 0, unchanged: 0, wouldShorten: 11 });
  expect((await manage("GET", "customers/p1")).body).toMatchObject({ plan: { endsAt: null } });
  const done = await manage("POST", BULK, { body: { ...body, shorten: true, expectedCount: 11 } });
  expect(done.body).toMatchObject({ changed: 11, unchanged: 0, wouldShorten: 0 });
  expect((await manage("GET", "customers/p1")).body).toMatchObject({ plan: { endsAt } });
});

test("repeating a bulk assignment with a filter changes nothing", async () => {
  const { manage, database } = await setupMany();
  const body = { filter: {}, plan: "pro", expectedCount: 326 };
  expect((await manage("POST", BULK, { body })).body).toMatchObject({ changed: 305, unchanged: 21 });
  const audits = await database.count("cell.audit");
  expect((await manage("POST", BULK, { body })).body).toMatchObject({ changed: 0, unchanged: 326 });
  expect(await database.count("cell.audit")).toBe(audits);
});

test("a bulk assignment is rejected if the number of matching customers has changed by more than 1%", async () => {
  const { manage, database, assign } = await setupMany();
  const call = (expectedCount: number) =>
    manage("POST", BULK, { body: { filter: { plan: "free" }, plan: "pro", expectedCount } });
  const assignments = await database.count("cell.assignments");
  for (const expectedCount of [0, 290, 310]) {
    const { status, body } = await call(expectedCount);
    expect([status, body]).toMatchObject([412, { code: "changed_meanwhile", matching: 300 }]);
  }
  expect(await database.count("cell.assignments")).toBe(assignments);
  await assign("f0", "pro");
  expect((await call(300)).body).toMatchObject({ matching: 299, changed: 299 });
});

test("a bulk assignment changes only customers that match all filters: search, plan and block", async () => {
  const { manage, database } = await setupMany();
  await database.query(`
    update cell.wallets set is_blocked = true
    where customer_number in (select number from cell.customers where customer_id in ('f1', 'f10', 'f2', 'p1'))`);
  const matching = async (filter: object): Promise<unknown> =>
    (await manage("POST", `${BULK}/preview`, { body: { filter, plan: "pro" } })).body["matching"];
  expect(await matching({})).toBe(326);
  expect(await matching({ isBlocked: true })).toBe(4);
  expect(await matching({ isBlocked: true, plan: "free" })).toBe(3);
  expect(await matching({ isBlocked: true, plan: "free", search: "F1" })).toBe(2);
  expect(await matching({ isBlocked: false, search: "p" })).toBe(19);
});

test("a bulk assignment skips customers who no longer match when their chunk is processed", async () => {
  const { manage, database } = await setupMany();
  const client = await connectTo(database);
  const wallet = "customer_number = (select number from cell.customers where customer_id = 'f7')";
  await client.query("begin");
  await client.query(`update cell.wallets set is_blocked = true where ${wallet}`);
  const body = { filter: { plan: "free", isBlocked: false }, plan: "pro", expectedCount: 300 };
  const sent = manage("POST", BULK, { body });
  const assigned = () => database.count("cell.audit", "action = 'plan.assigned' and subject = 'pro'");
  await expect.poll(assigned).toBe(21 + 249);
  await client.query("commit");
  expect((await sent).body).toMatchObject({ matching: 300, changed: 299, skipped: 1 });
});

test("a disconnect stops a bulk assignment after the current chunk, and a second call assigns the plan to the others", async () => {
  const { manage, database, service, here, tokens } = await setupMany();
  const client = await connectTo(database);
  await client.query("begin");
  await client.query("select from cell.wallets for update");
  const controller = new AbortController();
  const body = { filter: { plan: "free" }, plan: "pro" };
  const sent = fetch(`${service.url}${here}/${BULK}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, expectedCount: 300 }),
    signal: controller.signal,
  });
  const isAtIt = () =>
    database.count(
      "pg_stat_activity",
      "datname = current_database() and state <> 'idle' and query like '%wallets.lock%' and pid <> pg_backend_pid()",
    );
  await expect.poll(isAtIt, { interval: 5 }).toBeGreaterThan(0);
  controller.abort();
  await expect(sent).rejects.toThrow();
  await client.query("rollback");
  await expect.poll(() => database.count("cell.audit", "action = 'plan.assigned_in_bulk'")).toBe(1);
  const preview = await manage("POST", `${BULK}/preview`, { body });
  expect(preview.body).toMatchObject({ matching: 50 });
  const rest = await manage("POST", BULK, { body: { ...body, expectedCount: 50 } });
  expect(rest.body).toMatchObject({ changed: 50 });
});

test.each([
  ["is revoked", "update control.management_tokens set revoked_at = now()", 401, "sign_in_required"],
  ["is demoted", "update control.management_tokens set role = 'viewer'", 403, "role_missing"],
] as const)("once a token %s, no further chunk is assigned", async (_, change, ...refusal) => {
  const { manage, database, tokens } = await setupMany();
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(
    "select from cell.wallets where customer_number = (select number from cell.customers where customer_id = 'f299') for update",
  );
  const body = { filter: { plan: "free" }, plan: "pro", expectedCount: 300 };
  const sent = manage("POST", BULK, { body, token: tokens.operator });
  const assigned = () => database.count("cell.audit", "action = 'plan.assigned' and subject = 'pro'");
  await expect.poll(assigned).toBe(21 + 249);
  await database.query(`${change} where name = 'The operator''s'`);
  await client.query("rollback");
  const reply = await sent;
  expect([reply.status, reply.body["code"]]).toEqual(refusal);
  expect(await assigned()).toBe(21 + 250);
  expect(await database.count("cell.audit", "action = 'plan.assigned_in_bulk'")).toBe(1);
});

test("the audit entry for a bulk assignment shows the end date", async () => {
  const { manage } = await setupMany();
  const body = { filter: { plan: "free" }, plan: "pro", endsAt: "2099-01-01T00:00:00Z" };
  const { body: preview } = await manage("POST", `${BULK}/preview`, { body });
  await manage("POST", BULK, { body: { ...body, expectedCount: preview["matching"] } });
  const audit = await manage("GET", "audit?action=plan.assigned_in_bulk");
  expect(audit.body["items"]).toMatchObject([{ after: { endsAt: "2099-01-01T00:00:00.000Z" } }]);
});

test("a bulk assignment with an unknown plan, with an end date in the past or by a viewer is rejected", async () => {
  const { manage, tokens } = await setupMany();
  const codeOf = async (path: string, body: object, token = tokens.operator): Promise<unknown> =>
    (await manage("POST", path, { body, token })).body["code"];
  for (const path of [BULK, `${BULK}/preview`]) {
    const more = path === BULK ? { expectedCount: 1 } : {};
    expect(await codeOf(path, { filter: {}, plan: "none", ...more })).toBe("unknown_key");
    const past = { filter: {}, plan: "pro", endsAt: "2020-01-01T00:00:00Z", ...more };
    expect(await codeOf(path, past)).toBe("ends_in_the_past");
    expect(await codeOf(path, { filter: {}, plan: "pro", ...more }, tokens.viewer)).toBe("role_missing");
  }
  expect(await codeOf(BULK, { filter: {}, plan: "pro" })).toBe("invalid_request");
});
