import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";
import { setDefaultPlan } from "../plans/operations.ts";

type Row = Record<string, unknown>;

/** Reads every page of a list, and counts the pages. */
async function readAll({ manage }: Managed, path: string): Promise<{ items: Row[]; pages: number }> {
  const items: Row[] = [];
  const sign = path.includes("?") ? "&" : "?";
  let cursor = "";
  for (let pages = 1; ; pages++) {
    const reply = await manage("GET", `${path}${cursor}`);
    expect(reply.status, reply.text).toBe(200);
    items.push(...(reply.body["items"] as Row[]));
    if (reply.body["nextCursor"] === null) return { items, pages };
    cursor = `${sign}cursor=${reply.body["nextCursor"]}`;
  }
}

/** Creates charges, a denial, top-ups, a reversal, a revocation and two plan changes. */
async function live(managed: Managed): Promise<string> {
  const { manage, consume, publish } = managed;
  const charge = (feature: string, quantity: number, key: string) =>
    consume({ customerId: "ada", feature, quantity, idempotencyKey: key, metadata: { key } });
  const { body } = await charge("image.render", 3, "first");
  const consumeId = String(body["consumeId"]);
  await charge("export", 2, "second");
  await charge("image.render", 100, "denied");
  await charge("export", 4, "limited");
  const add = (extra: object) =>
    manage("POST", "customers/ada/credits", { body: { credits: 40, kind: "purchase", ...extra } });
  await add({ reference: "pay_1", price: { amount: 900, currency: "EUR" }, note: "thanks" });
  await add({});
  await charge("image.render", 11, "third");
  await manage("POST", `customers/ada/consumes/${consumeId}/reverse`, {
    body: { quantity: 1, note: "sorry" },
  });
  await manage("POST", "customers/ada/grants/3/revoke");
  await publish({ key: "max", name: "Max" });
  await manage("POST", "customers/ada/plan", { body: { plan: "max" } });
  return consumeId;
}

test("the ledger's pages have no gaps, and their entries add up to the balance", async () => {
  const managed = await setupManage();
  await live(managed);
  const { items, pages } = await readAll(managed, "customers/ada/ledger?limit=3");
  expect(pages).toBe(Math.ceil(items.length / 3));
  expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, index) => items.length - index));
  const { body } = await managed.manage("GET", "customers/ada");
  const sum = items.reduce((total, { amount }) => total + Number(amount), 0);
  expect(body["balances"]).toEqual([{ pool: "credits", balance: sum, held: 0, overage: null }]);
  expect(items[0]?.["balanceAfter"]).toBe(sum);
});

test("a ledger entry shows what happened, and a charge shows its reversed quantity", async () => {
  const managed = await setupManage();
  const consumeId = await live(managed);
  const { items } = await readAll(managed, "customers/ada/ledger");
  expect(items.find((entry) => entry["consumeId"] === consumeId)).toEqual({
    sequence: 2,
    kind: "consume",
    pool: "credits",
    amount: -30,
    balanceAfter: 70,
    effectiveAt: expect.any(String),
    recordedAt: expect.any(String),
    feature: "image.render",
    quantity: 3,
    plan: { key: "pro", version: 1 },
    overrides: null,
    consumeId,
    item: null,
    holdId: null,
    uncovered: 0,
    overage: 0,
    reversedQuantity: 1,
    reverses: null,
    idempotencyKey: "first",
    memberId: null,
    metadata: { key: "first" },
    parts: [{ grant: 1, amount: -30 }],
  });
  expect(items.find(({ kind }) => kind === "reverse")).toMatchObject({
    reverses: consumeId,
    consumeId: null,
    reversedQuantity: null,
    quantity: 1,
    amount: 10,
    metadata: { note: "sorry" },
    idempotencyKey: null,
  });
  expect(items.at(-1)).toMatchObject({ kind: "grant", feature: null, plan: null, metadata: null });
});

test("the ledger can be filtered by kind and feature", async () => {
  const managed = await setupManage();
  await live(managed);
  const { items } = await readAll(managed, "customers/ada/ledger");
  const read = async (filter: string) =>
    (await readAll(managed, `customers/ada/ledger?limit=2&${filter}`)).items;
  expect(await read("kind=consume")).toEqual(items.filter(({ kind }) => kind === "consume"));
  expect(await read("feature=export")).toEqual(items.filter(({ feature }) => feature === "export"));
  expect(await read("kind=reverse&feature=image.render")).toHaveLength(1);
  expect(await read("feature=nothing")).toEqual([]);
  expect((await managed.manage("GET", "customers/ada/ledger?kind=what")).status).toBe(400);
});

