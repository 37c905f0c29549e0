import { assert } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import { burn } from "./burn-order.ts";
import { type Catalog, chargeFor } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import type { Entry, ItemPlace } from "./entry.ts";
import { giveBack, type Origin } from "./give-back.ts";
import { type Counted, recount } from "./limits.ts";
import { overageLeftIn, overageParts } from "./overage.ts";
import { join, spend, split, sumOf } from "./part-lists.ts";
import {
  balanceOf,
  findHeld,
  type HeldCredits,
  type HeldItem,
  type HeldPart,
  type Hold,
  type OveragePart,
  type Wallet,
} from "./wallet.ts";

/** The result of settling or releasing one item of a hold. */
export type SettledItem = {
  readonly item: HeldItem;
  /** The quantity that was actually used. */
  readonly quantity: number;
  /** The price of the quantity: `creditsCharged + overageCredits + creditsUncovered`. */
  readonly creditsRequired: number;
  readonly creditsCharged: number;
  /** How many of the charged credits the hold had set aside. */
  readonly creditsFromHold: number;
  readonly overageCredits: number;
  /** The part of the price beyond the held amount, whether covered or not. */
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  /** The charge. Null if nothing was used. */
  readonly entry: Entry | null;
};

type Closing = {
  /** The quantities that were actually used, in the order of the hold's items. If null, the hold releases everything. */
  readonly quantities: readonly number[] | null;
  /** Charges only credits and overage that the hold set aside. */
  readonly atMostHeld: boolean;
  /** Whether the hold has already ended and released its credits. */
  readonly isLate: boolean;
};

/**
 * Ends a hold. Charges for the quantities used and returns the remaining credits. Credits of the hold pay first, then other credits in
 * burn order, then the overage that the hold set aside, then other overage. The charges of one hold are consecutive, so unused credits
 * are returned only after all charges.
 */
export function closeHold(
  catalog: Catalog,
  draft: Draft,
  hold: Hold,
  { quantities, atMostHeld, isLate }: Closing,
): SettledItem[] {
  const uses = hold.items.map((item, index) => {
    const quantity = quantities?.[index] ?? 0;
    return { item, quantity, creditsRequired: chargeFor(item.cost, quantity) };
  });
  const ways = cover(catalog, draft, uses, { atMostHeld, isLate });
  if (!isLate) draft.wallet = { ...draft.wallet, openHolds: draft.wallet.openHolds - 1 };
  const count = uses.filter(({ quantity }) => quantity > 0).length;
  const settled: SettledItem[] = [];
  let index = 0;
  for (const [position, use] of uses.entries()) {
    const { item, quantity, creditsRequired } = use;
    const way = ways.items[position];
    assert(way !== undefined, "each item is covered in some way");
    const place = count > 1 ? { index, of: count } : null;
    const entry = quantity === 0 ? null : settle(draft, hold, { ...way, item, quantity }, place);
    if (entry !== null) index += 1;
    const creditsFromHold = sumOf(way.held);
    const overageCredits = sumOf(way.overage);
    settled.push({
      ...{ ...use, creditsFromHold, overageCredits, entry },
      creditsCharged: creditsFromHold + way.further,
      creditsBeyondHold: creditsRequired - way.promised,
      creditsUncovered: way.uncovered,
    });
    draft.wallet = recount(draft.wallet, countedIn(hold, item), isLate ? quantity : quantity - item.quantity);
  }
  free(catalog, draft, hold, ways.rest);
  return settled;
}

/** How limit counters identify an item of a hold: by the hold's number, because the item has no ledger entry yet. */
export function countedIn({ number: hold, assignment }: Hold, { feature }: HeldItem): Counted {
  return { feature, assignment, hold, sequence: 0 };
}

/** The quantity of all items of open holds that `isCounted` accepts. */
export function quantityHeld(holds: readonly Hold[], isCounted: (charge: Counted) => boolean): number {
  let quantity = 0;
  for (const hold of holds)
    for (const item of hold.items) if (isCounted(countedIn(hold, item))) quantity += item.quantity;
  return quantity;
}

type Use = { readonly item: HeldItem; readonly creditsRequired: number };

/** How the price of one item is covered. */
type Way = {
  /** The hold's credits that pay for the item. `further` is the number of other credits. */
  readonly held: readonly HeldPart[];
  readonly further: number;
  readonly overage: readonly OveragePart[];
  readonly uncovered: number;
  /** How much of the price the hold had set aside, as credits or overage, even if other credits or overage finally pay for the item. */
  readonly promised: number;
};

