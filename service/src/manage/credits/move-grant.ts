import { type MoveOutcome as Decided, moveGrant as decideMove } from "../../entitlement/move-grant.ts";
import { compareWallets, viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { findLiveCustomerId } from "../../store/cell/customers.ts";
import { findGrantRecord, type GrantRecord } from "../../store/cell/grant-list.ts";
import { findGrantMove, type GrantMove, insertGrantMove } from "../../store/cell/grant-moves.ts";
import { findGrantByReference, listGrantsOfSlots, markGrantRevoked } from "../../store/cell/grants.ts";
import { addOpenHolds } from "../../store/cell/holds.ts";
import { type OpenWallet, openWallet, openWallets, sortNames } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { Context } from "../context.ts";
import { timeOrNull } from "../fields.ts";
import { walletTransaction } from "../wallet-transaction.ts";

export type MoveInput = {
  readonly from: CustomerId;
  readonly grant: number;
  readonly to: CustomerId;
  /** Null to use the old grant's reference plus a suffix. */
  readonly reference: string | null;
  readonly note: string | null;
};

type Balances = { readonly balanceBefore: number; readonly balanceAfter: number };

type Moved = Pick<GrantMove, "spent" | "held" | "toGrant"> & {
  readonly grant: GrantRecord;
  readonly credits: number;
  readonly reference: string | null;
  readonly from: Balances;
  readonly to: Balances;
};

export type MoveRefusal =
  | { kind: "customer_not_found" | "grant_not_found" | "to_not_found" }
  /** `to` is null if that customer was erased. */
  | { kind: "moved_elsewhere"; to: CustomerId | null }
  | { kind: "reference_reused"; reference: string }
  | Exclude<Decided, { kind: "moved" }>;

export type MoveOutcome =
  | ({ kind: "moved" } & Moved)
  /** Nothing was moved, because an earlier call moved this grant to the same customer. */
  | ({ kind: "already_moved" } & Moved)
  | MoveRefusal;

/**
 * Moves the remaining credits of a grant to another customer. In one transaction, revokes the old customer's grant, adds a grant for the
 * new customer, and links both grants in `grant_moves`. Safe to repeat.
 */
export async function moveGrant(cell: Pool, context: Context, input: MoveInput): Promise<MoveOutcome> {
  const run = (): Promise<MoveOutcome> =>
    walletTransaction<MoveOutcome>(
      cell,
      context,
      [input.from, input.to],
      (tx) => moveOnce(tx, context, input),
      // `already_moved` reports success too. The commit ensures that the earlier move is durable.
      ({ kind }) => kind === "moved" || kind === "already_moved",
    );
  try {
    return await run();
  } catch (error) {
    const failure = decodeSqlError(error);
    if (failure.kind !== "conflict" || failure.constraint !== "grants_reference_key") throw error;
    // A concurrent call used the reference first. The second attempt finds the grant.
    return run();
  }
}

async function moveOnce(tx: Tx, context: Context, input: MoveInput): Promise<MoveOutcome> {
  const { environmentId } = context;
  const ids = sortNames(environmentId, [input.from, input.to]).map(({ customerId }) => customerId);
  // Locks the first wallet separately, because one statement could lock the two wallets in either order.
  const [first = input.from] = ids;
  await openWallet(tx, context, first);
  const { wallets, catalog, clock } = await openWallets(tx, environmentId, ids, "wait");
  const withTerms = (customerId: CustomerId): OpenWallet | null => {
    const open = wallets.get(customerId);
    return open === undefined ? null : { ...open, catalog, clock };
  };
  const facts = await readFacts(tx, { from: withTerms(input.from), to: withTerms(input.to) }, input);
  if ("kind" in facts) return facts;
  const decided = await decide(tx, facts, input);
  if (decided.kind !== "moved") return decided;
  const { move, outcome } = decided;
  await saveMove(tx, context, facts, { ...decided, note: input.note });
  await insertGrantMove(tx, context, move, clock);
  return outcome;
}

/** Returns what a move would do, using the same rules as the move. Writes nothing. */
export function previewMove(
  cell: Pool,
  { environmentId }: Pick<Context, "environmentId">,
  input: MoveInput,
): Promise<{ readonly outcome: MoveOutcome; readonly parties: Parties | null }> {
  // Uses one snapshot, because otherwise a hold could open or end between reading the wallet and its holds.
  return snapshot(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const find = async (customerId: CustomerId): Promise<(OpenWallet & { name: string | null }) | null> => {
      const record = await findCustomerRecord(tx, { environmentId, customerId });
      return record === null ? null : { ...record, environmentId, catalog, clock };
    };
    const [from, to] = [await find(input.from), await find(input.to)];
    const facts = await readFacts(tx, { from, to }, input);
    if ("kind" in facts) return { outcome: facts, parties: null };
    const decided = await decide(tx, facts, input);
    const { grant } = facts;
    const parties = {
      grant,
      pool: catalog.pools.get(grant.pool)?.key ?? "",
      from: { name: from?.name ?? null, balance: balanceIn(facts.from, grant) },
      to: { name: to?.name ?? null, balance: balanceIn(facts.to, grant) },
    };
    return { outcome: decided.kind === "moved" ? decided.outcome : decided, parties };
  });
}

type Parties = {
  readonly grant: GrantRecord;
  readonly pool: string;
  readonly from: { readonly name: string | null; readonly balance: number };
  readonly to: { readonly name: string | null; readonly balance: number };
};

type Facts = { readonly from: OpenWallet; readonly to: OpenWallet; readonly grant: GrantRecord };

