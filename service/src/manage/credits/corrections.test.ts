import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { ADA, countKinds, TOP_UP } from "../../../test/customers.ts";
import { rounds } from "../../../test/rounds.ts";
import { countAllowed, setupTwo, times } from "../../../test/two-services.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { consumeId as nameConsume, readConsumeId } from "../../primitives/consume-id.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";
import { addCredits } from "./add-credits.ts";
import { type ReverseOutcome, reverseConsume } from "./reverse-consume.ts";
import { revokeGrant } from "./revoke-grant.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("concurrent reversals of one charge reverse it once", async () => {
  const credits = await setupCredits();
  for (const round of rounds(10)) {
    const consumeId = await render(credits, 6, `key-${round}`);
    const outcomes = await Promise.all(times(8, () => reverse(credits, consumeId, null)));
    expect(countKinds(outcomes)).toEqual({ reversed: 1, nothing_left: 7 });
    expect(await readBalance(credits)).toBe(100);
  }
  await expectSoundBooks(credits.database);
});

test("concurrent partial reversals never return more than was charged", async () => {
  const credits = await setupCredits();
  for (const round of rounds(10)) {
    const consumeId = await render(credits, 7, `key-${round}`);
    const outcomes = await Promise.all(times(8, (i) => reverse(credits, consumeId, 1 + (i % 3))));
    const back = outcomes.reduce(
      (sum, outcome) => sum + (outcome.kind === "reversed" ? outcome.credits : 0),
      0,
    );
    expect(back).toBeLessThanOrEqual(70);
    expect(await readBalance(credits)).toBe(30 + back);
    await reverse(credits, consumeId, null);
    expect(await readBalance(credits)).toBe(100);
  }
  await expectSoundBooks(credits.database);
});

test.each([
  { first: [2], quantity: -2 },
  { first: [], quantity: 1.5 },
  { first: [], quantity: 0 },
  { first: [1], quantity: Number.NaN },
])("a reversal of quantity $quantity is rejected", async ({ first, quantity }) => {
  const credits = await setupCredits();
  const consumeId = await render(credits, 3, "key-1");
  for (const whole of first) await reverse(credits, consumeId, whole);
  await reverse(credits, consumeId, quantity).catch(() => null);
  for (const rest of [3, 2, 1, null]) await reverse(credits, consumeId, rest);
  expect(await readBalance(credits)).toBe(100);
  expect(await credits.database.count("cell.ledger", "kind = 5 and quantity < 1")).toBe(0);
  await expectSoundBooks(credits.database);
});

test.each(["con_", "con_00000000000000000000000000", "evt_01k9zq6n2wf3rvd0m6zj8b6c1t", "", "💳"])(
  "an ID that does not belong to a charge (%s) is not found and changes nothing",
  async (consumeId) => {
    const credits = await setupCredits();
    await render(credits, 3, "key-1");
    expect(await reverse(credits, consumeId, null)).toEqual({ kind: "consume_not_found" });
    expect(await readBalance(credits)).toBe(70);
  },
);

test("a forged consume ID cannot reverse a grant or another reversal", async () => {
  const credits = await setupCredits();
  const consumed = await render(credits, 3, "key-1");
  await reverse(credits, consumed, 1);
  const id = parsePublicId("con", consumed);
  if (id === null) throw new Error("a charge has an ID");
  const entries = await credits.database.query(
    "select sequence::integer, (extract(epoch from recorded_at) * 1000)::bigint::text as at from cell.ledger where kind <> 2",
  );
  expect(entries).toHaveLength(2);
  for (const { sequence, at } of entries) {
    const recordedAt = brandAs<Instant>(Number(at));
    const forged = publicId(
      "con",
      nameConsume({ ...readConsumeId(id), sequence: Number(sequence), recordedAt }),
    );
    expect(await reverse(credits, forged, null)).toEqual({ kind: "consume_not_found" });
  }
});

test("concurrent revocations revoke a grant once and do not affect spent credits", async () => {
  const credits = await setupCredits();
  const { cell, context } = credits;
  await addCredits(cell, context, TOP_UP);
  await render(credits, 12, "key-1");
  const revoke = () => revokeGrant(cell, context, { customerId: ADA, grant: 2, note: null });
  const outcomes = await Promise.all(times(8, revoke));
  expect(countKinds(outcomes)).toEqual({ revoked: 1, already_revoked: 7 });
  expect(outcomes).toContainEqual(expect.objectContaining({ kind: "revoked", credits: 30 }));
  expect(await readBalance(credits)).toBe(0);
  await expectSoundBooks(credits.database);
});

test("credits returned to a revoked grant stay revoked", async () => {
  const credits = await setupCredits();
  const { cell, context } = credits;
  await addCredits(cell, context, TOP_UP);
  const consumeId = await render(credits, 15, "key-1");
  await revokeGrant(cell, context, { customerId: ADA, grant: 2, note: null });
  expect((await reverse(credits, consumeId, null)).kind).toBe("reversed");
  expect(await readBalance(credits)).toBe(100);
  await expectSoundBooks(credits.database);
});

test("a revoked allowance stays revoked after the customer leaves and resumes the plan", async () => {
  const credits = await setupCredits();
  const { cell, context, publish, assign } = credits;
  await publish({ key: "free", name: "Free", allowances: [] });
  await assign("ada", "free");
  await revokeGrant(cell, context, { customerId: ADA, grant: 1, note: null });
  await expectSoundBooks(credits.database);
  await assign("ada", "pro");
  expect(await readBalance(credits)).toBe(0);
  await expectSoundBooks(credits.database);
});

test("concurrent charges, top-ups, reversals and revocations keep wallet and ledger consistent", {
  timeout: 120_000,
}, async () => {
  const two = await setupTwo();
  const { cell, context, renderAt, database } = two;
  await addCredits(cell, context, { ...TOP_UP, credits: 1_500 });
  const added: number[] = [];
  const consumes = times(150, async (i) => {
    await pause(4 * i);
    const reply = await renderAt(i, { quantity: 1 + (i % 4) });
    const { consumeId } = reply.body;
    if (i % 3 === 0 && typeof consumeId === "string") await reverse(two, consumeId, i % 2 === 0 ? null : 1);
    return reply;
  });
  const topUps = (async () => {
    for (let i = 0; i < 12; i++) {
      const outcome = await addCredits(cell, context, { ...TOP_UP, credits: 10 + i });
      if (outcome.kind === "added") added.push(outcome.grant);
      if (i % 4 === 3)
        await revokeGrant(cell, context, { customerId: ADA, grant: added.at(-2) ?? 0, note: null });
    }
  })();
  const [replies] = await Promise.all([Promise.all(consumes), topUps]);
  expect(countAllowed(replies)).toBeGreaterThan(50);
  expect(await database.count("cell.ledger", "kind = 5")).toBeGreaterThan(10);
  await expectSoundBooks(database);
});

async function render({ consume }: Credits, quantity: number, idempotencyKey: string): Promise<string> {
  const { body } = await consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  expect(body["allowed"]).toBe(true);
  return String(body["consumeId"]);
}

function reverse(
  { cell, context }: Credits,
  consumeId: string,
  quantity: number | null,
): Promise<ReverseOutcome> {
  return reverseConsume(cell, context, { consumeId, quantity });
}

async function readBalance({ check }: Credits): Promise<unknown> {
  return (await check({ customerId: "ada", feature: "image.render" })).body["balance"];
}
