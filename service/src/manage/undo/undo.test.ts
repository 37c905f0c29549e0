import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { connectTo } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

const FIVE = ["c1", "c2", "c3", "c4", "c5"];

/** Sets up five customers on the plan "pro" with 100 credits each, and a second plan "scale". */
async function setupFive() {
  const managed = await setupManage();
  await managed.publish({ key: "scale", name: "Scale" });
  for (const customerId of FIVE) await managed.assign(customerId, "pro");
  return { ...managed, ...callsOf(managed) };
}

function callsOf({ manage }: Managed) {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await manage("POST", path, { body })).body;
  return {
    bulk: (path: string, body: object) => post(path, { customerIds: FIVE, ...body }),
    assign5: (body: object) =>
      post("bulk-assignments", { filter: { customerIds: FIVE }, expectedCount: 5, ...body }),
    preview: (entry: unknown) => post(`audit/${entry}/undo/preview`, {}),
    undo: (entry: unknown) => post(`audit/${entry}/undo`, {}),
    customer: async (id: string) => (await manage("GET", `customers/${id}`)).body,
    lastEntry: async (action: string): Promise<Record<string, unknown>> => {
      const { body } = await manage("GET", `audit?action=${action}`);
      return (body["items"] as Record<string, unknown>[])[0] ?? {};
    },
  };
}

const CREDITS = { credits: 50, kind: "manual", reference: "outage" };

test("credits added in bulk are undone once by one audit entry, and the undo reports the spent credits", async () => {
  const managed = await setupFive();
  const { bulk, preview, undo, customer, lastEntry, manage, consume, database } = managed;
  const { auditEntryId: entry, ...added } = await bulk("bulk-credits", CREDITS);
  expect(added).toEqual({ changed: 5, unchanged: 0, refused: [] });
  expect(await lastEntry("credits.added_in_bulk")).toMatchObject({
    id: entry,
    customerId: null,
    after: { credits: 50, kind: "manual", pool: "credits", customerIds: 5, changed: 5, refused: 0 },
  });
  // c1 spends 130 of 150, the allowance first. c2 spends everything. c3's grant is revoked, and c4's is moved. c5 spends nothing.
  const spend = (customerId: string, quantity: number) =>
    consume({ customerId, feature: "image.render", quantity, idempotencyKey: customerId });
  await spend("c1", 13);
  await spend("c2", 15);
  await manage("POST", "customers/c3/grants/2/revoke");
  await manage("POST", "customers/c4/grants/2/move", { body: { to: "ada" } });
  const expected = {
    ...{ action: "credits.added_in_bulk", undone: 2, alreadyUndone: 1, allSpent: 1, moved: 1 },
    ...{ expired: 0, changedSince: 0, notRestorable: 0, erased: 0, credits: 70, held: 0, spent: 80 },
  };
  const audits = await database.count("cell.audit");
  const previewed = await preview(entry);
  expect(previewed).toMatchObject({ ...expected, auditEntryId: null });
  const customers = previewed["customers"] as { customerId: string }[];
  expect(customers.sort((a, b) => (a.customerId < b.customerId ? -1 : 1))).toMatchObject([
    { customerId: "c1", outcome: "undone", credits: 20, spent: 30 },
    { customerId: "c2", outcome: "all_spent", credits: 0, spent: 50 },
    { customerId: "c3", outcome: "already_undone" },
    { customerId: "c4", outcome: "moved", movedTo: "ada" },
    { customerId: "c5", outcome: "undone", credits: 50, spent: 0 },
  ]);
  expect(await database.count("cell.audit")).toBe(audits);
  expect(await undo(entry)).toMatchObject({ ...expected, auditEntryId: expect.any(String) });
  expect(await lastEntry("change.undone")).toMatchObject({
    subject: "credits.added_in_bulk",
    after: { entry, undone: 2, credits: 70, spent: 80 },
  });
  expect(await customer("c1")).toMatchObject({ balances: [{ balance: 0 }] });
  expect(await customer("c5")).toMatchObject({ balances: [{ balance: 100 }] });
  expect(await undo(entry)).toMatchObject({ undone: 0, alreadyUndone: 4, auditEntryId: null });
  // The reference stays used, so repeating the bulk call does not add the credits again.
  expect(await bulk("bulk-credits", CREDITS)).toMatchObject({ changed: 0, auditEntryId: null });
  await expectSoundBooks(database);
});

test("a reversal after the undo returns nothing to a customer who had spent all of the credits", async () => {
  const { bulk, preview, undo, customer, consume, manage, database } = await setupFive();
  const { auditEntryId } = await bulk("bulk-credits", { ...CREDITS, customerIds: ["c1"] });
  const spent = { customerId: "c1", feature: "image.render", quantity: 15, idempotencyKey: "k" };
  const { body } = await consume(spent);
  expect(await undo(auditEntryId)).toMatchObject({ undone: 0, allSpent: 1, spent: 50 });
  expect(await preview(auditEntryId)).toMatchObject({ alreadyUndone: 1, allSpent: 0 });
  await manage("POST", `customers/c1/consumes/${body["consumeId"]}/reverse`, { body: {} });
  // Only the allowance of the plan is returned.
  expect(await customer("c1")).toMatchObject({ balances: [{ balance: 100 }] });
  const { body: log } = await manage("GET", "audit?collapseBulk=true&limit=1");
  expect(log["items"]).not.toMatchObject([{ action: "bulk_change.started" }]);
  expect(await database.count("cell.audit", "action = 'change.undone'")).toBe(1);
  await expectSoundBooks(database);
});

