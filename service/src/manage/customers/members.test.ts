import { expect, test } from "vitest";
import { read } from "../../../test/exports.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

// Tests how the management API shows the `memberId` of requests.

const ADA = { customerId: "ada", feature: "image.render" };

/** Creates two charges by user_7 (one partly reversed), a charge and an event without a member, and a denial and two events by user_8. */
async function live({ consume, record, manage }: Managed): Promise<void> {
  const { body } = await consume({ ...ADA, memberId: "user_7", quantity: 3, idempotencyKey: "a" });
  const reversal = { quantity: 1 };
  await manage("POST", `customers/ada/consumes/${body["consumeId"]}/reverse`, { body: reversal });
  const items = [{ feature: "image.render" }, { feature: "text.generate", quantity: 2_000 }];
  await consume({ customerId: "ada", items, memberId: "user_7", idempotencyKey: "b" });
  await consume({ ...ADA, idempotencyKey: "c" });
  await consume({ ...ADA, memberId: "user_8", quantity: 500, idempotencyKey: "d" });
  for (const quantity of [1, 2])
    await record({ customerId: "ada", event: "tokens", quantity, memberId: "user_8" });
  await record({ customerId: "ada", event: "tokens", quantity: 4 });
}

async function list({ manage }: Managed, path: string): Promise<Record<string, unknown>[]> {
  const { status, body, text } = await manage("GET", path);
  expect(status, text).toBe(200);
  return (body["items"] ?? body["lines"]) as Record<string, unknown>[];
}

const membersOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ memberId }) => memberId);

test("the ledger, denials and events show the member, and a reversal shows the member of its charge", async () => {
  const managed = await setupManage();
  await live(managed);
  const ledger = await list(managed, "customers/ada/ledger");
  expect(ledger.map(({ kind, memberId }) => [kind, memberId])).toEqual([
    ["consume", null],
    ["consume", "user_7"],
    ["consume", "user_7"],
    ["reverse", "user_7"],
    ["consume", "user_7"],
    ["grant", null],
  ]);
  const [denial] = await list(managed, "customers/ada/denials");
  expect(denial).toMatchObject({ memberId: "user_8" });
  expect((await managed.manage("GET", `denials/${denial?.["denialId"]}`)).body).toMatchObject({
    memberId: "user_8",
  });
  const requests = await list(managed, "customers/ada/requests");
  expect(membersOf(requests.filter(({ kind }) => kind !== "logged"))).toEqual([
    "user_8",
    null,
    "user_7",
    "user_7",
    "user_7",
  ]);
  expect(membersOf(await list(managed, "customers/ada/events"))).toEqual([null, "user_8", "user_8"]);
  expect(membersOf(await list(managed, "events?memberId=user_8"))).toEqual(["user_8", "user_8"]);
  expect(await list(managed, "events?memberId=user_7")).toEqual([]);
});

test("usage can be grouped by member, and a reversal reduces the usage of its charge's member", async () => {
  const managed = await setupManage();
  await live(managed);
  // A member of another customer has the same ID.
  await managed.manage("POST", "customers/bob/plan", { body: { plan: "pro" } });
  await managed.consume({ ...ADA, customerId: "bob", memberId: "user_7", idempotencyKey: "bob" });
  const group = async (query: string) => {
    const lines = await list(managed, `usage?groupBy=member&customerId=ada${query}`);
    return lines.map(({ key, total }) => [key, total]);
  };
  expect(await group("")).toEqual([
    ["user_7", { count: 3, quantity: 2_003, credits: 36 }],
    [null, { count: 1, quantity: 1, credits: 10 }],
  ]);
  expect(await group("&source=events&by=quantity")).toEqual([
    [null, { count: 1, quantity: 4, credits: 0 }],
    ["user_8", { count: 2, quantity: 3, credits: 0 }],
  ]);
  const refused = {
    "usage?groupBy=member": "customerId",
    "usage?groupBy=member&customerId=ada&source=denials": "groupBy",
    "usage?groupBy=member&customerId=ada&metadataField=x": "metadataField",
  };
  for (const [path, field] of Object.entries(refused))
    expect(await managed.manage("GET", path)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
});

test("an idempotency key shows the member of its request, and reuse with a different member", async () => {
  const managed = await setupManage();
  await live(managed);
  const reused = await managed.consume({ ...ADA, memberId: "user_9", quantity: 3, idempotencyKey: "a" });
  expect(reused.status).toBe(409);
  await expect
    .poll(async () => (await managed.manage("GET", "keys/a")).body)
    .toMatchObject({
      charge: { memberId: "user_7" },
      uses: expect.arrayContaining([
        expect.objectContaining({ refused: expect.objectContaining({ differs: ["memberId"] }) }),
      ]),
    });
  expect((await managed.manage("GET", "keys/d")).body).toMatchObject({ denial: { memberId: "user_8" } });
});

test("exports of charges, the ledger and events include the member", async () => {
  const managed = await setupManage();
  await live(managed);
  expect(membersOf(await read(managed, "charges?format=ndjson"))).toEqual([
    "user_7",
    "user_7",
    "user_7",
    null,
  ]);
  expect(membersOf(await read(managed, "ledger?format=ndjson"))).toEqual([
    null,
    "user_7",
    "user_7",
    "user_7",
    "user_7",
    null,
  ]);
  expect(membersOf(await read(managed, "events?format=ndjson"))).toEqual(["user_8", "user_8", null]);
});