test("a ledger page for a time range shows the balance before that range", async () => {
  const managed = await setupManage();
  await live(managed);
  const { items } = await readAll(managed, "customers/ada/ledger");
  const [from, to] = [String(items.at(-3)?.["effectiveAt"]), String(items[2]?.["effectiveAt"])];
  const isWithin = ({ effectiveAt }: Row) => String(effectiveAt) >= from && String(effectiveAt) < to;
  const within = items.filter(isWithin);
  expect(within.length).toBeGreaterThan(2);
  const range = `customers/ada/ledger?limit=2&from=${from}&to=${to}`;
  expect((await readAll(managed, range)).items).toEqual(within);
  expect((await readAll(managed, `${range}&kind=consume`)).items).toEqual(
    within.filter(({ kind }) => kind === "consume"),
  );
  const { body } = await managed.manage("GET", `customers/ada/ledger?from=${from}&to=${to}`);
  const oldest = within.at(-1);
  const amount = Number(oldest?.["balanceAfter"]) - Number(oldest?.["amount"]);
  expect(body["broughtForward"]).toEqual([{ pool: "credits", amount, before: from }]);
  expect((await readAll(managed, `customers/ada/ledger?from=${to}&to=${from}`)).items).toEqual([]);
  expect((await managed.manage("GET", "customers/ada/ledger?from=yesterday")).status).toBe(400);
});

test("a filtered page of a long ledger can be short, and its cursor finds the remaining matches", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const first = await managed.consume({ customerId: "ada", feature: "export", idempotencyKey: "k" });
  expect(first.body["allowed"]).toBe(true);
  await database.query("set session_replication_role = replica");
  await database.query(`
    insert into cell.ledger (recorded_at, customer_number, sequence, amount, balance_after, environment_id, pool_id,
      feature_id, quantity, plan_version_id, assignment_number, kind, parts)
    select e.recorded_at, e.customer_number, s, 0, 100, e.environment_id, e.pool_id,
      (select id from cell.features where key = 'image.render'), 1, e.plan_version_id, 1, 2, ''
    from cell.ledger as e
    cross join generate_series(3, 12000) as s
    where e.sequence = 2`);
  await database.query("update cell.wallets set sequence = 12000");
  const { items, pages } = await readAll(managed, "customers/ada/ledger?feature=export&limit=50");
  expect([items.length, items[0]?.["sequence"], pages]).toEqual([1, 2, 2]);
});

test("grants are listed with the credits that the next request can spend", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  const add = (body: object) => manage("POST", "customers/ada/credits", { body });
  await add({ credits: 40, kind: "purchase", reference: "pay_1", price: { amount: 900, currency: "EUR" } });
  await add({ credits: 30, kind: "purchase", note: "more" });
  await add({ credits: 20, kind: "purchase" });
  const expiresAt = new Date(Date.now() + 10 * DAY_MS).toISOString();
  await add({ credits: 7, kind: "promotion", expiresAt });
  await managed.consume({ customerId: "ada", feature: "image.render", quantity: 15, idempotencyKey: "k" });
  await manage("POST", "customers/ada/grants/4/revoke");
  const read = async () => {
    const { items } = await readAll(managed, "customers/ada/grants?limit=2");
    return items.map(({ grant, remaining }) => [grant, remaining]);
  };
  // Of the 150 credits charged, 107 came from expiring credits and 43 from the oldest purchases.
  expect(await read()).toEqual([
    [5, 0],
    [4, 0],
    [3, 27],
    [2, 0],
    [1, 0],
  ]);
  const { items } = await readAll(managed, "customers/ada/grants");
  expect(items[3]).toEqual({
    grant: 2,
    kind: "purchase",
    pool: "credits",
    credits: 40,
    remaining: 0,
    held: 0,
    expiresAt: null,
    effectiveAt: expect.any(String),
    recordedAt: expect.any(String),
    revokedAt: null,
    reference: "pay_1",
    price: { amount: 900, currency: "EUR" },
    note: null,
    movedFrom: null,
    movedTo: null,
  });
  expect(items[1]).toMatchObject({ grant: 4, revokedAt: expect.any(String) });
  await add({ credits: 5, kind: "promotion", expiresAt });
  expect((await read())[0]).toEqual([6, 5]);
  await windBack(database, 40 * DAY_MS);
  expect((await read())[0]).toEqual([6, 0]);
});

