import { expect, test } from "vitest";
import { openHolds } from "../../../test/holds.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { setupOverage } from "../../../test/overage.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { blockCustomer } from "../customers/block-customer.ts";
import { defineFeature } from "../features/define-feature.ts";

const ADA = brandAs<CustomerId>("ada");

type Explained = Record<string, unknown> & { readonly sentences: string[] };

/** Explains the newest denial of ada. */
async function explain({ manage }: Pick<Managed, "manage">): Promise<Explained> {
  const { body } = await manage("GET", "customers/ada/requests");
  const newest = (body["items"] as { kind: string; id: string }[]).find(({ kind }) => kind === "denial");
  const reply = await manage("GET", `denials/${newest?.id}`);
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply.body as Explained;
}

let count = 0;
const ask = (managed: Pick<Managed, "consume">, feature: string, quantity = 1) =>
  managed.consume({ customerId: "ada", feature, quantity, idempotencyKey: `ask-${count++}` });

test("a denial for lack of credits shows amounts, grants and earlier charges that add up", async () => {
  const managed = await setupManage();
  await managed.topUp("ada", 7);
  await ask(managed, "image.render", 9);
  await ask(managed, "text.generate", 1000);
  await ask(managed, "image.render", 5);
  const explained = await explain(managed);
  expect(explained).toMatchObject({
    customerId: "ada",
    reason: "insufficient_credits",
    feature: "image.render",
    quantity: 5,
    creditsRequired: 50,
    balance: 14,
    pool: "credits",
    limit: null,
    plan: { key: "pro", name: "Pro", version: 1 },
    openGrants: [
      { kind: "allowance", remaining: 7, pool: "credits", expiresAt: explained["resetsAt"] },
      { kind: "manual", remaining: 7, expiresAt: null },
    ],
    chargesBefore: [
      { feature: "text.generate", credits: 3, balanceAfter: 14 },
      { feature: "image.render", quantity: 9, credits: 90, balanceAfter: 17 },
    ],
    now: { allowed: false, reason: "insufficient_credits", creditsRequired: 50, balance: 14 },
  });
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(String(explained["resetsAt"])) ?? [];
  expect(explained.sentences).toEqual([
    "The request needed 50 credits for 5 × image.render. Only 14 credits were left.",
    expect.stringMatching(
      new RegExp(`^Plan credits reset on ${Number(day)} [A-Z][a-z]+ ${year} \\d\\d:\\d\\d UTC\\.$`),
    ),
    "The same request would still be denied now: only 14 credits are left.",
  ]);
  expect(Number(month)).toBeGreaterThan(0);
});

test("after a top-up, the same request would be allowed, and the denial keeps its numbers", async () => {
  const managed = await setupManage();
  await ask(managed, "image.render", 11);
  await managed.topUp("ada", 10);
  const explained = await explain(managed);
  expect(explained).toMatchObject({
    balance: 100,
    openGrants: [{ kind: "allowance", remaining: 100 }],
    now: { allowed: true, reason: null, balance: 110 },
  });
  expect(explained.sentences.at(-1)).toBe("The same request would be allowed now.");
  // Explaining writes nothing.
  expect(await managed.database.count("cell.ledger", "kind = 2")).toBe(0);
});

test("after a price change, the explanation shows what the same request would cost now", async () => {
  const managed = await setupManage();
  const { cell, context, publish } = managed;
  await ask(managed, "image.render", 11);
  const cost = { credits: 20, per: 1 };
  const feature = { key: "image.render", name: "Images", unit: null, pool: "credits", cost };
  await defineFeature(cell, context, feature);
  await publish({ reach: "now" });
  const { sentences, creditsRequired, plan } = await explain(managed);
  expect([creditsRequired, plan]).toMatchObject([110, { version: 1 }]);
  expect(sentences.at(-1)).toBe(
    "The same request would still be denied now: it would need 220 credits, and only 100 credits are left.",
  );
});

