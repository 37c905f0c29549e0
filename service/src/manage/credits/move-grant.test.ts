import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { expectVerified, openHolds } from "../../../test/holds.ts";
import {
  add,
  balanceOf,
  countRows,
  listAudit,
  listGrants,
  move,
  PAYMENT,
  preview,
  render,
  setupMove,
} from "../../../test/moves.ts";
import { DAY_MS } from "../../../test/wind-back.ts";
import { movedReference } from "./move-grant.ts";

test("a move adds the remaining credits to the other customer, and the response shows the credits already spent", async () => {
  const managed = await setupMove();
  await render(managed, 22, "spent");
  expect((await preview(managed)).body).toEqual({
    outcome: "moved",
    refusal: null,
    credits: 380,
    spent: 120,
    held: 0,
    kind: "purchase",
    pool: "credits",
    granted: 500,
    recordedAt: expect.any(String),
    expiresAt: null,
    reference: "pi_1-moved",
    from: { customerId: "ada", customerName: null, grant: 2, balanceBefore: 380, balanceAfter: 0 },
    to: { customerId: "bob", customerName: null, grant: 2, balanceBefore: 100, balanceAfter: 480 },
  });
  const reply = await move(managed, { body: { note: "Paid by Bob" } });
  expect(reply.body).toEqual({
    outcome: "moved",
    credits: 380,
    spent: 120,
    held: 0,
    reference: "pi_1-moved",
    from: { customerId: "ada", grant: 2, balanceBefore: 380, balanceAfter: 0 },
    to: { customerId: "bob", grant: 2, balanceBefore: 100, balanceAfter: 480 },
  });
  expect((await listGrants(managed, "ada"))[0]).toMatchObject({
    grant: 2,
    remaining: 0,
    revokedAt: expect.any(String),
    price: PAYMENT.price,
    movedFrom: null,
    movedTo: { customerId: "bob", customerName: null, grant: 2 },
  });
  expect((await listGrants(managed, "bob"))[0]).toMatchObject({
    grant: 2,
    kind: "purchase",
    credits: 380,
    remaining: 380,
    price: null,
    note: "Paid by Bob",
    reference: "pi_1-moved",
    movedFrom: { customerId: "ada", customerName: null, grant: 2 },
    movedTo: null,
  });
  await expectSoundBooks(managed.database);
  await expectVerified(managed.database);
});

test("a repeated call moves nothing more and returns the first result", async () => {
  const managed = await setupMove();
  await render(managed, 22, "spent");
  await move(managed);
  await render(managed, 3, "later", "bob");
  const rows = await countRows(managed.database);
  expect((await move(managed)).body).toMatchObject({
    outcome: "already_moved",
    credits: 380,
    spent: 120,
    reference: "pi_1-moved",
    from: { grant: 2, balanceBefore: 0, balanceAfter: 0 },
    to: { grant: 2, balanceBefore: 450, balanceAfter: 450 },
  });
  expect((await preview(managed)).body).toMatchObject({ outcome: "already_moved", credits: 380 });
  expect(await countRows(managed.database)).toEqual(rows);
});

test("both customers' audit logs record a move and name the other customer, without storing an ID", async () => {
  const managed = await setupMove();
  await managed.manage("PUT", "customers/bob", { body: { name: "Bob" } });
  await render(managed, 22, "spent");
  await move(managed, { token: managed.tokens.operator, body: { note: "secret note" } });
  const [out, ...others] = await listAudit(managed, "&customerId=ada");
  const [into] = await listAudit(managed, "&customerId=bob");
  expect(others).toEqual([]);
  expect(out).toMatchObject({
    ...{ subject: "grant 2", customerId: "ada" },
    actor: { kind: "token", name: "The operator's" },
    before: { balances: { credits: 380 } },
    after: { balances: { credits: 0 }, credits: 380, spent: 120, held: 0, movedTo: "bob" },
  });
  expect(out).toMatchObject({ after: { movedToName: "Bob" } });
  expect(into).toMatchObject({
    subject: "grant 2",
    customerId: "bob",
    before: { balances: { credits: 100 } },
    after: { balances: { credits: 480 }, credits: 380, kind: "purchase", movedFrom: "ada" },
  });
  expect(out?.["requestId"]).toBe(into?.["requestId"]);
  expect(await managed.database.count("cell.audit as a", "to_jsonb(a)::text ~ 'pi_1|secret note'")).toBe(0);
  await managed.manage("DELETE", "customers/bob");
  expect(await listAudit(managed, "&customerId=ada")).toMatchObject([{ after: { movedTo: null } }]);
  expect((await listGrants(managed, "ada"))[0]).toMatchObject({ movedTo: { customerId: null, grant: 2 } });
});

