import { expect, test } from "vitest";
import { type Credits, setupCredits } from "../../../test/credits.ts";
import { expireHolds, forgetNextEnds } from "../../../test/holds.ts";
import { verifyDatabase } from "../../commands/verify/verify-database.ts";
import { extendHold, releaseHold, settleHold } from "../../entitlement/change-hold.ts";
import type { Change } from "../../entitlement/entry.ts";
import { holdCredits } from "../../entitlement/open-hold.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { sweepExpiries } from "../../jobs/sweep-expiries.ts";
import { revokeGrant } from "../../manage/credits/revoke-grant.ts";
import { eraseCustomer } from "../../manage/customers/erase-customer.ts";
import { readCustomer } from "../../manage/customers/list-customers.ts";
import { transaction } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type FeatureKey,
  type Instant,
  type MemberId,
} from "../../primitives/brand.ts";
import { type OpenWallet, openWallet } from "./open-wallets.ts";
import { type Annotation, saveEdits } from "./wallet-changes.ts";

const ADA = brandAs<CustomerId>("ada");
const MINUTE = 60_000;

/** Decides with the wallet of "ada" and writes the change. `afterMs` moves the clock ahead. */
async function change<T extends { change: Change | null; annotation?: Annotation }>(
  { cell, context }: Credits,
  decide: (open: OpenWallet) => T,
  afterMs = 0,
): Promise<T> {
  return transaction(cell, async (tx) => {
    const open = await openWallet(tx, context, ADA);
    if (open === null) throw new Error("the customer does not exist");
    const clock = brandAs<Instant>(open.clock + afterMs);
    const decided = decide({ ...open, clock });
    await saveEdits(tx, { actor: context.actor, clock }, [{ ...open, ...decided, audits: [] }]);
    return decided;
  });
}

async function hold(
  credits: Credits,
  quantity: number,
  onExpiry: Hold["onExpiry"] = "release",
): Promise<Hold> {
  const requested = [{ feature: brandAs<FeatureKey>("image.render"), quantity }];
  const terms = { expiresInMs: 15 * MINUTE, onExpiry, memberId: brandAs<MemberId>("grace") };
  const decided = await change(credits, ({ catalog, wallet, clock }) => {
    const decision = holdCredits(catalog, wallet, { requested, terms }, clock);
    if (decision.kind !== "decided" || decision.hold === null) throw new Error("the hold was denied");
    const note = { keyHash: null, metadata: '{"job":"42"}', closing: null };
    const annotation = { hold: { number: decision.hold.number, note } };
    return { change: decision.change, hold: decision.hold, annotation };
  });
  return decided.hold;
}

function readWallet({ cell, context }: Credits): Promise<Wallet | undefined> {
  return transaction(cell, async (tx) => (await openWallet(tx, context, ADA))?.wallet);
}

const findMismatch = async ({ database }: Credits) =>
  (await verifyDatabase(database.serviceUrl)).mismatch?.text ?? null;

test("holds are opened, extended, settled and released, and the wallet matches its holds after every step", async () => {
  const credits = await setupCredits();
  const first = await hold(credits, 3);
  const second = await hold(credits, 1);
  expect(await findMismatch(credits)).toBeNull();
  const extended = await change(credits, ({ catalog, wallet, clock }) => {
    const request = { hold: first, quantity: 4, expiresAt: null };
    const outcome = extendHold(catalog, wallet, request, clock);
    if (outcome.kind !== "extended") throw new Error(outcome.kind);
    return outcome;
  });
  expect(await findMismatch(credits)).toBeNull();
  await change(credits, ({ catalog, wallet, clock }) => {
    const request = { hold: extended.hold, quantities: [2], atMostHeld: false };
    const outcome = settleHold(catalog, wallet, request, clock);
    if (outcome.kind !== "settled") throw new Error(outcome.kind);
    return outcome;
  });
  expect(await findMismatch(credits)).toBeNull();
  await change(credits, ({ catalog, wallet, clock }) => releaseHold(catalog, wallet, second, clock));
  expect(await findMismatch(credits)).toBeNull();
  expect(await credits.database.count("cell.open_holds")).toBe(0);
  const rows = await credits.database.query(
    "select number, hold_number, kind from cell.hold_changes order by number",
  );
  expect(rows.map((row) => [row["number"], row["hold_number"], row["kind"]])).toEqual([
    [1, 1, 1],
    [2, 2, 1],
    [3, 1, 2],
    [4, 1, 3],
    [5, 2, 4],
  ]);
  expect(await readWallet(credits)).toMatchObject({ holdCount: 2, openHolds: 0, held: [] });
});