test("a denial for a reached limit shows the limit's use and reset time", async () => {
  const managed = await setupManage();
  await ask(managed, "export", 4);
  await ask(managed, "export", 2);
  const explained = await explain(managed);
  expect(explained).toMatchObject({
    reason: "limit_reached",
    creditsRequired: 0,
    balance: 100,
    limit: { quantity: 5, used: 4, remaining: 1, resetsAt: expect.stringMatching(/Z$/) },
    resetsAt: expect.stringMatching(/Z$/),
    chargesBefore: [{ feature: "export", quantity: 4, credits: 0 }],
    now: { allowed: false, reason: "limit_reached", limit: { used: 4 } },
  });
  expect(explained["resetsAt"]).not.toBe((explained["limit"] as Record<string, unknown>)["resetsAt"]);
  expect(explained.sentences).toEqual([
    "Plan Pro, version 1, allows a quantity of at most 5 a day for export.",
    "4 were used, and the request needed 2 more.",
    expect.stringMatching(/^The limit resets on .+ UTC\.$/),
    "The same request would still be denied now (limit_reached).",
  ]);
});

test("denials for a missing feature and for a blocked customer are explained", async () => {
  const managed = await setupManage();
  await ask(managed, "video.render");
  const missing = await explain(managed);
  expect(missing).toMatchObject({ reason: "feature_not_in_plan", creditsRequired: 50, balance: 100 });
  expect(missing.sentences[0]).toBe("Plan Pro, version 1, does not include video.render.");
  await blockCustomer(managed.cell, managed.context, { customerId: ADA, isBlocked: true });
  await ask(managed, "image.render");
  const blocked = await explain(managed);
  expect(blocked).toMatchObject({ reason: "customer_blocked", now: { reason: "customer_blocked" } });
  await blockCustomer(managed.cell, managed.context, { customerId: ADA, isBlocked: false });
  expect((await explain(managed)).sentences).toEqual([
    "The customer was blocked. All checks, charges and new holds for a blocked customer are denied.",
    "The same request would be allowed now.",
  ]);
});

test("denials in another environment and unknown denials get the same not-found response", async () => {
  const managed = await setupManage();
  const { manage, here } = managed;
  await ask(managed, "image.render", 100);
  const { denialId } = await explain(managed);
  const elsewhere = await manage("GET", `${here.replace("test", "live")}/denials/${denialId}`);
  const never = await manage("GET", "denials/den_01m7e9sv4w7w8rj0k3v3k4fb8p");
  expect([elsewhere.status, elsewhere.body["detail"]]).toEqual([404, never.body["detail"]]);
  for (const id of ["nonsense", "con_01m7e9sv4w7w8rj0k3v3k4fb8p", "den_7zzzzzzzzzzzzzzzzzzzzzzzzz"])
    expect((await manage("GET", `denials/${id}`)).status).toBe(404);
});

test("the explanation of a denial ignores the response to a later request that reused the key", async () => {
  const managed = await setupManage();
  await ask(managed, "export", 4);
  await ask(managed, "export", 2);
  expect((await explain(managed))["resetsAt"]).not.toBeNull();
  // Simulates a key that expired and was reused for another customer's charge.
  await managed.database.query("set session_replication_role = replica");
  await managed.database.query("update cell.keyed_requests set subject_id = gen_random_uuid()");
  const { resetsAt, limit } = await explain(managed);
  expect([resetsAt, limit]).toEqual([
    null,
    expect.objectContaining({ used: 4, resetsAt: expect.any(String) }),
  ]);
});

