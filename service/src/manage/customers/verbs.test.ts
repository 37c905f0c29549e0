import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";

const LATER = "2999-01-01T00:00:00.000Z";
const EVEN_LATER = "2999-06-01T00:00:00.000Z";

test("a repeated plan assignment changes nothing, and a later end date extends the plan", async () => {
  const { manage, database } = await setupManage();
  const assign = (body: object) => manage("POST", "customers/bob/plan", { body });
  const first = await assign({ plan: "pro", endsAt: LATER, anchor: "2026-01-31T00:00:00Z" });
  expect(first.body).toMatchObject({
    outcome: "changed",
    customer: {
      customerId: "bob",
      plan: { key: "pro", anchor: "2026-01-31T00:00:00.000Z", endsAt: LATER, isDefault: false },
      balances: [{ pool: "credits", balance: 100 }],
    },
  });
  const counts = async () => [await database.count("cell.ledger"), await database.count("cell.audit")];
  const before = await counts();
  for (const body of [{ plan: "pro" }, { plan: "pro", endsAt: LATER }]) {
    const again = await assign(body);
    expect(again.body).toEqual({ outcome: "unchanged", customer: first.body["customer"] });
  }
  expect(await counts()).toEqual(before);
  expect((await assign({ plan: "pro", endsAt: EVEN_LATER })).body).toMatchObject({
    outcome: "changed",
    customer: { plan: { endsAt: EVEN_LATER } },
  });
  await expectSoundBooks(database);
});

test("an earlier end date requires `shorten`", async () => {
  const { manage, database } = await setupManage();
  const assign = (body: object) => manage("POST", "customers/ada/plan", { body: { plan: "pro", ...body } });
  expect(await assign({ endsAt: EVEN_LATER })).toMatchObject({
    status: 409,
    body: { code: "would_shorten", detail: expect.stringContaining("has no end") },
  });
  expect((await assign({ endsAt: EVEN_LATER, shorten: true })).body).toMatchObject({
    outcome: "changed",
    customer: { plan: { endsAt: EVEN_LATER } },
  });
  expect(await assign({ endsAt: LATER })).toMatchObject({
    status: 409,
    body: { code: "would_shorten", endsAt: EVEN_LATER },
  });
  expect((await assign({})).body["outcome"]).toBe("unchanged");
  expect((await assign({ endsAt: LATER, shorten: true })).body).toMatchObject({ outcome: "changed" });
  expect((await assign({ endsAt: null })).body).toMatchObject({
    outcome: "changed",
    customer: { plan: { endsAt: null } },
  });
  const changes = await manage("GET", "customers/ada/plans");
  expect(changes.body["items"]).toMatchObject([
    { change: "extended", endsAt: null },
    { change: "shortened", endsAt: LATER },
    { change: "shortened", endsAt: EVEN_LATER },
    { change: "started", endsAt: null },
  ]);
  await expectSoundBooks(database);
});

test("a different anchor is rejected for an active plan, and for a plan that ended in the current period", async () => {
  const { manage, publish, database } = await setupManage();
  await publish({ key: "free", name: "Free", allowances: [] });
  const assign = (body: object) => manage("POST", "customers/bob/plan", { body });
  const anchor = "2026-01-31T00:00:00.000Z";
  await assign({ plan: "pro", anchor });
  const refused = { status: 409, body: { code: "anchor_fixed", anchor } };
  const before = await database.query("select state from cell.wallets order by customer_number");
  expect(await assign({ plan: "pro", anchor: "2026-02-01T00:00:00Z" })).toMatchObject(refused);
  expect(await database.query("select state from cell.wallets order by customer_number")).toEqual(before);
  expect((await assign({ plan: "pro", anchor })).body["outcome"]).toBe("unchanged");
  await assign({ plan: "free" });
  expect(await assign({ plan: "pro", anchor: "2026-02-01T00:00:00Z" })).toMatchObject(refused);
  expect((await assign({ plan: "pro" })).body).toMatchObject({ customer: { plan: { anchor } } });
});

test("a renewal or cancellation with an older billing event changes nothing", async () => {
  const { manage } = await setupManage();
  const assign = (body: object) => manage("POST", "customers/bob/plan", { body: { plan: "pro", ...body } });
  const end = (asOf: string) => manage("DELETE", `customers/bob/plan?asOf=${asOf}`);
  await assign({ endsAt: EVEN_LATER, asOf: "2026-03-01T00:00:00Z" });
  const canceled = await assign({ endsAt: LATER, shorten: true, asOf: "2026-03-03T00:00:00Z" });
  expect(canceled.body).toMatchObject({
    outcome: "changed",
    customer: { planAsOf: "2026-03-03T00:00:00.000Z", plan: { endsAt: LATER } },
  });
  const late = await assign({ endsAt: null, asOf: "2026-03-02T00:00:00Z" });
  expect(late.body).toEqual({ ...canceled.body, outcome: "unchanged" });
  expect((await end("2026-03-02T00:00:00Z")).body).toEqual({ ...canceled.body, outcome: "unchanged" });
  expect((await end("2026-03-04T00:00:00Z")).body).toMatchObject({
    outcome: "ended",
    customer: { plan: null },
  });
  // An older billing event changes nothing, even after the plan ended.
  for (const body of [{ endsAt: null }, { plan: "pro", endsAt: LATER }]) {
    const again = await assign({ ...body, asOf: "2026-03-03T12:00:00Z" });
    expect(again.body).toMatchObject({ outcome: "unchanged", customer: { plan: null } });
  }
  expect((await assign({})).body).toMatchObject({ outcome: "changed" });
});

