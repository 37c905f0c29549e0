import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { sendFile } from "../../../test/imports.ts";
import { setupManage } from "../../../test/manage.ts";

const THREE = ["c1", "c2", "c3"];

async function setupThree() {
  const managed = await setupManage();
  for (const customerId of THREE) await managed.assign(customerId, "pro");
  const add = (body: object) =>
    managed.manage("POST", "bulk-credits", {
      body: { customerIds: THREE, credits: 50, kind: "manual", reference: "r", ...body },
    });
  return { ...managed, add };
}

test("repeating a bulk addition with the same reference adds credits only to customers who have not received them", async () => {
  const { add, database, assign } = await setupThree();
  expect((await add({})).body).toMatchObject({ changed: 3, unchanged: 0 });
  await assign("c4", "pro");
  expect((await add({ customerIds: [...THREE, "c4"] })).body).toMatchObject({ changed: 1, unchanged: 3 });
  expect((await add({ reference: "another" })).body).toMatchObject({ changed: 3 });
  expect(await database.count("cell.grants", "kind = 3")).toBe(7);
});

test("the preview of a bulk addition lists customers who already received the credits, even after an undo", async () => {
  const { add, manage, here, tokens } = await setupThree();
  const { body } = await add({ customerIds: ["c2", "c3"] });
  await manage("POST", `audit/${body["auditEntryId"]}/undo`);
  const customerIds = [...THREE, "nobody"];
  const preview = (reference: string, token = tokens.operator, path = "") =>
    manage("POST", `${path}bulk-credits/preview`, { body: { customerIds, reference }, token });
  expect((await preview("r")).body).toEqual({ received: ["c2", "c3"] });
  expect((await preview("another")).body).toEqual({ received: [] });
  expect((await preview("r", tokens.owner, `${here.replace(/test$/, "live")}/`)).body).toEqual({
    received: [],
  });
  expect((await preview("r", tokens.viewer)).status).toBe(403);
  expect((await add({ customerIds })).body).toMatchObject({ changed: 1, unchanged: 2 });
});

test("a bulk change continues after a customer who cannot be changed", async () => {
  const { add, manage, database } = await setupThree();
  const full = { credits: 1e15, kind: "manual" };
  while ((await manage("POST", "customers/c2/credits", { body: full })).status === 200);
  const customers = await database.count("cell.customers");
  const { body } = await add({ ...full, customerIds: [...THREE, "nobody"] });
  expect(body).toMatchObject({ changed: 2, unchanged: 0, auditEntryId: expect.any(String) });
  const refused = body["refused"] as { code: string }[];
  expect(refused.sort((a, b) => (a.code < b.code ? -1 : 1))).toMatchObject([
    { customerId: "c2", code: "balance_too_large" },
    { customerId: "nobody", code: "not_found" },
  ]);
  expect(await database.count("cell.customers")).toBe(customers);
});

test("a bulk change with an error that applies to all customers is rejected", async () => {
  const { add, database } = await setupThree();
  for (const [body, status, code] of [
    [{ pool: "gold" }, 422, "unknown_key"],
    [{ expiresAt: "2020-01-01T00:00:00Z" }, 422, "ends_in_the_past"],
    [{ expiresAt: "2099-01-01" }, 400, "invalid_request"],
    [{ reference: "" }, 400, "invalid_request"],
    [{ customerIds: [] }, 400, "invalid_request"],
  ] as const)
    expect(await add(body)).toMatchObject({ status, body: { code } });
  expect(await database.count("cell.grants", "kind = 3")).toBe(0);
});

test("bulk changes made before a disconnect are recorded and can be undone", async () => {
  const { service, here, tokens, database, manage } = await setupThree();
  const client = await connectTo(database);
  await client.query("begin");
  await client.query(
    "select from cell.wallets where customer_number = (select number from cell.customers where customer_id = 'c2') for update",
  );
  const controller = new AbortController();
  const sent = fetch(`${service.url}${here}/bulk-credits`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "application/json" },
    body: JSON.stringify({ customerIds: THREE, credits: 50, kind: "manual", reference: "r" }),
    signal: controller.signal,
  });
  await expect.poll(() => database.count("cell.grants", "kind = 3")).toBe(2);
  controller.abort();
  await expect(sent).rejects.toThrow();
  await client.query("rollback");
  await expect.poll(() => database.count("cell.audit", "action = 'credits.added_in_bulk'")).toBe(1);
  const { body } = await manage("GET", "audit?action=credits.added_in_bulk");
  const [entry] = body["items"] as { id: string }[];
  const undone = await manage("POST", `audit/${entry?.id}/undo`);
  expect(undone.body).toMatchObject({ undone: 3, credits: 150 });
});

test("the audit log can hide the per-customer entries of bulk changes", async () => {
  const managed = await setupThree();
  const { add, manage, assign, publish } = managed;
  await publish({ key: "free", allowances: [] });
  const { body: added } = await add({});
  await manage("POST", "bulk-blocks", { body: { customerIds: THREE, blocked: true } });
  await manage("POST", "bulk-assignments", {
    body: { filter: { customerIds: THREE }, plan: "free", expectedCount: 3 },
  });
  await manage("POST", `audit/${added["auditEntryId"]}/undo`);
  await sendFile(managed, "customerId,credits\nc1,10\nc2,10\n");
  await assign("c1", "pro");
  const read = async (query: string) => {
    const { body } = await manage("GET", `audit?${query}`);
    const actions = (body["items"] as { action: string }[]).map(({ action }) => action);
    return { actions, cursor: body["nextCursor"] as string | null };
  };
  const list = async (query: string) => (await read(`limit=100${query}`)).actions;
  const each = await list("");
  const collapsed = await list("&collapseBulk=true");
  expect(collapsed.slice(0, 6)).toEqual([
    "plan.assigned",
    "customers.imported",
    "change.undone",
    "plan.assigned_in_bulk",
    "customers.blocked_in_bulk",
    "credits.added_in_bulk",
  ]);
  expect(each.filter((action) => action === "bulk_change.started")).toHaveLength(5);
  expect(each).toHaveLength(collapsed.length + 5 + 3 + 3 + 3 + 3 + 2);

  const paged: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await read(`limit=2&collapseBulk=true${cursor && `&cursor=${cursor}`}`);
    expect(page.actions).toHaveLength(page.cursor === null ? page.actions.length : 2);
    paged.push(...page.actions);
    cursor = page.cursor;
  }
  expect(paged).toEqual(collapsed);

  expect(await list("&action=credits.")).toHaveLength(1 + 3 + 2);
  expect(await list("&action=credits.&collapseBulk=true")).toEqual(["credits.added_in_bulk"]);
  expect(await list("&action=bulk_change.&collapseBulk=true")).toEqual([]);
  const ofCustomer = await list("&customerId=c1");
  expect(ofCustomer).toEqual(expect.arrayContaining(["customer.blocked", "credits.added", "grant.revoked"]));
  const alone = await list("&customerId=c1&collapseBulk=true");
  expect(alone).toEqual(["plan.assigned", "plan.assigned"]);
});