/** Covers the prices of all items, in this order: the hold's credits, other credits, the hold's overage, other overage. */
function cover(
  catalog: Catalog,
  draft: Draft,
  uses: readonly Use[],
  { atMostHeld, isLate }: Omit<Closing, "quantities">,
): { readonly items: readonly Way[]; readonly rest: readonly HeldPart[] } {
  const needs = uses.map(({ item, creditsRequired: credits }) => ({ ...item, credits }));
  const kept = isLate ? needs.map((need) => ({ ...need, parts: [], overage: [] })) : needs;
  const { spent, rest } = spend(kept);
  const promised = spend(kept.map((need) => ({ ...need, parts: [...need.parts, ...need.overage] }))).spent;
  // Computed before the hold's overage is freed, so that this overage is not available twice.
  const pools = new Map(
    uses.map(({ item: { pool } }) => [
      pool,
      atMostHeld
        ? { balance: 0, overage: 0 }
        : { balance: balanceOf(draft.wallet, pool), overage: overageLeftIn(catalog, draft.wallet, pool) },
    ]),
  );
  const paid = needs.map(({ pool, credits }, index) => {
    const available = pools.get(pool);
    assert(available !== undefined, "the pools of all items are known");
    const further = Math.min(credits - sumOf(spent[index] ?? []), available.balance);
    available.balance -= further;
    return { pool, available, further, missing: credits - sumOf(spent[index] ?? []) - further };
  });
  const own = spend(
    kept.map(({ pool, overage: parts }, index) => ({ pool, parts, credits: paid[index]?.missing ?? 0 })),
  );
  if (!isLate) for (const { item } of uses) draft.freeOverage(item.overage);
  const items = paid.map(({ pool, available, further, missing }, index): Way => {
    const ofHold = own.spent[index] ?? [];
    const more = Math.min(missing - sumOf(ofHold), available.overage);
    available.overage -= more;
    const overage = join(ofHold, overageParts(draft.wallet, pool, more));
    const uncovered = missing - sumOf(overage);
    return { held: spent[index] ?? [], further, overage, uncovered, promised: sumOf(promised[index] ?? []) };
  });
  return { items, rest };
}

type Charge = Way & { readonly item: HeldItem; readonly quantity: number };

function settle(
  draft: Draft,
  hold: Hold,
  { item: { feature, pool, overrides }, quantity, held, further, overage, uncovered }: Charge,
  place: ItemPlace | null,
): Entry {
  const { number, planVersion, assignment } = hold;
  const parts = burn(draft.wallet.grants, pool, further);
  const terms = { feature, planVersion, assignment, overrides };
  const usage = { ...terms, quantity, reverses: null, place, uncovered, overage };
  return draft.move({ kind: "consume", pool, parts, held, usage, hold: number });
}

function free(catalog: Catalog, draft: Draft, hold: Hold, rest: readonly HeldPart[]): void {
  if (rest.length === 0) return;
  const grants = [...new Set(rest.map(({ grant }) => grant))];
  const origins = grants.map((grant) => originOf(draft.wallet, grant, { hold, rest }));
  const parts = grants.map((number) => ({
    grant: number,
    amount: sumOf(rest.filter(({ grant }) => grant === number)),
  }));
  giveBack(catalog, draft, { parts, origins }, () => draft.bringBack(rest));
}

function originOf(
  wallet: Wallet,
  number: number,
  { hold, rest }: { readonly hold: Hold; readonly rest: readonly HeldPart[] },
): Origin {
  const held = findHeld(wallet, number);
  assert(held !== undefined, "only held credits are returned");
  const { pool, kind, expiresAt } = held;
  const toRevoke = sumOf(rest.filter(({ grant, isRevoked }) => grant === number && isRevoked));
  return { number, pool, kind, expiresAt, toRevoke, hold: hold.number };
}

/**
 * Revokes credits of a grant that open holds have set aside. `start` and `end` are positions among these credits, in the order in which
 * the holds were opened. The credits stay in their holds until the holds end.
 */
export function revokeHeld(
  draft: Draft,
  grant: number,
  { start, end }: { start: number; end: number },
): void {
  let at = 0;
  for (const hold of draft.wallet.holds.toSorted((a, b) => a.number - b.number)) {
    let isChanged = false;
    const items = hold.items.map((item): HeldItem => {
      const parts = item.parts.flatMap((part): HeldPart[] => {
        if (part.grant !== grant || part.isRevoked) return [part];
        const before = split([part], start - at);
        const revoked = split(before.left, end - Math.max(start, at));
        at += part.credits;
        if (revoked.first.length === 0) return [part];
        isChanged = true;
        return [
          ...before.first,
          ...revoked.first.map((each) => ({ ...each, isRevoked: true })),
          ...revoked.left,
        ];
      });
      return { ...item, parts };
    });
    if (isChanged) draft.noteHold("revoked", { ...hold, items });
  }
  const held = draft.wallet.held.map((other): HeldCredits => {
    const taken = Math.max(0, Math.min(end, other.credits - other.revoked) - start);
    return other.grant === grant ? { ...other, revoked: other.revoked + taken } : other;
  });
  draft.wallet = { ...draft.wallet, held };
}

/** The hold with the earliest end up to `now`. Ties: the oldest hold. Null if no hold has ended. */
export function findFirstEnd({ holds, holdsUntil, openHolds }: Wallet, now: Instant): Hold | null {
  assert(openHolds === 0 || now <= holdsUntil, "all holds that end before a decision are known");
  let first: Hold | null = null;
  for (const hold of holds)
    if (hold.expiresAt <= now && (first === null || endsBefore(hold, first))) first = hold;
  return first;
}

function endsBefore(a: Hold, b: Hold): boolean {
  return a.expiresAt < b.expiresAt || (a.expiresAt === b.expiresAt && a.number < b.number);
}

/** Ends a hold at its expiry: releases its credits, or charges them in full. */
export function expireHold(catalog: Catalog, draft: Draft, hold: Hold): void {
  const isCharged = hold.onExpiry === "charge";
  const quantities = isCharged ? hold.items.map(({ quantity }) => quantity) : null;
  closeHold(catalog, draft, hold, { quantities, atMostHeld: true, isLate: false });
  draft.noteHold(isCharged ? "charged" : "expired", hold);
}

/** Whether the hold has not expired. */
export function isOpenAt({ expiresAt }: Hold, now: Instant): boolean {
  return expiresAt > now;
}