test("a denial shows the remaining overage and subtracts it from the shortfall", async () => {
  const managed = await setupOverage(50);
  const { publish, database } = managed;
  // Charges 100 credits and 20 overage credits. 10 more overage credits are held, so 20 of 50 are left.
  await ask(managed, "image.render", 12);
  await managed.open({ feature: "image.render" });
  await ask(managed, "image.render", 5);
  const overage = { credits: 50, used: 20, remaining: 20 };
  const numbers = { reason: "insufficient_credits", creditsRequired: 50, balance: 0, overage, shortfall: 30 };
  const explained = await explain(managed);
  expect(explained).toMatchObject({
    ...numbers,
    now: { ...numbers, allowed: false },
    chargesBefore: [{ credits: 100, overageCredits: 20, reversedOverageCredits: 0 }],
  });
  expect([explained.sentences[0], explained.sentences.at(-1)]).toEqual([
    "The request needed 50 credits for 5 × image.render. No credits were left, and only 20 of the 50 credits of overage.",
    "The same request would still be denied now: no credits are left, and only 20 of the 50 credits of overage.",
  ]);
  // Adding exactly the shortfall makes the request possible.
  await managed.topUp("ada", 29);
  expect((await explain(managed))["now"]).toMatchObject({ allowed: false, balance: 29, shortfall: 1 });
  await managed.topUp("ada", 1);
  expect((await explain(managed))["now"]).toMatchObject({
    allowed: true,
    balance: 30,
    overage,
    shortfall: null,
  });

  await ask(managed, "image.render", 5);
  await ask(managed, "image.render");
  const usedUp = await explain(managed);
  expect(usedUp).toMatchObject({ overage: { used: 40, remaining: 0 }, shortfall: 10 });
  expect(usedUp.sentences[0]).toMatch(/ No credits were left, and none of the 50 credits of overage\.$/);
  // Later changes to the plan do not change the explained denial, only the result of checking it now.
  await publish(null);
  expect(await explain(managed)).toMatchObject({
    overage: { credits: 50, used: 40, remaining: 0 },
    shortfall: 10,
    now: { allowed: true, overage: { credits: null, used: 40, remaining: null } },
  });
  // Without the stored response, the remaining overage is unknown, so the numbers are null instead of wrong.
  await database.query("set session_replication_role = replica");
  await database.query("delete from cell.keyed_requests");
  expect(await explain(managed)).toMatchObject({ overage: null, shortfall: null, balance: 0 });
});

test("without its stored response, a denial has a shortfall only if no overage was allowed", async () => {
  const managed = await setupManage();
  const { manage, database } = managed;
  await ask(managed, "image.render", 11);
  await database.query("set session_replication_role = replica");
  await database.query("delete from cell.keyed_requests");
  expect(await explain(managed)).toMatchObject({ overage: null, shortfall: 10 });
  const override = (terms: object) =>
    manage("PUT", "customers/ada/overrides", {
      body: { allowances: { credits: terms } },
      headers: { "if-match": "*" },
    });
  expect((await override({ credits: 70 })).status).toBe(200);
  expect(await explain(managed)).toMatchObject({ overage: null, shortfall: 10 });
  expect((await override({ overage: 5 })).status).toBe(200);
  expect(await explain(managed)).toMatchObject({ overage: null, shortfall: null, now: { shortfall: 5 } });
});

test("the shortfall of a denied item accounts for earlier items, credits and overage", async () => {
  const managed = await setupOverage(50);
  const items = [
    { feature: "text.generate", quantity: 1 },
    { feature: "image.render", quantity: 16 },
  ];
  await managed.consume({ items });
  expect(await explain(managed)).toMatchObject({
    deniedItem: 1,
    creditsRequired: 161,
    balance: 100,
    overage: { credits: 50, used: 0, remaining: 50 },
    shortfall: 11,
  });
});

test("the open grants of a denial exclude held credits, whether computed from the first entry or the current wallet", async () => {
  const managed = await setupManage();
  const { database } = managed;
  await openHolds(managed).open({ feature: "image.render", quantity: 8 });
  await ask(managed, "image.render", 5);
  const expected = { balance: 20, openGrants: [{ kind: "allowance", remaining: 20 }] };
  expect(await explain(managed)).toMatchObject(expected);
  await database.query("set session_replication_role = replica");
  for (const table of ["ledger", "wallets", "denials"])
    await database.query(`update cell.${table} set sequence = sequence + 30000`);
  expect(await explain(managed)).toMatchObject(expected);
});
