import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

async function setupPlans() {
  const managed = await setupManage();
  await managed.publish({ key: "scale", name: "Scale" });
  return { ...managed, ...callsOf(managed) };
}

function callsOf({ manage }: Managed) {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await manage("POST", path, { body })).body;
  return {
    put: (id: string) => manage("PUT", `customers/${id}`, { body: {} }),
    setDefault: (plan: string | null) => manage("PUT", "default-plan", { body: { plan } }),
    assignPlan: (id: string, body: object) => manage("POST", `customers/${id}/plan`, { body }),
    assignAll: (customerIds: string[], plan: string) =>
      post("bulk-assignments", { filter: { customerIds }, expectedCount: customerIds.length, plan }),
    undo: (entry: unknown) => post(`audit/${entry}/undo`, {}),
    planOf: async (id: string) => (await manage("GET", `customers/${id}`)).body["plan"],
    lastAssigned: async () => {
      const { body } = await manage("GET", "audit?action=plan.assigned");
      const [entry] = body["items"] as { id: string }[];
      return entry?.id;
    },
  };
}

test("a restored plan whose period has ended keeps its renewal day, so later billing events still match", async () => {
  const { publish, assignPlan, assignAll, undo, planOf, database } = await setupPlans();
  // A plan without allowances and used limits starts a new period, like a plan whose period has ended.
  await publish({ key: "seats", allowances: [] });
  const anchor = "2026-01-31T10:00:00.000Z";
  await assignPlan("c1", { plan: "seats", anchor, endsAt: "2099-01-31T10:00:00Z" });
  const { auditEntryId } = await assignAll(["c1"], "scale");
  expect(await undo(auditEntryId)).toMatchObject({ undone: 1, customers: [{ plan: "seats" }] });
  expect(await planOf("c1")).toMatchObject({ key: "seats", anchor });
  const renewal = { plan: "seats", anchor, endsAt: "2099-02-28T10:00:00Z" };
  expect(await assignPlan("c1", renewal)).toMatchObject({ status: 200 });
  await expectSoundBooks(database);
});

test("a repeated undo reports customers without a plan as restored, even after their default plan has started", async () => {
  const { put, setDefault, assignAll, undo, planOf, manage } = await setupPlans();
  await setDefault("pro");
  await put("c1");
  await put("c2");
  const { auditEntryId } = await assignAll(["c1", "c2"], "scale");
  expect(await undo(auditEntryId)).toMatchObject({ undone: 2 });
  expect(await planOf("c1")).toMatchObject({ key: "pro", isDefault: true });
  expect(await undo(auditEntryId)).toMatchObject({ undone: 0, alreadyUndone: 2, changedSince: 0 });
  await setDefault(null);
  expect(await manage("POST", `audit/${auditEntryId}/undo/preview`)).toMatchObject({
    body: { alreadyUndone: 2, changedSince: 0 },
  });
});

test("an audit entry that does not mark the default plan still restores it as the default plan", async () => {
  const { setDefault, consume, assignPlan, lastAssigned, undo, planOf, database } = await setupPlans();
  await setDefault("pro");
  await consume({ customerId: "c1", feature: "image.render", idempotencyKey: "k" });
  await assignPlan("c1", { plan: "scale" });
  const id = await lastAssigned();
  await database.query("set session_replication_role = replica");
  // As written by 0.1.
  await database.query(
    "update cell.audit set before = before - 'isDefault' - 'anchor', after = after - 'anchor' where id = $1",
    [id],
  );
  expect(await undo(id)).toMatchObject({ undone: 1, customers: [{ plan: null }] });
  expect(await planOf("c1")).toMatchObject({ key: "pro", isDefault: true });
  expect(await undo(id)).toMatchObject({ undone: 0, alreadyUndone: 1 });
});
