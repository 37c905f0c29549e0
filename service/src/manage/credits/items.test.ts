import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { read } from "../../../test/exports.ts";
import type { Reply } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";
import { consumeId as nameConsume, readConsumeId } from "../../primitives/consume-id.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";

// These tests cover how the management API shows, explains and reverses a request with items.

const ITEMS = [
  { feature: "image.render", quantity: 3 },
  { feature: "text.generate", quantity: 2_000 },
  { feature: "export", quantity: 2 },
];

/** Charges 30 + 6 + 0 credits in one request. */
async function setupCharge(): Promise<
  Managed & { consumeId: string; reverse: (body: object) => Promise<Reply> }
> {
  const managed = await setupManage();
  const { body } = await managed.consume({
    ...{ customerId: "ada", idempotencyKey: "chat-1", items: ITEMS },
    metadata: { chat: 1 },
  });
  const consumeId = String(body["consumeId"]);
  const path = `customers/ada/consumes/${consumeId}/reverse`;
  return { ...managed, consumeId, reverse: (input) => managed.manage("POST", path, { body: input }) };
}

async function entriesOf({ manage }: Managed): Promise<Record<string, unknown>[]> {
  return (await manage("GET", "customers/ada/ledger")).body["items"] as Record<string, unknown>[];
}

test("the ledger shows each item under the same consume ID, with key and metadata", async () => {
  const managed = await setupCharge();
  const { consumeId } = managed;
  const shared = { kind: "consume", consumeId, idempotencyKey: "chat-1", metadata: { chat: 1 } };
  expect(await entriesOf(managed)).toMatchObject([
    { ...shared, item: 2, feature: "export", quantity: 2, amount: 0, balanceAfter: 64 },
    { ...shared, item: 1, feature: "text.generate", quantity: 2_000, amount: -6, balanceAfter: 64 },
    { ...shared, item: 0, feature: "image.render", quantity: 3, amount: -30, balanceAfter: 70 },
    { kind: "grant", consumeId: null, item: null },
  ]);
});

test("a reversal returns all items, and repeating it with its reference reverses nothing more", async () => {
  const { reverse, database, ...managed } = await setupCharge();
  const whole = {
    quantity: 2_005,
    credits: 36,
    items: [
      { item: 0, quantity: 3, credits: 30 },
      { item: 1, quantity: 2_000, credits: 6 },
      { item: 2, quantity: 2, credits: 0 },
    ],
  };
  const body = { reference: "ticket-1", note: "Broken" };
  expect((await reverse(body)).body).toMatchObject({ outcome: "reversed", ...whole });
  expect((await reverse(body)).body).toMatchObject({ outcome: "already_reversed", ...whole });
  expect((await reverse({})).body).toMatchObject({ code: "nothing_to_reverse", reversible: 0 });
  const [newest] = await entriesOf({ ...managed, database });
  expect(newest).toMatchObject({
    kind: "reverse",
    item: 2,
    reverses: managed.consumeId,
    metadata: { reference: "ticket-1", note: "Broken" },
  });
  await expectSoundBooks(database);
});

test("reversing one item keeps the other charges, and the reference cannot be reused for another item or quantity", async () => {
  const { reverse, database } = await setupCharge();
  const one = { item: 1, quantity: 1_000, reference: "ticket-1" };
  expect((await reverse(one)).body).toMatchObject({
    outcome: "reversed",
    credits: 3,
    items: [{ item: 1, quantity: 1_000, credits: 3 }],
  });
  expect((await reverse(one)).body).toMatchObject({ outcome: "already_reversed", credits: 3 });
  expect((await reverse({ reference: "ticket-1" })).body).toMatchObject({
    outcome: "already_reversed",
    credits: 3,
  });
  for (const other of [
    { ...one, item: 0 },
    { ...one, quantity: 1 },
  ])
    expect(await reverse(other)).toMatchObject({ status: 409, body: { code: "reference_reused" } });
  expect((await reverse({ reference: "ticket-2" })).body).toMatchObject({ credits: 33 });
  await expectSoundBooks(database);
});

test.each([
  [{ quantity: 1 }, 400, "invalid_request"],
  [{ item: 3 }, 404, "not_found"],
  [{ item: 20 }, 400, "invalid_request"],
  [{ item: 0, quantity: 4 }, 409, "nothing_to_reverse"],
])("a reversal of %j is rejected and changes nothing", async (body, status, code) => {
  const { reverse, database } = await setupCharge();
  expect(await reverse(body)).toMatchObject({ status, body: { code } });
  expect(await database.count("cell.ledger", "kind = 5")).toBe(0);
});

test("a charge that is not the first of its request cannot be addressed by its own ID", async () => {
  const { manage, consumeId } = await setupCharge();
  const first = readConsumeId(parsePublicId("con", consumeId) ?? Buffer.alloc(16));
  const second = publicId("con", nameConsume({ ...first, sequence: first.sequence + 1 }));
  expect((await manage("POST", `customers/ada/consumes/${second}/reverse`, { body: {} })).status).toBe(404);
});

