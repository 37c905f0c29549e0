import { expect, onTestFinished, test } from "vitest";
import { sendFile } from "../../../test/imports.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { Wire } from "../../../test/wire.ts";
import { importCustomers } from "../imports/import-customers.ts";
import { readRows } from "../imports/read-rows.ts";

const THREE = ["c1", "c2", "c3"];
const CREDITS = { customerIds: THREE, credits: 50, kind: "manual", reference: "r" };

async function setupThree(): Promise<Managed> {
  const managed = await setupManage();
  await managed.publish({ key: "free", allowances: [] });
  for (const customerId of THREE) await managed.assign(customerId, "pro");
  return managed;
}

/** The newest entries without those of single customers, up to the first that the setup made. */
async function listCollapsed({ manage }: Managed): Promise<{ action: string; subject: string }[]> {
  const { body } = await manage("GET", "audit?limit=100&collapseBulk=true");
  const items = body["items"] as { action: string; subject: string }[];
  return items.slice(
    0,
    items.findIndex(({ action }) => action === "plan.assigned"),
  );
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
  "if %s is never recorded, its start stays in the collapsed audit log, even after the change is repeated",
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

test("if the undo of a bulk change is never recorded, its start stays in the collapsed audit log", async () => {
  const managed = await setupThree();
  const { body } = await managed.manage("POST", "bulk-credits", { body: CREDITS });
  await loseEntries(managed, "change.undone");
  await managed.manage("POST", `audit/${body["auditEntryId"]}/undo`);
  expect(await listCollapsed(managed)).toMatchObject([
    { action: "bulk_change.started", subject: "change.undone" },
    { action: "credits.added_in_bulk" },
  ]);
});

test("an import whose only commit has an unknown outcome stays in the collapsed audit log", async () => {
  const managed = await setupThree();
  const { database, context } = managed;
  const wire = await Wire.open();
  const cell = openTestPool(wire.urlOf(database));
  onTestFinished(() => cell.end());
  async function* read(): AsyncGenerator<string> {
    yield "customerId,credits\nc1,10\nc2,10\n";
  }
  wire.loseNextCommitReply();
  const job = { cell, context, name: "opening", isDryRun: false, stopsOnError: false };
  const report = await importCustomers(job, readRows(read()), {
    isWaiting: () => true,
    admitAgain: async () => {},
  });
  expect(report).toMatchObject({ changed: 0, unchanged: 2 });
  expect(await database.count("cell.audit", "after ? 'inBulk'")).toBe(2);
  expect(await listCollapsed(managed)).toMatchObject([
    { action: "bulk_change.started", subject: "customers.imported" },
  ]);
});

test("a repeated change that finds nothing to do records no start", async () => {
  const managed = await setupThree();
  const { database } = managed;
  for (const change of Object.values(CHANGES)) await change(managed);
  const entries = await database.count("cell.audit");
  expect(await database.count("cell.audit", "action = 'bulk_change.started'")).toBe(4);
  for (const change of Object.values(CHANGES)) await change(managed);
  expect(await database.count("cell.audit")).toBe(entries);
});

test("the start is hidden only by its own change, even if two changes have the same request ID", async () => {
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

/** Entries with this action cannot be written, as if the process was killed before. */
async function loseEntries({ database }: Managed, action: string): Promise<void> {
  await database.query(`
    create function cell.lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$;
    create trigger lose before insert on cell.audit for each row when (new.action = '${action}')
    execute function cell.lose()`);
}
