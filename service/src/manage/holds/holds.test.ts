import { expect, test } from "vitest";
import { expectVerified, expireHolds, openHolds, windBackHolds } from "../../../test/holds.ts";
import { setupManage } from "../../../test/manage.ts";
import { setupOverage } from "../../../test/overage.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

const TEXT = { feature: "text.generate", quantity: 10_000 }; // 30 credits

async function setup() {
  const managed = await setupManage();
  const list = async (query = ""): Promise<Record<string, unknown>[]> => {
    const { body } = await managed.manage("GET", `customers/ada/holds${query}`);
    return body["items"] as Record<string, unknown>[];
  };
  const logged = (count: number) =>
    expect.poll(() => managed.database.count("cell.request_log"), { interval: 50 }).toBe(count);
  return { ...managed, ...openHolds(managed), list, logged };
}

test("a customer's holds are listed with their status and outcome", async () => {
  const { open, settle, release, list, manage, database } = await setup();
  const charged = await open({ ...TEXT, onExpiry: "charge" });
  const expired = await open({ feature: "image.render" });
  await expireHolds(database);
  const settled = await open({ ...TEXT, memberId: "user_7" });
  await settle(settled, { quantity: 1_000 });
  const released = await open(TEXT);
  await release(released);
  const held = await open(TEXT);
  const shown = (await list()).map(({ holdId, status, creditsCharged, creditsReleased }) => [
    holdId,
    status,
    creditsCharged,
    creditsReleased,
  ]);
  expect(shown).toEqual([
    [held, "open", 0, 0],
    [released, "released", 0, 30],
    [settled, "settled", 3, 27],
    [expired, "expired", 0, 10],
    [charged, "charged", 30, 0],
  ]);
  expect((await list("?status=open")).map(({ holdId }) => holdId)).toEqual([held]);
  const customer = (await manage("GET", "customers/ada")).body;
  expect(customer["balances"]).toEqual([{ pool: "credits", balance: 37, held: 30, overage: null }]);
  const grants = (await manage("GET", "customers/ada/grants")).body["items"];
  expect(grants).toMatchObject([{ grant: 1, credits: 100, remaining: 37, held: 30 }]);
});

test("the ledger and exports show a charge's hold and the uncovered part of its price", async () => {
  const { open, settle, manage } = await setup();
  const holdId = await open(TEXT);
  await settle(holdId, { quantity: 20_000, atMostHeld: true });
  const ledger = (await manage("GET", "customers/ada/ledger")).body["items"];
  expect(ledger).toMatchObject([
    { kind: "consume", amount: -30, holdId, uncovered: 30 },
    { kind: "grant", holdId: null, uncovered: 0 },
  ]);
  const rows = (await manage("GET", "exports/charges?format=ndjson")).text.trim().split("\n");
  expect(JSON.parse(rows[0] ?? "")).toMatchObject({ credits: 30, holdId, uncovered: 30 });
});

test("search finds a hold by its ID", async () => {
  const { open, manage, here } = await setup();
  const holdId = await open(TEXT);
  const { holds } = (await manage("GET", `/manage/v1/search?q=${holdId}`)).body;
  expect(holds).toMatchObject([{ customerId: "ada", holdId, environment: "test" }]);
  const live = (await manage("GET", `${here.replace("/test", "/live")}/search?q=${holdId}`)).body;
  expect(live["holds"]).toEqual([]);
});

test("an operator releases a hold, and a later settlement is rejected", async () => {
  const { open, settle, list, manage, tokens, balance, database } = await setup();
  const holdId = await open(TEXT);
  const path = `customers/ada/holds/${holdId}/release`;
  expect((await manage("POST", path, { body: {}, token: tokens.viewer })).status).toBe(403);
  const reply = await manage("POST", path, { body: {} });
  expect(reply.body).toEqual({ outcome: "released", credits: 30, overageCredits: 0 });
  expect((await manage("POST", path, { body: {} })).body["code"]).toBe("hold_released");
  expect((await settle(holdId)).body["code"]).toBe("hold_released");
  expect(await balance()).toBe(100);
  expect(await list()).toMatchObject([{ status: "released", creditsReleased: 30 }]);
  const [entry] = (await manage("GET", "audit?action=hold.released")).body["items"] as object[];
  expect(entry).toMatchObject({ subject: holdId, after: { credits: 30, balances: { credits: 100 } } });
  expect(entry).not.toHaveProperty("after.overageCredits");
  await expectVerified(database);
});