async function readFacts(
  tx: Tx,
  { from, to }: { readonly from: OpenWallet | null; readonly to: OpenWallet | null },
  input: MoveInput,
): Promise<Facts | MoveRefusal> {
  if (from === null) return { kind: "customer_not_found" };
  const grant = await findGrantRecord(tx, from, input.grant);
  if (grant === null) return { kind: "grant_not_found" };
  if (to === null) return { kind: "to_not_found" };
  return { from: await addOpenHolds(tx, from), to, grant };
}

type Deciding =
  | {
      kind: "moved";
      decided: Extract<Decided, { kind: "moved" }>;
      move: GrantMove;
      outcome: MoveOutcome & { kind: "moved" };
    }
  | Exclude<MoveOutcome, { kind: "moved" }>;

async function decide(tx: Tx, { from, to, grant }: Facts, input: MoveInput): Promise<Deciding> {
  const { environmentId, catalog, clock } = from;
  const earlier = await findGrantMove(tx, from, grant.number);
  if (earlier !== null) return describeEarlier(tx, { from, to, grant }, earlier);
  const slot = await listGrantsOfSlots(tx, from, [grant.slot]);
  const request = { grant: { ...grant, isRevoked: grant.revokedAt !== null }, slot };
  const decided = decideMove(catalog, { from: from.wallet, to: to.wallet }, request, clock);
  if (decided.kind !== "moved") return decided;
  const reference = input.reference ?? movedReference(grant.reference);
  const isUsed = reference !== null && (await findGrantByReference(tx, environmentId, reference)) !== null;
  if (isUsed) return { kind: "reference_reused", reference };
  const { credits, spent, held } = decided;
  const move = {
    fromCustomer: from.customerNumber,
    fromGrant: grant.number,
    toCustomer: to.customerNumber,
    toGrant: decided.grant.number,
    spent,
    held,
  };
  const balances = (before: OpenWallet, after: Wallet): Balances => ({
    balanceBefore: balanceIn(before, grant),
    balanceAfter: balanceOf(after, grant.pool),
  });
  const outcome = {
    ...{ kind: "moved" as const, grant, credits, spent, held, reference, toGrant: move.toGrant },
    from: balances(from, decided.from.wallet),
    to: balances(to, decided.to.wallet),
  };
  return { kind: "moved", decided, move, outcome };
}

function balanceIn({ catalog, wallet, clock }: OpenWallet, { pool }: GrantRecord): number {
  return balanceOf(viewWallet(catalog, wallet, clock), pool);
}

async function describeEarlier(
  tx: Tx,
  { from, to, grant }: Facts,
  { toCustomer, toGrant, spent, held }: GrantMove,
): Promise<Exclude<MoveOutcome, { kind: "moved" }>> {
  const { environmentId } = from;
  if (toCustomer !== to.customerNumber) {
    const found = await findLiveCustomerId(tx, { environmentId, customerNumber: toCustomer });
    return { kind: "moved_elsewhere", to: found };
  }
  const made = await findGrantRecord(tx, to, toGrant);
  assert(made !== null, "a move refers to the grant that it created");
  const now = (open: OpenWallet): Balances => {
    const balance = balanceIn(open, grant);
    return { balanceBefore: balance, balanceAfter: balance };
  };
  const { credits, reference } = made;
  const moved = { grant, credits, reference, spent, held, toGrant, from: now(from), to: now(to) };
  return { kind: "already_moved", ...moved };
}

const SUFFIX = "-moved";
const REFERENCE_MAX = 255;

/** Derives the new reference from the old one: `pi_1` becomes `pi_1-moved`, and after another move `pi_1-moved-2`. */
export function movedReference(reference: string | null): string | null {
  if (reference === null) return null;
  const [, base = reference, moves] = /^(.+)-moved(?:-(\d{1,3}))?$/s.exec(reference) ?? [];
  const suffix = base === reference ? SUFFIX : `${SUFFIX}-${Number(moves ?? 1) + 1}`;
  return `${base.slice(0, REFERENCE_MAX - suffix.length)}${suffix}`;
}

/**
 * Writes both wallets, and an audit entry for each customer. Each entry stores the number of the other customer. The audit log shows the
 * customer's ID instead.
 */
async function saveMove(
  tx: Tx,
  context: Context,
  { from, to, grant }: Facts,
  { decided, outcome, note }: Extract<Deciding, { kind: "moved" }> & { readonly note: string | null },
): Promise<void> {
  const { credits, spent, held, reference } = outcome;
  const lost = compareWallets(from, decided.from.wallet);
  const gained = compareWallets(to, decided.to.wallet);
  const { number } = decided.grant;
  const { kind, expiresAt } = grant;
  const until = timeOrNull(expiresAt);
  await saveEdits(tx, { ...context, clock: from.clock }, [
    {
      ...from,
      change: decided.from,
      audits: [
        {
          ...{ action: "credits.moved", subject: `grant ${grant.number}`, before: lost.before },
          after: { ...lost.after, credits, spent, held, movedTo: to.customerNumber },
        },
      ],
    },
    {
      ...to,
      change: decided.to,
      // The price stays on the original grant, so that totals count the price only once.
      annotation: { grant: { number, origin: { reference, price: null, note } } },
      audits: [
        {
          ...{ action: "credits.moved", subject: `grant ${number}`, before: gained.before },
          after: { ...gained.after, kind, credits, expiresAt: until, movedFrom: from.customerNumber },
        },
      ],
    },
  ]);
  await markGrantRevoked(tx, from, grant.number);
}
