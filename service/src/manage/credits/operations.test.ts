import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import type { Reply } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { times } from "../../../test/two-services.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";
import { defineFeature } from "../features/define-feature.ts";

const TOP_UP = { credits: 50, kind: "purchase" };

function add({ manage }: Managed, body: object, customer = "ada"): Promise<Reply> {
  return manage("POST", `customers/${customer}/credits`, { body: { ...TOP_UP, ...body } });
}

async function render({ consume }: Managed, quantity: number, idempotencyKey = "key"): Promise<string> {
  const { body } = await consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  return String(body["consumeId"]);
}

test("without a reference, each top-up adds credits again and returns the balance before and after", async () => {
  const managed = await setupManage();
  expect((await add(managed, {})).body).toEqual({
    outcome: "added",
    grant: 2,
    balanceBefore: 100,
    balanceAfter: 150,
  });
  expect((await add(managed, {})).body).toEqual({
    outcome: "added",
    grant: 3,
    balanceBefore: 150,
    balanceAfter: 200,
  });
  await expectSoundBooks(managed.database);
});

test("a top-up with a reference adds credits once, even if requested twenty times concurrently", async () => {
  const managed = await setupManage();
  const replies = await Promise.all(times(20, () => add(managed, { reference: "pay_1" })));
  const outcomes = replies.map(({ body }) => body["outcome"]);
  expect(outcomes.filter((outcome) => outcome === "added")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "already_added")).toHaveLength(19);
  for (const { body } of replies) expect(body).toMatchObject({ grant: 2, balanceAfter: 150 });
  await expectSoundBooks(managed.database);
});

test("twenty slow concurrent top-ups for one customer succeed and leave connections free", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await database.query(`
    create function public.dawdle() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.12); return null; end $$;
    create trigger dawdle after insert on cell.audit for each row execute function public.dawdle();`);
  const additions = times(20, (i) => add(managed, i % 2 === 0 ? {} : { reference: `pay_${i}` }));
  const others = times(5, (i) => add(managed, { reference: `other_${i}` }, `bob${i}`));
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual(times(5, () => 200));
  const replies = await Promise.all(additions);
  expect(replies.map(({ status }) => status)).toEqual(times(20, () => 200));
  const balances = replies.map(({ body }) => Number(body["balanceAfter"])).sort((a, b) => a - b);
  expect(balances).toEqual(times(20, (i) => 100 + 50 * (i + 1)));
  await expectSoundBooks(database);
});

test("twenty concurrent top-ups, reversals and charges for one customer all succeed", async () => {
  const managed = await setupManage();
  const { database, consume, manage } = managed;
  const charges = await Promise.all(times(5, (i) => render(managed, 1, `earlier-${i}`)));
  const replies = await Promise.all([
    ...times(20, (i) => add(managed, { reference: `pay_${i % 15}` })),
    ...charges.map((id) => manage("POST", `customers/ada/consumes/${id}/reverse`, { body: {} })),
    ...times(20, (i) => consume({ customerId: "ada", feature: "text.generate", idempotencyKey: `c${i}` })),
  ]);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  expect((await manage("GET", "customers/ada")).body).toMatchObject({
    balances: [{ balance: 100 + 15 * 50 - 20 }],
  });
  await expectSoundBooks(database);
});

test("a reversal that would make the balance too large is rejected, as a top-up would be", async () => {
  const managed = await setupManage();
  const { manage, consume, publish, context, cell, database } = managed;
  const reel = { key: "reel", name: "Reel", unit: null, pool: "credits", cost: { credits: 1e9, per: 1 } };
  await defineFeature(cell, context, reel);
  await publish({ reach: "now", features: [{ feature: "reel", limit: null }] });
  const fill = async (): Promise<void> => {
    while ((await add(managed, { credits: 1e15 })).status === 200);
  };
  await fill();
  const charged = await consume({ customerId: "ada", feature: "reel", quantity: 1e6, idempotencyKey: "k" });
  expect(charged.body).toMatchObject({ allowed: true, creditsCharged: 1e15 });
  await fill();
  const path = `customers/ada/consumes/${String(charged.body["consumeId"])}/reverse`;
  for (const call of [`${path}/preview`, path]) {
    expect(await manage("POST", call, { body: {} })).toMatchObject({
      status: 422,
      body: { code: "balance_too_large" },
    });
  }
  // A partial reversal that fits succeeds, and a new period still grants its allowance.
  expect((await manage("POST", path, { body: { quantity: 1 } })).status).toBe(200);
  await windBack(database, 40 * DAY_MS);
  expect((await consume({ customerId: "ada", feature: "reel", idempotencyKey: "l" })).body["allowed"]).toBe(
    true,
  );
  await expectSoundBooks(database);
});

test("a repeated top-up with a reference returns the current balance", async () => {
  const managed = await setupManage();
  await add(managed, { reference: "pay_1" });
  await render(managed, 5);
  await windBack(managed.database, 40 * DAY_MS);
  expect((await add(managed, { reference: "pay_1" })).body).toEqual({
    outcome: "already_added",
    grant: 2,
    balanceBefore: 150,
    balanceAfter: 150,
  });
});