test("a release by an operator returns the overage of a hold, and the audit log shows it", async () => {
  const { open, manage, database } = await setupOverage(50);
  const holdId = await open({ feature: "image.render", quantity: 12 });
  const balances = async () => (await manage("GET", "customers/ada")).body["balances"];
  expect(await balances()).toMatchObject([{ balance: 0, held: 100, overage: { held: 20, remaining: 30 } }]);
  const released = await manage("POST", `customers/ada/holds/${holdId}/release`, { body: {} });
  expect(released.body).toEqual({ outcome: "released", credits: 100, overageCredits: 20 });
  expect(await balances()).toMatchObject([{ balance: 100, held: 0, overage: { held: 0, remaining: 50 } }]);
  const [entry] = (await manage("GET", "audit?action=hold.released")).body["items"] as object[];
  expect(entry).toMatchObject({ subject: holdId, after: { credits: 100, overageCredits: 20 } });
  await expectVerified(database);
});

test("an operator cannot release a hold that has ended or belongs to another customer", async () => {
  const { open, settle, assign, manage, database } = await setup();
  await assign("bob");
  const settled = await open(TEXT);
  await settle(settled);
  const expired = await open(TEXT);
  const release = async (customer: string, holdId: string) =>
    (await manage("POST", `customers/${customer}/holds/${holdId}/release`, { body: {} })).body["code"];
  expect(await release("ada", settled)).toBe("hold_settled");
  expect(await release("bob", expired)).toBe("hold_not_found");
  expect(await release("nobody", expired)).toBe("not_found");
  await expireHolds(database);
  expect(await release("ada", expired)).toBe("hold_expired");
  await expectVerified(database);
});

test("holds opened before the history window are listed only while they are open", async () => {
  const { open, settle, list, manage, database } = await setup();
  const settled = await open(TEXT);
  await settle(settled);
  const old = await open({ ...TEXT, expiresInSeconds: 86_400 });
  await manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax: 1 } } });
  await windBackHolds(database, DAY_MS + 1_000);
  expect(await list()).toEqual([]);
  await database.query("update cell.open_holds set expires_at = now() + interval '1 hour'");
  await database.query("set session_replication_role = replica");
  await database.query(
    "update cell.hold_changes set expires_at = now() + interval '1 hour' where hold_number = 2",
  );
  expect(await list()).toMatchObject([{ status: "open" }]);
  expect(old).not.toBe(settled);
});

test("an idempotency key shows the hold it opened, and which fields differ in a rejected request", async () => {
  const { hold, extend, manage, logged } = await setup();
  const body = { ...TEXT, idempotencyKey: "job-1", memberId: "user_7" };
  const first = await hold(body);
  await extend(String(first.body["holdId"]), { quantity: 20_000 });
  await hold(body);
  await hold({ ...body, expiresInSeconds: 60 });
  await hold({ ...body, quantity: 1, onExpiry: "charge" });
  await logged(5);
  const story = (await manage("GET", "keys/job-1")).body;
  expect(story).toMatchObject({
    state: "kept",
    endpoint: "holds",
    customerId: "ada",
    charge: null,
    hold: { holdId: first.body["holdId"], status: "open", creditsHeld: 60, memberId: "user_7" },
  });
  expect(JSON.stringify(story["answer"])).toBe(first.text);
  const uses = story["uses"] as { endpoint: string; refused: { differs: string[] } | null }[];
  expect(uses.map(({ endpoint, refused }) => [endpoint, refused?.differs ?? null])).toEqual([
    ["holds", ["quantity", "onExpiry"]],
    ["holds", ["expiresInSeconds"]],
    ["holds", null],
    ["holds", null],
  ]);
});

test("a customer's request log includes requests to hold endpoints, and lists each request once", async () => {
  const { hold, open, settle, release, extend, manage, logged } = await setup();
  const first = await open(TEXT);
  await extend(first, { quantity: 11_000 });
  await settle(first, { quantity: 1_000 });
  await release(await open(TEXT));
  await hold({ feature: "image.render", quantity: 1_000 });
  await logged(6);
  const items = (await manage("GET", "customers/ada/requests")).body["items"] as Record<string, unknown>[];
  expect(items.map(({ kind, endpoint }) => `${kind} ${endpoint}`).sort()).toEqual([
    "charge holds/settle",
    "denial holds",
    "logged holds",
    "logged holds",
    "logged holds/extend",
    "logged holds/release",
  ]);
});