test.each(["viewer"] as const)("a %s cannot move credits", async (role) => {
  const managed = await setupMove();
  const rows = await countRows(managed.database);
  const reply = await move(managed, { token: managed.tokens[role] });
  expect(reply).toMatchObject({ status: 403, body: { code: "role_missing" } });
  expect(await countRows(managed.database)).toEqual(rows);
});

test("a grant without remaining credits cannot be moved, and the error gives the reason", async () => {
  const managed = await setupMove();
  const { manage, database } = managed;
  const soon = new Date(Date.now() + 2_000).toISOString();
  await add(managed, { reference: "pi_soon", expiresAt: soon });
  await add(managed, { reference: "pi_revoked", kind: "manual" });
  await manage("POST", "customers/ada/grants/4/revoke");
  await expect.poll(() => Date.now(), { timeout: 5_000 }).toBeGreaterThan(Date.parse(soon) + 50);
  await render(managed, 60, "everything");
  expect(await balanceOf(managed, "ada")).toBe(0);
  const rows = await countRows(database);
  for (const [grant, detail, spent] of [
    [1, "Allowances belong to the customer's plan", null],
    [2, "All credits of this grant are spent", 500],
    [3, "have expired", null],
    [4, "was revoked", null],
  ] as const) {
    const code = grant === 1 ? "grant_not_movable" : "nothing_to_move";
    const status = grant === 1 ? 422 : 409;
    const expected = { code, detail: expect.stringContaining(detail) };
    expect(await move(managed, { grant })).toMatchObject({ status, body: expected });
    const still = { balanceBefore: 0, balanceAfter: 0 };
    expect((await preview(managed, { grant })).body).toMatchObject({
      ...{ outcome: "refused", refusal: expected, credits: 0, spent },
      ...{ from: still, to: { grant: null, balanceBefore: 100, balanceAfter: 100 } },
    });
  }
  expect(await countRows(database)).toEqual(rows);
});

test("held credits do not move: they are spent or revoked when the hold ends", async () => {
  for (const end of ["settle", "release"] as const) {
    const managed = await setupMove();
    const { open, settle, release } = openHolds(managed);
    await render(managed, 10, "allowance");
    const holdId = await open({ feature: "image.render", quantity: 20 });
    await render(managed, 5, "spent");
    expect((await preview(managed)).body).toMatchObject({ credits: 250, held: 200, spent: 50 });
    expect((await move(managed)).body).toMatchObject({
      ...{ outcome: "moved", credits: 250, held: 200, spent: 50 },
      ...{ from: { balanceBefore: 250, balanceAfter: 0 }, to: { balanceBefore: 100, balanceAfter: 350 } },
    });
    expect((await listGrants(managed, "ada"))[0]).toMatchObject({ remaining: 0 });
    expect((await (end === "settle" ? settle(holdId) : release(holdId))).status).toBe(200);
    expect(await balanceOf(managed, "ada")).toBe(0);
    expect(await balanceOf(managed, "bob")).toBe(350);
    await expectSoundBooks(managed.database);
    await expectVerified(managed.database);
  }
});

test("a grant whose remaining credits are all held can move after the hold is released", async () => {
  const managed = await setupMove();
  const { open, release } = openHolds(managed);
  await render(managed, 10, "allowance");
  const holdId = await open({ feature: "image.render", quantity: 50 });
  expect((await preview(managed)).body).toMatchObject({ credits: 0, held: 500, spent: 0 });
  expect(await move(managed)).toMatchObject({
    status: 409,
    body: { code: "nothing_to_move", detail: expect.stringContaining("held") },
  });
  await release(holdId);
  expect((await move(managed)).body).toMatchObject({ outcome: "moved", credits: 500 });
  await expectVerified(managed.database);
});

test("a moved grant keeps its expiry, kind and pool, and only its share of merged grants moves", async () => {
  const managed = await setupMove();
  const expiresAt = new Date(Date.now() + 60 * DAY_MS).toISOString();
  for (const credits of [100, 200, 300])
    await add(managed, { credits, expiresAt, kind: "promotion", reference: `promo-${credits}` });
  // Expiring credits are spent first: the allowance, the first grant and 50 of the second. The third grant is revoked.
  await render(managed, 25, "spent");
  await managed.manage("POST", "customers/ada/grants/5/revoke");
  expect((await move(managed, { grant: 4 })).body).toMatchObject({ credits: 150, spent: 50 });
  expect((await listGrants(managed, "bob"))[0]).toMatchObject({
    ...{ kind: "promotion", credits: 150, expiresAt, reference: "promo-200-moved" },
  });
  await expectSoundBooks(managed.database);
  await expectVerified(managed.database);
});