test("a redelivered renewal does not undo a cancellation with the same time", async () => {
  const { manage } = await setupManage();
  const asOf = "2026-03-01T00:00:00Z";
  const renew = (endsAt: string | null) =>
    manage("POST", "customers/bob/plan", { body: { plan: "pro", endsAt, shorten: true, asOf } });
  expect((await renew(null)).body["outcome"]).toBe("changed");
  expect((await renew(LATER)).body["outcome"]).toBe("changed");
  expect((await renew(null)).body).toMatchObject({
    outcome: "unchanged",
    customer: { plan: { endsAt: LATER } },
  });
  const end = () => manage("DELETE", `customers/bob/plan?asOf=${asOf}`);
  expect((await end()).body["outcome"]).toBe("ended");
  expect((await renew(null)).body).toMatchObject({ outcome: "unchanged", customer: { plan: null } });
  expect((await end()).body["outcome"]).toBe("no_assignment");
});

test("a cancellation for an unknown customer is stored, and an older assignment that arrives later is ignored", async () => {
  const { manage, database } = await setupManage();
  const end = (asOf: string) => manage("DELETE", `customers/new/plan?asOf=${asOf}`);
  expect((await manage("DELETE", "customers/new/plan")).status).toBe(404);
  expect((await end(LATER)).status).toBe(422);
  expect(await database.count("cell.customers", "customer_id = 'new'")).toBe(0);
  const kept = { plan: null, planAsOf: "2026-03-02T00:00:00.000Z" };
  expect(await end("2026-03-02T00:00:00Z")).toMatchObject({
    status: 200,
    body: { outcome: "no_assignment", customer: kept },
  });
  for (const asOf of ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"]) {
    const late = await manage("POST", "customers/new/plan", { body: { plan: "pro", asOf } });
    expect(late.body).toMatchObject({ outcome: "unchanged", customer: kept });
  }
});

test("a billing event from the future is rejected", async () => {
  const { manage } = await setupManage();
  const refused = { status: 422, body: { code: "timestamp_out_of_range" } };
  expect(await manage("POST", "customers/ada/plan", { body: { plan: "pro", asOf: LATER } })).toMatchObject(
    refused,
  );
  expect(await manage("DELETE", `customers/ada/plan?asOf=${LATER}`)).toMatchObject(refused);
});

test("twenty concurrent requests to assign the same plan assign it once", async () => {
  const { manage, database } = await setupManage();
  const replies = await Promise.all(
    times(20, () => manage("POST", "customers/bob/plan", { body: { plan: "pro" } })),
  );
  const outcomes = replies.map(({ body }) => body["outcome"]);
  expect(outcomes.filter((outcome) => outcome === "changed")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "unchanged")).toHaveLength(19);
  await expectSoundBooks(database);
});

test("ending a plan again changes nothing, and purchased credits are kept", async () => {
  const { manage, topUp } = await setupManage();
  await topUp("ada", 50);
  const end = () => manage("DELETE", "customers/ada/plan");
  expect((await end()).body).toMatchObject({
    outcome: "ended",
    customer: { plan: null, balances: [{ pool: "credits", balance: 50 }] },
  });
  expect((await end()).body).toMatchObject({ outcome: "no_assignment" });
});

test("requests for a blocked customer are denied until the customer is unblocked", async () => {
  const { manage, check } = await setupManage();
  const block = (blocked: boolean) => manage("PUT", "customers/ada/block", { body: { blocked } });
  const reason = async () => (await check({ customerId: "ada", feature: "image.render" })).body["reason"];
  expect((await block(true)).body).toMatchObject({ outcome: "changed", customer: { isBlocked: true } });
  expect((await block(true)).body).toMatchObject({ outcome: "unchanged" });
  expect(await reason()).toBe("customer_blocked");
  expect((await block(false)).body).toMatchObject({ outcome: "changed", customer: { isBlocked: false } });
  expect(await reason()).toBeNull();
});

