import { expect, onTestFinished, test } from "vitest";
import { ageAudit, renameAt } from "../../../test/age-history.ts";
import { expectSoundBooks } from "../../../test/books.ts";
import { connectTo } from "../../../test/harness.ts";
import { sendFile } from "../../../test/imports.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { Wire } from "../../../test/wire.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { blockCustomer } from "../customers/block-customer.ts";
import { importCustomers } from "../imports/import-customers.ts";
import { readRows } from "../imports/read-rows.ts";
import { undoEntry } from "../undo/undo-entry.ts";
import { assignInBulk } from "./assign-in-bulk.ts";
import { changeEach } from "./each-customer.ts";

const THREE = ["c1", "c2", "c3"];
const CREDITS = { customerIds: THREE, credits: 50, kind: "manual", reference: "r" };

async function setupThree(): Promise<Managed> {
  const managed = await setupManage();
  await managed.publish({ key: "free", allowances: [] });
  for (const customerId of THREE) await managed.assign(customerId, "pro");
  return managed;
}

/** Lists the audit entries of bulk changes, newest first, without the per-customer entries. */
async function listCollapsed({
  manage,
}: Managed): Promise<{ id: string; action: string; subject: string }[]> {
  const { body } = await manage("GET", "audit?limit=100&collapseBulk=true");
  const items = body["items"] as { id: string; action: string; subject: string }[];
  return items.filter(({ action }) => /_in_bulk$|^bulk_change|undone$|imported$/.test(action));
}

const CHANGES: Readonly<Record<string, (managed: Managed) => Promise<unknown>>> = {
  "credits.added_in_bulk": ({ manage }) => manage("POST", "bulk-credits", { body: CREDITS }),
  "customers.blocked_in_bulk": ({ manage }) =>
    manage("POST", "bulk-blocks", { body: { customerIds: THREE, blocked: true } }),
  "plan.assigned_in_bulk": ({ manage }) =>
    manage("POST", "bulk-assignments", {
      body: { filter: { customerIds: THREE }, plan: "free", expectedCount: 3 },
    }),
  "customers.imported": (managed) => sendFile(managed, "customerId,credits\nc1,10\nc2,10\n"),
};

test.each(Object.entries(CHANGES))(
  "the collapsed audit log keeps the start entry of a bulk change without a %s entry, even after a repetition",
  async (action, change) => {
    const managed = await setupThree();
    await loseEntries(managed, action);
    await change(managed);
    const started = [{ action: "bulk_change.started", subject: action }];
    expect(await listCollapsed(managed)).toMatchObject(started);
    await managed.database.query("drop trigger lose on cell.audit");
    await change(managed);
    expect(await listCollapsed(managed)).toMatchObject(started);
    const { body } = await managed.manage("GET", "audit?limit=100");
    const bulk = (body["items"] as { after: object | null }[]).filter(
      ({ after }) => after && "inBulk" in after,
    );
    expect(bulk).toHaveLength(action === "customers.imported" ? 2 : 3);
  },
);

test("the collapsed audit log keeps the start entry of a bulk undo whose `change.undone` entry was never written", async () => {
  const managed = await setupThree();
  const { body } = await managed.manage("POST", "bulk-credits", { body: CREDITS });
  await loseEntries(managed, "change.undone");
  await managed.manage("POST", `audit/${body["auditEntryId"]}/undo`);
  expect(await listCollapsed(managed)).toMatchObject([
    { action: "bulk_change.started", subject: "change.undone" },
    { action: "credits.added_in_bulk" },
  ]);
});

/** Opens a connection pool that can lose the response to its next commit. */
async function openLossyCell({ database, context }: Managed) {
  const wire = await Wire.open();
  const cell = openTestPool(wire.urlOf(database));
  onTestFinished(() => cell.end());
  const asked = { ...context, actor: { ...context.actor, requestId: "req_1" } };
  return { cell, context: asked, loseNextCommitReply: () => wire.loseNextCommitReply() };
}

const CALLER = { isWaiting: () => true, admitAgain: async () => {} };
const IDS = THREE.map((text) => brandAs<CustomerId>(text));