test("the plan history lists every change, newest first", async () => {
  const managed = await setupManage();
  const { manage, cell, context, publish } = managed;
  await publish({ key: "free", name: "Free" });
  await setDefaultPlan(cell, context, { plan: "free" });
  const endsAt = "2999-01-01T00:00:00.000Z";
  await manage("POST", "customers/ada/plan", { body: { plan: "free", endsAt } });
  await manage("POST", "customers/ada/plan", { body: { plan: "free", endsAt: null } });
  await manage("DELETE", "customers/ada/plan");
  const { items } = await readAll(managed, "customers/ada/plans?limit=2");
  expect(items.map(({ change, plan, isDefault }) => [change, (plan as Row)["key"], isDefault])).toEqual([
    ["resumed", "free", true],
    ["ended", "free", false],
    ["extended", "free", false],
    ["started", "free", false],
    ["ended", "pro", false],
    ["started", "pro", false],
  ]);
  expect(items[3]).toEqual({
    change: "started",
    plan: { key: "free", version: 1 },
    isDefault: false,
    anchor: expect.any(String),
    endsAt,
    effectiveAt: expect.any(String),
    recordedAt: expect.any(String),
  });
});

test("denials are listed with the balance, cost and limit at that time", async () => {
  const managed = await setupManage();
  await live(managed);
  const { items } = await readAll(managed, "customers/ada/denials?limit=1");
  expect(items.map(({ reason }) => reason)).toEqual(["limit_reached", "insufficient_credits"]);
  expect(items[0]).toMatchObject({ limit: { quantity: 5, used: 2 }, quantity: 4, feature: "export" });
  expect(items[1]).toEqual({
    denialId: expect.stringMatching(/^den_[0-9a-z]{26}$/),
    reason: "insufficient_credits",
    feature: "image.render",
    quantity: 100,
    creditsRequired: 1000,
    balance: 70,
    limit: null,
    resetsAt: expect.any(String),
    plan: { key: "pro", version: 1 },
    overrides: null,
    idempotencyKey: "denied",
    memberId: null,
    metadata: { key: "denied" },
    deniedItem: null,
    items: null,
    recordedAt: expect.any(String),
  });
});

test("denials with the same timestamp are listed once each", async () => {
  const managed = await setupManage();
  const ask = (i: number) =>
    managed.consume({ customerId: "ada", feature: "image.render", quantity: 99, idempotencyKey: `k${i}` });
  await Promise.all(Array.from({ length: 30 }, (_, i) => ask(i)));
  const { items } = await readAll(managed, "customers/ada/denials?limit=4");
  expect(items).toHaveLength(30);
  expect(new Set(items.map(({ denialId }) => denialId)).size).toBe(30);
});

test("the ledger, grants, plans and denials of unknown customers and of other environments are not found", async () => {
  const managed = await setupManage();
  const { manage, project } = managed;
  const live = `/manage/v1/projects/${project.projectId}/live`;
  await manage("PUT", `${live}/customers/lea`, { body: {} });
  for (const list of ["ledger", "grants", "plans", "denials"]) {
    for (const customer of ["nobody", "lea"]) {
      expect(await manage("GET", `customers/${customer}/${list}`)).toMatchObject({
        status: 404,
        body: { code: "not_found", detail: "There is no such customer in this environment." },
      });
    }
    expect((await manage("GET", `${live}/customers/lea/${list}`)).body).toMatchObject({
      items: [],
      nextCursor: null,
    });
    for (const cursor of ["nonsense", Buffer.from('["x"]').toString("base64url"), "WzEsMl0"]) {
      expect((await manage("GET", `customers/ada/${list}?cursor=${cursor}`)).status).toBe(400);
    }
    const far = Buffer.from(list === "denials" ? '["den_7zzzzzzzzzzzzzzzzzzzzzzzzz"]' : "[9007199254740991]");
    expect((await manage("GET", `customers/ada/${list}?cursor=${far.toString("base64url")}`)).status).toBe(
      200,
    );
    const low = list === "denials" ? '["den_00000000000000000000000000"]' : "[-9007199254740991]";
    const nothing = await manage(
      "GET",
      `customers/ada/${list}?cursor=${Buffer.from(low).toString("base64url")}`,
    );
    expect(nothing.body).toMatchObject({ items: [], nextCursor: null });
  }
});