test("a wallet is read with only the holds that are due", async () => {
  const credits = await setupCredits();
  const due = await hold(credits, 1, "charge");
  await hold(credits, 2);
  expect((await readWallet(credits))?.holds).toEqual([]);
  await credits.database.query("update cell.open_holds set expires_at = clock_timestamp() where number = 1");
  expect((await readWallet(credits))?.holds).toEqual([]);
  await forgetNextEnds(credits.database);
  expect((await readWallet(credits))?.holds).toEqual([due]);
});

test("a decision after a hold's expiry first records the end of the hold", async () => {
  const credits = await setupCredits();
  const due = await hold(credits, 1, "charge");
  const { cell, context } = credits;
  // The store reads the holds that are due by the database's clock, so a decision at a later time must be rejected.
  await expect(
    change(credits, ({ catalog, wallet, clock }) => releaseHold(catalog, wallet, due, clock), 16 * MINUTE),
  ).rejects.toThrow("all holds that end before a decision are known");
  await transaction(cell, async (tx) => {
    const open = await openWallet(tx, context, ADA);
    if (open === null) throw new Error("the customer does not exist");
    const clock = brandAs<Instant>(open.clock + 16 * MINUTE);
    const wallet = { ...open.wallet, holds: [due], holdsUntil: clock };
    const outcome = releaseHold(open.catalog, wallet, due, clock);
    expect(outcome.kind).toBe("hold_expired");
    await saveEdits(tx, { actor: context.actor, clock }, [{ ...open, change: outcome.change, audits: [] }]);
  });
  expect(await findMismatch(credits)).toBeNull();
  expect(await credits.database.count("cell.hold_changes", "kind = 6")).toBe(1);
  expect(await credits.database.count("cell.ledger", "hold_number = 1 and kind = 2")).toBe(1);
});

test("checks, charges and the customer's page apply due hold ends, and keep other holds open", async () => {
  const credits = await setupCredits();
  const { cell, context, check, consume } = credits;
  await hold(credits, 3);
  const body = { customerId: "ada", feature: "image.render" };
  expect((await check(body)).body).toMatchObject({ allowed: true, balance: 70 });
  expect((await consume({ ...body, idempotencyKey: "one" })).body).toMatchObject({ balance: 60 });
  await hold(credits, 1, "charge");
  expect((await check({ ...body, quantity: 6 })).body).toMatchObject({ allowed: false, balance: 50 });
  await expireHolds(credits.database);
  // The first hold releases 30 credits. The second hold charges its 10 credits.
  expect((await check({ ...body, quantity: 8 })).body).toMatchObject({ allowed: true, balance: 80 });
  const customer = await readCustomer(cell, context.environmentId, ADA);
  expect(customer?.balances[0]).toMatchObject({ balance: 80 });
  expect((await consume({ ...body, idempotencyKey: "two" })).body).toMatchObject({ balance: 70 });
  expect(await findMismatch(credits)).toBeNull();
  expect(await credits.database.count("cell.open_holds")).toBe(0);
});