test("erasing a customer requires an admin, and an erased customer is not found", async () => {
  const { manage, tokens } = await setupManage();
  expect((await manage("DELETE", "customers/ada", { token: tokens.operator })).status).toBe(403);
  expect((await manage("DELETE", "customers/ada", { token: tokens.admin })).body).toEqual({
    outcome: "erased",
  });
  for (const [method, path] of [
    ["GET", "customers/ada"],
    ["DELETE", "customers/ada"],
  ] as const) {
    expect((await manage(method, path)).status).toBe(404);
  }
});

test.each([
  ["a missing plan", { plan: "gold" }, "unknown_key", "`gold`"],
  ["an end date in the past", { plan: "pro", endsAt: "2020-01-01T00:00:00Z" }, "ends_in_the_past", ""],
])("%s is rejected and creates no customer", async (_name, body, code, detail) => {
  const { manage, database } = await setupManage();
  const reply = await manage("POST", "customers/bob/plan", { body });
  expect(reply).toMatchObject({ status: 422, body: { code, detail: expect.stringContaining(detail) } });
  expect(await database.count("cell.customers")).toBe(1);
});

test("customers on an archived plan keep and renew it, but it cannot be assigned to others", async () => {
  const { manage, database } = await setupManage();
  await database.query("update cell.plans set archived_at = now()");
  const assign = (customer: string) =>
    manage("POST", `customers/${customer}/plan`, { body: { plan: "pro" } });
  expect((await assign("ada")).body["outcome"]).toBe("unchanged");
  expect(await assign("bob")).toMatchObject({
    status: 422,
    body: { code: "unknown_key", detail: expect.stringContaining("archived") },
  });
  expect(await database.count("cell.customers")).toBe(1);
});

test.each([
  { plan: "" },
  { plan: "pro", endsAt: "tomorrow" },
  { plan: "pro", startsAt: "period-end" },
  { plan: "pro", anchor: "2026-01-01T00:00:00" },
  { plan: "pro", ends_at: LATER },
  {},
])("%j is an invalid assignment", async (body) => {
  const { manage } = await setupManage();
  expect(await manage("POST", "customers/ada/plan", { body })).toMatchObject({
    status: 400,
    body: { code: "invalid_request" },
  });
});

test("unknown customers and customers in another environment cannot be changed", async () => {
  const { manage, project } = await setupManage();
  const live = `/manage/v1/projects/${project.projectId}/live`;
  await manage("PUT", `${live}/customers/lea`, { body: {} });
  const details = new Set<unknown>();
  for (const id of ["nobody", "lea"]) {
    for (const [method, path, body] of [
      ["DELETE", "/plan", undefined],
      ["DELETE", "/plan/next", undefined],
      ["PUT", "/block", { blocked: true }],
      ["DELETE", "", undefined],
    ] as const) {
      const options = body === undefined ? {} : { body };
      const reply = await manage(method, `customers/${id}${path}`, options);
      expect(reply).toMatchObject({ status: 404, body: { code: "not_found" } });
      details.add(reply.body["detail"]);
    }
  }
  expect([...details]).toEqual(["There is no such customer in this environment."]);
  expect((await manage("GET", `${live}/customers/lea`)).body).toMatchObject({ isBlocked: false });
});

test("changes to a customer are audited with the actor, the request ID and the values before and after", async () => {
  const { manage, database } = await setupManage();
  const { headers } = await manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await manage("PUT", "customers/bob/block", { body: { blocked: true } });
  await manage("DELETE", "customers/bob/plan");
  await manage("DELETE", "customers/bob");
  const audits = await database.query(
    "select action, actor_kind, actor_id, request_id, before, after from cell.audit where actor_kind = 'token' order by id",
  );
  expect(audits.map(({ action }) => action)).toEqual([
    "plan.assigned",
    "customer.blocked",
    "plan.ended",
    "customer.erased",
  ]);
  expect(audits[0]).toMatchObject({
    request_id: headers.get("x-request-id"),
    before: { plan: null, balances: { credits: 0 } },
    after: { plan: "pro", balances: { credits: 100 } },
  });
  for (const { actor_id } of audits) expect(actor_id).toMatch(/^\d+$/);
});

test("a customer's metadata has a size limit, and reordering its fields is not a change", async () => {
  const { manage, database } = await setupManage();
  const put = (metadata: object) => manage("PUT", "customers/bob", { body: { metadata } });
  expect(await put({ a: "x".repeat(8_192) })).toMatchObject({
    status: 422,
    body: { code: "metadata_limit_exceeded", limit: "bytes", max: 8192, actual: 8200 },
  });
  expect((await put({ a: "x".repeat(8_184) })).status).toBe(200);
  await put({ name: 1, a: 2 });
  const before = await database.count("cell.audit");
  expect((await put({ a: 2, name: 1 })).status).toBe(200);
  expect(await database.count("cell.audit")).toBe(before);
});