test("ten concurrent undos revoke each grant once", async () => {
  const { bulk, manage, database } = await setupFive();
  const { auditEntryId } = await bulk("bulk-credits", CREDITS);
  // Two long-running calls are allowed at a time. All other calls are rejected.
  const sent = Array.from({ length: 10 }, () => manage("POST", `audit/${auditEntryId}/undo`));
  const replies = await Promise.all(sent);
  const undone = replies.map(({ status, body }) => (status === 200 ? Number(body["undone"]) : 0));
  expect(undone.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(await database.count("cell.ledger", "kind = 4")).toBe(5);
  await expectSoundBooks(database);
});

test("undoing a plan change restores plan, end and allowance, and skips customers whose plan has changed since", async () => {
  const managed = await setupFive();
  const { assign5, preview, undo, customer, manage, database, consume } = managed;
  const endsAt = "2099-01-01T00:00:00.000Z";
  await manage("POST", "customers/c2/plan", { body: { plan: "pro", endsAt, shorten: true } });
  await manage("DELETE", "customers/c3/plan");
  await consume({ customerId: "c1", feature: "image.render", quantity: 3, idempotencyKey: "k" });
  const { auditEntryId: entry } = await assign5({ plan: "scale" });
  await manage("DELETE", "customers/c4/plan");
  await manage("POST", "customers/c4/plan", { body: { plan: "scale" } });
  expect(await preview(entry)).toMatchObject({ undone: 4, changedSince: 1, credits: 0 });
  expect(await customer("c1")).toMatchObject({ plan: { key: "scale" } });
  expect(await undo(entry)).toMatchObject({ undone: 4, changedSince: 1 });
  expect(await customer("c1")).toMatchObject({
    plan: { key: "pro", endsAt: null },
    balances: [{ balance: 70 }],
  });
  expect(await customer("c2")).toMatchObject({ plan: { key: "pro", endsAt } });
  expect(await customer("c3")).toMatchObject({ plan: null });
  expect(await customer("c4")).toMatchObject({ plan: { key: "scale" } });
  expect(await undo(entry)).toMatchObject({ undone: 0, alreadyUndone: 4, changedSince: 1 });
  await expectSoundBooks(database);
});

test("after an undo, a customer who had the default plan has the default plan again, not an assigned plan", async () => {
  const managed = await setupFive();
  const { manage, undo, customer, lastEntry } = managed;
  await manage("PUT", "default-plan", { body: { plan: "pro" } });
  await manage("PUT", "customers/new", { body: {} });
  await manage("POST", "customers/new/plan", { body: { plan: "scale" } });
  const { id } = await lastEntry("plan.assigned");
  expect(await undo(id)).toMatchObject({ undone: 1, customers: [{ plan: null }] });
  expect(await customer("new")).toMatchObject({ plan: { key: "pro", isDefault: true } });
});

test("a block that was lifted and set again is not undone", async () => {
  const { bulk, preview, undo, customer, manage } = await setupFive();
  await manage("PUT", "customers/c1/block", { body: { blocked: true } });
  const { auditEntryId: entry, ...blocked } = await bulk("bulk-blocks", { blocked: true });
  expect(blocked).toEqual({ changed: 4, unchanged: 1, refused: [] });
  for (const isBlocked of [false, true])
    await manage("PUT", "customers/c2/block", { body: { blocked: isBlocked } });
  await manage("PUT", "customers/c3/block", { body: { blocked: false } });
  await manage("DELETE", "customers/c4");
  const expected = { undone: 1, changedSince: 1, alreadyUndone: 1, erased: 1 };
  expect(await preview(entry)).toMatchObject(expected);
  expect(await undo(entry)).toMatchObject(expected);
  const states = await Promise.all(["c1", "c2", "c3", "c5"].map(customer));
  expect(states.map(({ isBlocked }) => isBlocked)).toEqual([true, true, false, false]);
});

test("credits added to one customer can be undone by their audit entry", async () => {
  const { manage, undo, preview, lastEntry, customer } = await setupFive();
  await manage("POST", "customers/c1/credits", {
    body: { credits: 500, kind: "purchase", reference: "pi_1" },
  });
  const { id } = await lastEntry("credits.added");
  expect(await preview(id)).toMatchObject({ undone: 1, credits: 500 });
  expect(await undo(id)).toMatchObject({ undone: 1, credits: 500, auditEntryId: null });
  expect(await customer("c1")).toMatchObject({ balances: [{ balance: 100 }] });
  expect(await undo(id)).toMatchObject({ undone: 0, alreadyUndone: 1 });
});

test("other actions and unknown entries cannot be undone, and viewers cannot undo anything", async () => {
  const { manage, lastEntry, tokens, here } = await setupFive();
  await manage("DELETE", "customers/c1/plan");
  const { id } = await lastEntry("plan.ended");
  const codeOf = async (path: string, token = tokens.operator) =>
    (await manage("POST", path, { token })).body["code"];
  expect(await codeOf(`audit/${id}/undo`)).toBe("not_undoable");
  expect(await codeOf("audit/01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00/undo")).toBe("not_found");
  expect(await codeOf("audit/x/undo")).toBe("invalid_request");
  expect(await codeOf(`audit/${id}/undo`, tokens.viewer)).toBe("role_missing");
  expect(await codeOf(`${here.replace("test", "live")}/audit/${id}/undo`)).toBe("not_found");
});

test("a customer's change is undone even if its audit entry is from the same millisecond as the summary entry", async () => {
  const { bulk, undo, database } = await setupFive();
  const { auditEntryId } = await bulk("bulk-blocks", { blocked: true });
  // IDs from the same millisecond are in random order. This ID is lower than the last customer's.
  const [copy] = await database.query(
    `insert into cell.audit
    select (jsonb_populate_record(a, jsonb_build_object(
      'id', left(c.id::text, 13) || '-7000-8000-000000000000', 'recorded_at', c.recorded_at))).*
    from cell.audit as a, cell.audit as c
    where a.id = $1 and c.action = 'customer.blocked'
    order by c.id desc
    limit 1
    returning id`,
    [auditEntryId],
  );
  expect(await undo(copy?.["id"])).toMatchObject({ undone: 5 });
});

test("undoing a bulk change keeps credits that single calls with the same request ID added", async () => {
  const { undo, customer, manage, database } = await setupFive();
  const headers = { "x-request-id": "job-7" };
  const client = await connectTo(database);
  await client.query("begin");
  const lock = "select from cell.wallets where customer_number = $1 for update";
  await client.query(lock, [await numberOf(database, "c2")]);
  const body = { customerIds: FIVE, ...CREDITS };
  const sent = manage("POST", "bulk-credits", { body, headers });
  await expect.poll(() => database.count("cell.grants", "kind = 3")).toBe(4);
  const paid = { credits: 500, kind: "purchase", reference: "pi_1" };
  expect(await manage("POST", "customers/paying/credits", { body: paid, headers })).toMatchObject({
    status: 200,
  });
  await client.query("rollback");
  const { auditEntryId } = (await sent).body;
  expect(await undo(auditEntryId)).toMatchObject({ undone: 5, credits: 250 });
  expect(await customer("paying")).toMatchObject({ balances: [{ balance: 500 }] });
});

test("a finished bulk change can also be undone by its start entry", async () => {
  const { bulk, undo, lastEntry } = await setupFive();
  await bulk("bulk-blocks", { blocked: true });
  const { id } = await lastEntry("bulk_change.started");
  expect(await undo(id)).toMatchObject({ undone: 5 });
});

test("a bulk change is undone even if its per-customer entries do not contain the ID of its start entry", async () => {
  const { bulk, undo, database } = await setupFive();
  const { auditEntryId } = await bulk("bulk-blocks", { blocked: true });
  await database.query("set session_replication_role = replica");
  await database.query(`update cell.audit set after = after || '{"inBulk": true}' where after ? 'inBulk'`);
  expect(await undo(auditEntryId)).toMatchObject({ undone: 5 });
});

test("an undo that fails for one customer still records what was undone for all other customers", async () => {
  const { bulk, manage, undo, lastEntry, database } = await setupFive();
  const { auditEntryId: entry } = await bulk("bulk-credits", CREDITS);
  await database.query(`
    create function cell.fail() returns trigger language plpgsql as $$
    begin
      raise exception 'broken';
    end $$;
    create trigger fail before insert on cell.audit for each row
      when (new.action = 'grant.revoked' and new.customer_number = ${await numberOf(database, "c3")})
      execute function cell.fail()`);
  expect(await manage("POST", `audit/${entry}/undo`)).toMatchObject({ status: 500 });
  expect(await lastEntry("change.undone")).toMatchObject({ after: { entry, undone: 4, credits: 200 } });
  await database.query("drop trigger fail on cell.audit");
  expect(await undo(entry)).toMatchObject({ undone: 1, alreadyUndone: 4, credits: 50 });
});

async function numberOf(database: Managed["database"], customerId: string): Promise<number> {
  const [row] = await database.query("select number from cell.customers where customer_id = $1", [
    customerId,
  ]);
  return Number(row?.["number"]);
}

test("expired credits are not reported as spent", async () => {
  const { bulk, preview } = await setupFive();
  const expiresAt = new Date(Date.now() + 1_000).toISOString();
  const { auditEntryId: entry } = await bulk("bulk-credits", { ...CREDITS, expiresAt });
  await expect
    .poll(() => preview(entry), { timeout: 5_000 })
    .toMatchObject({ undone: 0, allSpent: 0, expired: 5 });
  expect(await preview(entry)).toMatchObject({ credits: 0, spent: 0 });
});