test("a preview of a reversal requires one item and shows only that item", async () => {
  const { manage, consumeId } = await setupCharge();
  const preview = (body: object) =>
    manage("POST", `customers/ada/consumes/${consumeId}/reverse/preview`, { body });
  expect(await preview({})).toMatchObject({
    status: 400,
    body: { errors: [{ field: "item", code: "required" }] },
  });
  expect((await preview({ item: 1 })).body).toMatchObject({
    ...{ quantity: 2_000, credits: 6, balanceBefore: 64, balanceAfter: 70 },
    returns: [{ grant: 1, credits: 6, spendable: 6 }],
  });
});

test("concurrent reversals of a request and of its items return each charge once", async () => {
  const managed = await setupManage();
  const { consume, manage, check, database } = managed;
  for (const round of rounds(10)) {
    const { body } = await consume({ customerId: "ada", idempotencyKey: `race-${round}`, items: ITEMS });
    const path = `customers/ada/consumes/${body["consumeId"]}/reverse`;
    await Promise.all(times(8, (i) => manage("POST", path, { body: i % 2 === 0 ? {} : { item: i % 3 } })));
    expect((await check({ customerId: "ada", feature: "export" })).body).toMatchObject({
      balance: 100,
      limit: { used: 0 },
    });
  }
  await expectSoundBooks(database);
});

test("the key of a request with items shows its response, all its charges, and how a rejected reuse differed", async () => {
  const managed = await setupCharge();
  const { manage, consume, database, reverse } = managed;
  await consume({
    customerId: "ada",
    idempotencyKey: "chat-1",
    items: ITEMS.slice(1),
    metadata: { chat: 1 },
  });
  await consume({ customerId: "ada", idempotencyKey: "chat-1", ...ITEMS[0], metadata: { chat: 1 } });
  await reverse({ item: 0, quantity: 1 });
  await expect.poll(() => database.count("cell.request_log"), { interval: 50 }).toBe(3);
  const { body: story } = await manage("GET", "keys/chat-1");
  expect(story).toMatchObject({
    state: "kept",
    answer: { allowed: true, items: [{ feature: "image.render", creditsCharged: 30 }, {}, {}] },
    charge: { item: 0, feature: "image.render", reversedQuantity: 1, reversedCredits: 10 },
    charges: [{ item: 0 }, { item: 1, feature: "text.generate", credits: 6 }, { item: 2 }],
  });
  const uses = story["uses"] as { refused: { differs: string[] } | null; feature: string }[];
  expect(uses.map(({ refused }) => refused?.differs ?? null).filter((differs) => differs !== null)).toEqual([
    ["items"],
    ["items"],
  ]);
  expect(uses.map(({ feature }) => feature).sort()).toEqual([
    "image.render",
    "image.render",
    "text.generate",
  ]);
});

test("a denied request with items is listed and explained with all its items", async () => {
  const { consume, manage, topUp } = await setupManage();
  const items = [
    { feature: "image.render", quantity: 6 },
    { feature: "text.generate", quantity: 14_000 },
  ];
  const reply = await consume({ customerId: "ada", idempotencyKey: "chat-2", items });
  expect(reply.body).toMatchObject({
    reason: "insufficient_credits",
    deniedItem: 1,
    affordableQuantity: 13_333,
  });
  const { body: list } = await manage("GET", "customers/ada/denials");
  const [denial] = list["items"] as Record<string, unknown>[];
  const facts = { feature: "text.generate", quantity: 14_000, creditsRequired: 102, balance: 100 };
  expect(denial).toMatchObject({ ...facts, deniedItem: 1, items });
  const explain = async () => (await manage("GET", `denials/${denial?.["denialId"]}`)).body;
  const explained = await explain();
  expect(explained).toMatchObject({ ...facts, deniedItem: 1, items });
  expect(explained["sentences"]).toContain(
    "The request needed 102 credits for 14000 × text.generate and the earlier items that use the same pool. Only 100 credits were left.",
  );
  expect(explained["now"]).toMatchObject({ allowed: false, feature: "text.generate", creditsRequired: 102 });
  await topUp("ada", 2);
  expect((await explain())["now"]).toMatchObject({ allowed: true, reason: null });
  const { body: story } = await manage("GET", "keys/chat-2");
  expect(JSON.stringify(story["answer"])).toBe(reply.text);
});

test("exports show the consume ID and item index of each charge and reversal", async () => {
  const managed = await setupCharge();
  const { consumeId, reverse, consume } = managed;
  await reverse({ item: 1 });
  await consume({ customerId: "ada", feature: "export", idempotencyKey: "single" });
  const charges = await read(managed, "charges?format=ndjson");
  expect(charges.map(({ consumeId: id, item, feature }) => [id === consumeId, item, feature])).toEqual([
    [true, 0, "image.render"],
    [true, 1, "text.generate"],
    [true, 2, "export"],
    [false, null, "export"],
  ]);
  const ledger = await read(managed, "ledger?format=ndjson");
  expect(ledger.find(({ kind }) => kind === "reverse")).toMatchObject({ reverses: consumeId, item: 1 });
});

test("usage grouped by metadata counts all items of a request, and their reversals, under the request's value", async () => {
  const { manage, reverse } = await setupCharge();
  const group = async () =>
    (await manage("GET", "usage?groupBy=metadata&metadataField=chat")).body["lines"] as object[];
  expect(await group()).toMatchObject([{ key: "1", total: { count: 3, quantity: 2_005, credits: 36 } }]);
  await reverse({ item: 1 });
  expect(await group()).toMatchObject([{ key: "1", total: { count: 3, quantity: 5, credits: 30 } }]);
});