test("an import counts and records its changes, even if the response to its only commit is lost", async () => {
  const managed = await setupThree();
  const { database } = managed;
  const { cell, context, loseNextCommitReply } = await openLossyCell(managed);
  async function* read(): AsyncGenerator<string> {
    yield "customerId,credits\nc1,10\nc2,10\n";
  }
  loseNextCommitReply();
  const job = { cell, context, name: "opening", isDryRun: false, stopsOnError: false };
  const report = await importCustomers(job, readRows(read()), CALLER);
  const expected = { changed: 2, unchanged: 0, creditsAdded: 2, credits: [{ pool: "credits", manual: 20 }] };
  expect(report).toMatchObject(expected);
  expect(await database.count("cell.grants", "kind <> 1")).toBe(2);
  expect(await database.count("cell.audit", "after ? 'inBulk'")).toBe(2);
  const { body } = await managed.manage("GET", "audit?limit=1&collapseBulk=true");
  expect(body["items"]).toMatchObject([{ action: "customers.imported", after: expected }]);
});

test("an import that fails midway counts the rows it committed", async () => {
  const managed = await setupThree();
  const { database, context, cell } = managed;
  async function* read(): AsyncGenerator<string> {
    yield "customerId,credits\nc1,10\nc2,10\n";
  }
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(
    "select from cell.wallets where customer_number = (select number from cell.customers where customer_id = 'c2') for update",
  );
  const job = { cell, context, name: "opening", isDryRun: false, stopsOnError: false };
  const failing = expect(importCustomers(job, readRows(read()), CALLER)).rejects.toThrow("broken");
  // The locked customer is processed after the other customer is committed.
  await expect.poll(() => database.count("cell.grants", "kind <> 1")).toBe(1);
  await database.query(`
    create function cell.fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
    create trigger fail before insert on cell.grants for each row execute function cell.fail()`);
  await client.query("rollback");
  await failing;
  const { body } = await managed.manage("GET", "audit?limit=1&collapseBulk=true");
  expect(body["items"]).toMatchObject([
    { action: "customers.imported", after: { changed: 1, creditsAdded: 1 } },
  ]);
});

test("a bulk assignment counts its changes and can be undone, even if the response to its only commit is lost", async () => {
  const managed = await setupThree();
  const { cell, context, loseNextCommitReply } = await openLossyCell(managed);
  const filter = { customerIds: IDS, plan: "pro", search: null, isBlocked: null };
  const wanted = { filter, plan: "free", endsAt: undefined, shorten: false, before: null, expectedCount: 3 };
  loseNextCommitReply();
  const outcome = await assignInBulk(cell, context, wanted, CALLER);
  assert(outcome.kind === "assigned", "the plan is assigned");
  expect(outcome).toMatchObject({ changed: 3, unchanged: 0, skipped: 0, auditEntryId: expect.any(String) });
  expect(await listCollapsed(managed)).toMatchObject([
    { action: "plan.assigned_in_bulk", after: { changed: 3 } },
  ]);
  const { body } = await managed.manage("POST", `audit/${outcome.auditEntryId}/undo`);
  expect(body).toMatchObject({ undone: 3 });
});

test("a bulk block and its undo count customers whose commit response was lost", async () => {
  const managed = await setupThree();
  const { cell, context, loseNextCommitReply } = await openLossyCell(managed);
  loseNextCommitReply();
  const { auditEntryId, ...counts } = await blockThree({ cell, context }, async () => {});
  expect(counts).toEqual({ changed: 3, unchanged: 0, refused: [] });
  loseNextCommitReply();
  expect(await undoEntry(cell, context, String(auditEntryId), CALLER)).toMatchObject({
    counts: { undone: 3, already_undone: 0 },
  });
  expect(await listCollapsed(managed)).toMatchObject([
    { action: "change.undone", after: { undone: 3 } },
    { action: "customers.blocked_in_bulk", after: { changed: 3 } },
  ]);
});

const ENTRY = { action: "customers.blocked_in_bulk", subject: "customers", after: {} };

/** Blocks three customers. Calls `onChanged` after each customer. */
function blockThree(
  { cell, context }: Pick<Managed, "cell" | "context">,
  onChanged: (changed: number) => Promise<void>,
) {
  let changed = 0;
  return changeEach(cell, context, IDS, CALLER, ENTRY, async (bulk, customerId) => {
    const { kind } = await blockCustomer(cell, bulk, { customerId, isBlocked: true });
    changed += 1;
    await onChanged(changed);
    return kind === "changed" ? "changed" : "unchanged";
  });
}