test("a charge that is reversed after the move returns nothing to the moved grant", async () => {
  const managed = await setupMove();
  const { body } = await render(managed, 22, "spent");
  await move(managed);
  const path = `customers/ada/consumes/${String(body["consumeId"])}/reverse`;
  expect((await managed.manage("POST", path, { body: {} })).status).toBe(200);
  expect(await balanceOf(managed, "ada")).toBe(100);
  expect(await balanceOf(managed, "bob")).toBe(480);
  await expectVerified(managed.database);
});

test("a moved grant can be moved again, even back, each time under a new reference", async () => {
  const managed = await setupMove();
  await move(managed);
  await managed.assign("cara");
  expect((await move(managed, { from: "bob", to: "cara" })).body).toMatchObject({
    reference: "pi_1-moved-2",
  });
  expect((await move(managed, { from: "cara", to: "ada" })).body).toMatchObject({
    ...{ credits: 500, reference: "pi_1-moved-3", to: { grant: 3, balanceAfter: 600 } },
  });
  expect(await move(managed, { to: "cara" })).toMatchObject({
    status: 409,
    body: { code: "nothing_to_move", movedTo: "bob", detail: expect.stringContaining("`bob`") },
  });
  await expectVerified(managed.database);
});

test.each([
  ["pi_1", "pi_1-moved"],
  ["pi_1-moved", "pi_1-moved-2"],
  ["pi_1-moved-9", "pi_1-moved-10"],
  ["x".repeat(255), `${"x".repeat(249)}-moved`],
  [null, null],
])("moving a grant with reference %j creates a grant with reference %j", (old, expected) => {
  expect(movedReference(old)).toBe(expected);
});

test("a move rejects a reference that is already used and accepts an unused reference", async () => {
  const managed = await setupMove();
  await add(managed, { credits: 1, reference: "pi_1-moved" }, "cara");
  const rows = await countRows(managed.database);
  expect(await move(managed)).toMatchObject({ status: 409, body: { code: "reference_reused" } });
  expect((await preview(managed)).body).toMatchObject({
    outcome: "refused",
    refusal: { code: "reference_reused", detail: expect.stringContaining("`pi_1-moved`") },
  });
  expect(await countRows(managed.database)).toEqual(rows);
  const reply = await move(managed, { body: { reference: "pi_1 of Bob" } });
  expect(reply.body).toMatchObject({ outcome: "moved", reference: "pi_1 of Bob" });
});

test("moves with unknown customers or grants, other environments or invalid bodies are rejected and create nothing", async () => {
  const managed = await setupMove();
  const { manage, project } = managed;
  await manage("PUT", `/manage/v1/projects/${project.projectId}/live/customers/only-live`, { body: {} });
  await manage("PUT", "customers/gone", { body: {} });
  await manage("DELETE", "customers/gone");
  const rows = await countRows(managed.database);
  const customers = await managed.database.count("cell.customers");
  for (const [asked, status, code] of [
    [{ to: "nobody" }, 422, "unknown_key"],
    [{ to: "only-live" }, 422, "unknown_key"],
    [{ to: "gone" }, 422, "unknown_key"],
    [{ from: "gone" }, 404, "not_found"],
    [{ from: "nobody" }, 404, "not_found"],
    [{ grant: 7 }, 404, "not_found"],
    [{ to: "ada" }, 400, "invalid_request"],
    [{ body: { reference: "erased:1" } }, 400, "invalid_request"],
    [{ body: { credits: 1 } }, 400, "invalid_request"],
  ] as const) {
    expect(await move(managed, asked)).toMatchObject({ status, body: { code } });
    if (!("body" in asked)) expect(await preview(managed, asked)).toMatchObject({ status, body: { code } });
  }
  expect(await countRows(managed.database)).toEqual(rows);
  expect(await managed.database.count("cell.customers")).toBe(customers);
});

test("credits can be moved between blocked customers", async () => {
  const managed = await setupMove();
  for (const customer of ["ada", "bob"])
    await managed.manage("PUT", `customers/${customer}/block`, { body: { blocked: true } });
  expect((await move(managed)).body).toMatchObject({ outcome: "moved", credits: 500 });
});

test("a move beyond the receiving customer's limits is rejected, and the other customer keeps the credits", async () => {
  const managed = await setupMove();
  for (let day = 1; day <= 49; day++) {
    const expiresAt = new Date(Date.now() + day * DAY_MS).toISOString();
    await add(managed, { credits: 1, reference: null, expiresAt }, "bob");
  }
  expect(await move(managed)).toMatchObject({ status: 422, body: { code: "too_many_grants" } });
  expect((await preview(managed)).body).toMatchObject({ refusal: { code: "too_many_grants" } });
  expect(await balanceOf(managed, "ada")).toBe(600);
});