test("a reference already used for different credits is rejected", async () => {
  const managed = await setupManage();
  await add(managed, { reference: "pay_1" });
  for (const [body, customer] of [
    [{ credits: 51 }, "ada"],
    [{ kind: "manual" }, "ada"],
    [{}, "bob"],
  ] as const) {
    expect(await add(managed, { ...body, reference: "pay_1" }, customer)).toMatchObject({
      status: 409,
      body: { code: "reference_reused" },
    });
  }
  expect(await managed.database.count("cell.customers")).toBe(1);
});

test.each([
  [{ pool: "gold" }, "unknown_key", "`gold`"],
  [{ expiresAt: "2020-01-01T00:00:00Z" }, "ends_in_the_past", "`expiresAt`"],
  [{ credits: Number.MAX_SAFE_INTEGER }, "balance_too_large", ""],
])("a top-up of %j is rejected and creates no customer", async (body, code, detail) => {
  const managed = await setupManage();
  expect(await add(managed, body, "bob")).toMatchObject({
    status: 422,
    body: { code, detail: expect.stringContaining(detail) },
  });
  expect(await managed.database.count("cell.customers")).toBe(1);
});

test("a top-up that would create the 51st open grant is rejected", async () => {
  const managed = await setupManage();
  const expiresAt = (day: number) => new Date(Date.now() + day * DAY_MS).toISOString();
  for (let day = 1; day <= 49; day++) {
    expect((await add(managed, { credits: 1, expiresAt: expiresAt(day) })).status).toBe(200);
  }
  expect(await add(managed, { expiresAt: expiresAt(50) })).toMatchObject({
    status: 422,
    body: { code: "too_many_grants" },
  });
});

test.each([
  { credits: 0 },
  { credits: 1.5 },
  { credits: "50" },
  { kind: "allowance" },
  { reference: "" },
  { reference: "erased:1" },
  { price: { amount: 1 } },
  { price: { amount: 1, currency: "euro" } },
  { expiresAt: "2999-01-01" },
  { nonce: "1" },
])("a top-up with the body %j is rejected", async (body) => {
  const managed = await setupManage();
  expect(await add(managed, body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
});

test("a charge can be reversed in parts, but never by more than its remaining quantity", async () => {
  const managed = await setupManage();
  const consumeId = await render(managed, 5);
  const reverse = (body: object) =>
    managed.manage("POST", `customers/ada/consumes/${consumeId}/reverse`, { body });
  expect((await reverse({ quantity: 2 })).body).toMatchObject({
    outcome: "reversed",
    quantity: 2,
    credits: 20,
    customer: { balances: [{ balance: 70 }] },
  });
  expect(await reverse({ quantity: 4 })).toMatchObject({
    status: 409,
    body: { code: "nothing_to_reverse", reversible: 3, detail: expect.stringContaining("3") },
  });
  expect((await reverse({})).body).toMatchObject({ quantity: 3, customer: { balances: [{ balance: 100 }] } });
  expect(await reverse({})).toMatchObject({
    status: 409,
    body: { code: "nothing_to_reverse", reversible: 0 },
  });
  expect((await reverse({ quantity: 0 })).status).toBe(400);
  await expectSoundBooks(managed.database);
});

test("a partial reversal with a reference happens once, even if requested eight times concurrently", async () => {
  const managed = await setupManage();
  const consumeId = await render(managed, 5);
  const reverse = (body: object) =>
    managed.manage("POST", `customers/ada/consumes/${consumeId}/reverse`, { body });
  const replies = await Promise.all(times(8, () => reverse({ quantity: 2, reference: "ticket-1" })));
  const outcomes = replies.map(({ body }) => body["outcome"]);
  expect(outcomes.filter((outcome) => outcome === "reversed")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "already_reversed")).toHaveLength(7);
  expect(await reverse({ quantity: 1, reference: "ticket-1" })).toMatchObject({
    status: 409,
    body: { code: "reference_reused" },
  });
  expect((await reverse({ reference: "ticket-2" })).body).toMatchObject({ quantity: 3, credits: 30 });
  expect((await reverse({ reference: "ticket-2" })).body).toMatchObject({
    outcome: "already_reversed",
    quantity: 3,
    credits: 30,
  });
  await expectSoundBooks(managed.database);
});

test("a charge cannot be reversed through another customer or environment", async () => {
  const managed = await setupManage();
  const { manage, project } = managed;
  const consumeId = await render(managed, 5);
  await managed.assign("bob");
  const live = `/manage/v1/projects/${project.projectId}/live`;
  await manage("PUT", `${live}/customers/ada`, { body: {} });
  for (const path of [
    `customers/bob/consumes/${consumeId}/reverse`,
    `customers/nobody/consumes/${consumeId}/reverse`,
    `customers/ada/consumes/con_00000000000000000000000000/reverse`,
    `customers/ada/consumes/what/reverse`,
    `${live}/customers/ada/consumes/${consumeId}/reverse`,
  ]) {
    expect(await manage("POST", path, { body: {} })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
  }
  expect((await manage("GET", "customers/ada")).body).toMatchObject({ balances: [{ balance: 50 }] });
});