test("a bulk change writes its summary audit entry once, even if the response to the commit is lost", async () => {
  const managed = await setupThree();
  const lossy = await openLossyCell(managed);
  const { auditEntryId } = await blockThree(lossy, async (changed) => {
    if (changed === 3) lossy.loseNextCommitReply();
  });
  const { body } = await managed.manage("GET", "audit?action=customers.blocked_in_bulk");
  expect(body["items"]).toMatchObject([{ id: auditEntryId }]);
});

test.each([
  [30_000, 3, 3],
  // The audit entries have IDs too old to be found, but customers counted before stay counted.
  [600_000, 1, 0],
])(
  "the count of a bulk change does not decrease if the clock goes back by %i ms",
  async (ms, changedMin, undone) => {
    const managed = await setupThree();
    const lossy = await openLossyCell(managed);
    lossy.loseNextCommitReply();
    const outcome = await blockThree(lossy, async (changed) => {
      if (changed < 3) return;
      await managed.database.query("set session_replication_role = replica");
      await managed.database.query(`update cell.audit set id = ${renameAt("id", ms)} where after ? 'inBulk'`);
    });
    expect(outcome.changed).toBeGreaterThanOrEqual(changedMin);
    const { body } = await managed.manage("POST", `audit/${outcome.auditEntryId}/undo`);
    expect(body).toMatchObject({ undone });
  },
);

const UNDONE_STARTS: readonly (readonly [string, object])[] = [
  ["credits.added_in_bulk", { credits: 150 }],
  ["customers.blocked_in_bulk", {}],
  ["plan.assigned_in_bulk", {}],
];

test.each(UNDONE_STARTS)(
  "an interrupted bulk change (%s) can be undone once with its start entry",
  async (action, report) => {
    const managed = await setupThree();
    const { manage, database } = managed;
    await loseEntries(managed, action);
    await CHANGES[action]?.(managed);
    const [running] = await listCollapsed(managed);
    const refused = await manage("POST", `audit/${running?.id}/undo`);
    expect(refused).toMatchObject({ status: 409, body: { code: "not_undoable" } });
    expect(refused.headers.get("retry-after")).toBe("60");
    await ageAudit(managed.database, 301_000);
    const [start] = await listCollapsed(managed);
    const undo = async (path: string) => (await manage("POST", `audit/${start?.id}/${path}`)).body;
    expect(await undo("undo/preview")).toMatchObject({ action, undone: 3, ...report });
    expect(await undo("undo")).toMatchObject({ action, undone: 3, ...report });
    expect(await listCollapsed(managed)).toMatchObject([
      { action: "change.undone", subject: action, after: { entry: start?.id } },
      { action: "bulk_change.started" },
    ]);
    expect(await undo("undo")).toMatchObject({ undone: 0, alreadyUndone: 3 });
    await expectSoundBooks(database);
  },
);

test("an import cannot be undone from its start entry", async () => {
  const managed = await setupThree();
  await loseEntries(managed, "customers.imported");
  await CHANGES["customers.imported"]?.(managed);
  const [start] = await listCollapsed(managed);
  expect(await managed.manage("POST", `audit/${start?.id}/undo`)).toMatchObject({
    body: { code: "not_undoable" },
  });
});

test("repeating a completed bulk change writes no audit entries", async () => {
  const managed = await setupThree();
  const { database } = managed;
  for (const change of Object.values(CHANGES)) await change(managed);
  const entries = await database.count("cell.audit");
  expect(await database.count("cell.audit", "action = 'bulk_change.started'")).toBe(4);
  for (const change of Object.values(CHANGES)) await change(managed);
  expect(await database.count("cell.audit")).toBe(entries);
});

test("a start entry is hidden only by its own change, even if two changes have the same request ID", async () => {
  const managed = await setupThree();
  const headers = { "x-request-id": "mine" };
  await loseEntries(managed, "credits.added_in_bulk");
  await managed.manage("POST", "bulk-credits", { body: CREDITS, headers });
  await managed.database.query("drop trigger lose on cell.audit");
  await managed.manage("POST", "bulk-credits", { body: { ...CREDITS, reference: "another" }, headers });
  expect((await listCollapsed(managed)).map(({ action }) => action)).toEqual([
    "credits.added_in_bulk",
    "bulk_change.started",
  ]);
});

/** Rejects audit entries with this action, to simulate a process that was killed before it wrote them. */
async function loseEntries({ database }: Managed, action: string): Promise<void> {
  await database.query(`
    create function cell.lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$;
    create trigger lose before insert on cell.audit for each row when (new.action = '${action}')
    execute function cell.lose()`);
}
