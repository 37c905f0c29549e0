import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { ADA, countKinds, TOP_UP } from "../../../test/customers.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";
import { DAY_MS, windBack } from "../../../test/wind-back.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { endPlan } from "../customers/assign-plan.ts";
import { addCredits } from "./add-credits.ts";

test("concurrent top-ups with one reference add credits once", async () => {
  const { cell, context, database } = await setupCredits();
  for (const round of rounds(10)) {
    const add = () => addCredits(cell, context, { ...TOP_UP, reference: `pay_${round}` });
    expect(countKinds(await Promise.all(times(8, add)))).toEqual({ added: 1, already_added: 7 });
    expect(await readBalance(database)).toBe(100 + 50 * (round + 1));
  }
  await expectSoundBooks(database);
});

test("if eight customers use one reference concurrently, one gets the credits and the others are not created", async () => {
  const { cell, context, database } = await setupCredits();
  for (const round of rounds(5)) {
    const outcomes = await Promise.all(
      times(8, (i) => {
        const customerId = brandAs<CustomerId>(`customer-${round}-${i}`);
        return addCredits(cell, context, { ...TOP_UP, customerId, reference: `pay_${round}` });
      }),
    );
    expect(countKinds(outcomes)).toEqual({ added: 1, reference_reused: 7 });
    expect(await database.count("cell.customers")).toBe(2 + round);
  }
  await expectSoundBooks(database);
});

test("concurrent top-ups without a reference all add credits", async () => {
  const { cell, context, database } = await setupCredits();
  const outcomes = await Promise.all(times(8, () => addCredits(cell, context, TOP_UP)));
  expect(countKinds(outcomes)).toEqual({ added: 8 });
  const after = outcomes.flatMap((outcome) => (outcome.kind === "added" ? [outcome.balanceAfter] : []));
  expect(after.sort((a, b) => a - b)).toEqual(times(8, (i) => 150 + 50 * i));
  await expectSoundBooks(database);
});

test("a customer's 51st open grant is rejected unless it merges with an open grant", async () => {
  const { cell, context, database } = await setupCredits();
  const inDays = (days: number): Instant => brandAs<Instant>(start + days * DAY_MS);
  const start = Date.now();
  const add = (days: number) => addCredits(cell, context, { ...TOP_UP, credits: 1, expiresAt: inDays(days) });
  // The plan's allowance is the first of the 50.
  for (let days = 1; days <= 49; days++) expect((await add(days)).kind).toBe("added");
  expect(await add(50)).toEqual({ kind: "too_many_grants" });
  expect((await add(7)).kind).toBe("added");
  expect(await readBalance(database)).toBe(150);
  await expectSoundBooks(database);
});

test("credits with a past expiry or a missing pool are rejected and leave no rows", async () => {
  const { cell, context, database } = await setupCredits();
  const customerId = brandAs<CustomerId>("new");
  const expiresAt = brandAs<Instant>(Date.now() - 1_000);
  expect(await addCredits(cell, context, { ...TOP_UP, customerId, expiresAt })).toEqual({
    kind: "expires_in_the_past",
  });
  expect(await addCredits(cell, context, { ...TOP_UP, customerId, pool: "nothing" })).toEqual({
    kind: "pool_not_found",
  });
  expect(await database.count("cell.customers")).toBe(1);
});

test("a balance never exceeds the largest safe integer", async () => {
  const { cell, context, check, database } = await setupCredits();
  expect(await addCredits(cell, context, { ...TOP_UP, credits: Number.MAX_SAFE_INTEGER })).toEqual({
    kind: "balance_too_large",
  });
  // Above this balance, plans could no longer grant credits.
  const credits = Number.MAX_SAFE_INTEGER - 2 ** 51;
  expect((await addCredits(cell, context, { ...TOP_UP, credits })).kind).toBe("added");
  expect(await addCredits(cell, context, { ...TOP_UP, credits: 1 })).toEqual({ kind: "balance_too_large" });
  expect((await check({ customerId: "ada", feature: "image.render" })).body["balance"]).toBe(credits + 100);
  expect(await readBalance(database)).toBe(credits + 100);
});

test.each([0.5, 1.5, 0, -1, Number.NaN])(
  "adding %d credits is rejected, and wallet and ledger stay consistent",
  async (credits) => {
    const { cell, context, check, database } = await setupCredits();
    await addCredits(cell, context, { ...TOP_UP, credits }).catch(() => null);
    expect((await check({ customerId: "ada", feature: "image.render" })).body["balance"]).toBe(100);
    expect(await database.count("cell.grants")).toBe(1);
    await expectSoundBooks(database);
  },
);

test("every top-up is audited with the values before and after, without reference and note", async () => {
  const { cell, context, database } = await setupCredits();
  const price = { amount: 900, currency: "EUR" };
  const customerId = brandAs<CustomerId>("carol@example.com");
  await addCredits(cell, context, {
    ...TOP_UP,
    customerId,
    reference: "pay_1",
    price,
    note: "for the delay",
  });
  const [audit] = await database.query(
    "select actor_kind, actor_id, subject, before, after from cell.audit where action = 'credits.added'",
  );
  expect(audit).toMatchObject({
    actor_kind: "member",
    actor_id: "ada",
    subject: "grant 1",
    before: { plan: null, balances: { credits: 0 } },
    after: { balances: { credits: 50 }, credits: 50, price },
  });
  expect(JSON.stringify(audit)).not.toMatch(/pay_1|delay/);
  expect(await database.query("select reference, note from cell.grants where reference is not null")).toEqual(
    [{ reference: "pay_1", note: "for the delay" }],
  );
  // Reference and note must not remain in the audit log after the customer is erased.
  expect(await database.count("cell.audit as a", "to_jsonb(a)::text like '%carol%'")).toBe(0);
});

test("the balance before a change in an audit entry includes due renewals and expiries", async () => {
  const { cell, context, consume, topUp, database } = await setupCredits();
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  await windBack(database, 40 * DAY_MS);
  await topUp("ada", 50);
  await windBack(database, 40 * DAY_MS);
  await endPlan(cell, context, { customerId: ADA });
  const audits = await database.query(
    "select action, before -> 'balances' as before, after -> 'balances' as after from cell.audit order by id",
  );
  // The 90 credits left from the first month expired. The next month granted 100.
  expect(audits.slice(-2)).toEqual([
    { action: "credits.added", before: { credits: 100 }, after: { credits: 150 } },
    { action: "plan.ended", before: { credits: 150 }, after: { credits: 50 } },
  ]);
});

async function readBalance(database: Credits["database"]): Promise<number> {
  const [row] = await database.query(
    `select w.balance from cell.wallets as w
     join cell.customers as c on c.number = w.customer_number where c.customer_id = 'ada'`,
  );
  return Number(row?.["balance"]);
}