test("the sweep charges or releases expired holds, according to `onExpiry`", async () => {
  const credits = await setupCredits();
  await hold(credits, 1);
  await hold(credits, 2, "charge");
  await expireHolds(credits.database);
  await sweepExpiries(credits.cell);
  expect(await credits.database.count("cell.open_holds")).toBe(0);
  expect(
    await credits.database.count("cell.ledger", "hold_number = 2 and amount = -20 and member_id = 'grace'"),
  ).toBe(1);
  expect(await findMismatch(credits)).toBeNull();
});

test("erasing a customer releases open holds, and erases the members and metadata of all holds", async () => {
  const credits = await setupCredits();
  const { cell, context, database } = credits;
  await hold(credits, 1);
  await hold(credits, 2, "charge");
  const traces = "member_id is not null or metadata is not null";
  expect(await database.count("cell.hold_changes", traces)).toBe(2);
  expect(await eraseCustomer(cell, context, { customerId: ADA })).toMatchObject({ kind: "erased" });
  expect(await database.count("cell.hold_changes", traces)).toBe(0);
  expect(await database.count("cell.hold_changes", "kind = 4")).toBe(2);
  expect(await database.count("cell.open_holds")).toBe(0);
  expect(await findMismatch(credits)).toBeNull();
});

test("a revocation of held credits is stored with the hold, and applied when the hold ends", async () => {
  const credits = await setupCredits();
  const { cell, context, topUp } = credits;
  await topUp("ada", 40);
  const held = await hold(credits, 12);
  // The hold has set aside 100 credits from the plan, and 20 of the 40 added credits.
  expect(await revokeGrant(cell, context, { customerId: ADA, grant: 2, note: null })).toMatchObject({
    credits: 20,
  });
  expect(await findMismatch(credits)).toBeNull();
  await eraseCustomer(cell, context, { customerId: ADA });
  expect(await credits.database.count("cell.ledger", "kind = 4 and amount = -20")).toBe(2);
  expect(await credits.database.count("cell.hold_changes", `hold_number = ${held.number} and kind = 7`)).toBe(
    1,
  );
  expect(await findMismatch(credits)).toBeNull();
});

test.each([
  [
    "a missing hold",
    "delete from cell.hold_changes where number = 2",
    "refers to hold 2, which does not exist",
  ],
  ["a missing last change", "delete from cell.hold_changes where number = 3", "the last change has number 2"],
  ["a hold that is no longer listed", "delete from cell.open_holds", "1 open holds, but 0 are listed"],
  [
    "a hold that is listed with a wrong expiry",
    "update cell.open_holds set expires_at = expires_at + interval '1 day'",
    "the list of open holds does not match the last recorded change of each hold",
  ],
  [
    "a wallet that does not expect the end of a hold",
    "update cell.wallets set state = regexp_replace(state, ',[0-9]+]$', ',9000000000000]')",
    "hold 1 ends before the next hold end that the wallet records",
  ],
  [
    "wrong held credits",
    "update cell.hold_changes set state = replace(state, '[[1,10]]', '[[1,9]]') where hold_number = 1",
    "grant 1 has 10 held credits in the wallet, 9 according to its holds",
  ],
  [
    "a charge of the wrong hold",
    "update cell.ledger set hold_number = 1 where hold_number = 2",
    "settles hold 1, which was not settled",
  ],
])("verify reports %s", async (_, tampering, text) => {
  const credits = await setupCredits();
  await hold(credits, 1);
  const settled = await hold(credits, 2);
  await change(credits, ({ catalog, wallet, clock }) => {
    const outcome = settleHold(
      catalog,
      wallet,
      { hold: settled, quantities: null, atMostHeld: false },
      clock,
    );
    if (outcome.kind !== "settled") throw new Error(outcome.kind);
    return outcome;
  });
  expect(await findMismatch(credits)).toBeNull();
  await credits.database.query("set session_replication_role = replica");
  await credits.database.query(tampering);
  expect(await findMismatch(credits)).toContain(text);
});
