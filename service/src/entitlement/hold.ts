import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import { burn } from "./burn-order.ts";
import { type Catalog, chargeFor, getVersion } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import type { Entry, ItemPlace } from "./entry.ts";
import { giveBack, type Origin } from "./give-back.ts";
import { type Counted, recount } from "./limits.ts";
import {
  joinOverage,
  overageLeft,
  overageParts,
  overagePosition,
  splitOverage,
  sumOfOverage,
} from "./overage.ts";
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

/** What became of one item of a hold. */
export type SettledItem = {
  readonly item: HeldItem;
  /** The quantity that was really used. */
  readonly quantity: number;
  /** What the quantity costs: `creditsCharged + overageCredits + creditsUncovered`. */
  readonly creditsRequired: number;
  readonly creditsCharged: number;
  /** How many of the charged credits the hold had set aside. */
  readonly creditsFromHold: number;
  readonly overageCredits: number;
  /** The part of the price that exceeds what was held, whether anything covered it or not. */
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  /** The charge. Null if nothing was used. */
  readonly entry: Entry | null;
};

type Closing = {
  /** The quantities that were really used, in the order of the hold's items. Null frees everything. */
  readonly quantities: readonly number[] | null;
  /** Takes no credits other than those of the hold. */
  readonly atMostHeld: boolean;
  /** Whether the hold has ended before and freed its credits. */
  readonly isLate: boolean;
};

/**
 * Ends a hold: charges what was used and returns the rest. Credits of the hold pay first, then other credits in burn order, then overage:
 * first what the hold has set aside of it. The charges of one hold are consecutive, so credits return after them.
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
  const { spent, rest } = isLate ? { spent: [], rest: [] } : spendHeld(uses);
  const promised = isLate ? [] : promise(uses);
  const overage = new HeldOverage(isLate ? [] : hold.items);
  if (!isLate) draft.wallet = { ...draft.wallet, openHolds: draft.wallet.openHolds - 1 };
  const count = uses.filter(({ quantity }) => quantity > 0).length;
  const settled: SettledItem[] = [];
  let index = 0;
  for (const [position, use] of uses.entries()) {
    const { item, quantity, creditsRequired } = use;
    const held = spent[position] ?? [];
    const creditsFromHold = sumOf(held);
    const beyond = creditsRequired - creditsFromHold;
    const further = atMostHeld ? 0 : Math.min(beyond, balanceOf(draft.wallet, item.pool));
    const own = overage.take(item.pool, beyond - further);
    // What the hold has set aside is not left, even if it was just taken.
    const more = atMostHeld ? 0 : Math.min(beyond - further - sumOfOverage(own), left(catalog, draft, item));
    draft.freeOverage(own);
    const parts = joinOverage(own, overageParts(draft.wallet, item.pool, more));
    const overageCredits = sumOfOverage(parts);
    const creditsUncovered = beyond - further - overageCredits;
    const charge = { item, quantity, held, further, overage: parts, uncovered: creditsUncovered };
    const place = count > 1 ? { index, of: count } : null;
    const entry = quantity === 0 ? null : settle(draft, hold, charge, place);
    if (entry !== null) index += 1;
    const creditsCharged = creditsFromHold + further;
    const creditsBeyondHold = creditsRequired - (promised[position] ?? 0);
    const covered = { creditsCharged, creditsFromHold, overageCredits };
    settled.push({ ...use, ...covered, creditsBeyondHold, creditsUncovered, entry });
    draft.wallet = recount(draft.wallet, countedIn(hold, item), isLate ? quantity : quantity - item.quantity);
  }
  draft.freeOverage(overage.rest);
  free(catalog, draft, hold, rest);
  return settled;
}

/** A hold is counted by its number: it has no entry yet. */
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

/** How the hold's credits are spent: each item first uses its own, then what other items of the same pool leave. */
function spendHeld(uses: readonly Use[]): { spent: HeldPart[][]; rest: HeldPart[] } {
  const own = uses.map(({ item, creditsRequired }) => split(item.parts, creditsRequired));
  let rest = own.map(({ left }) => left);
  const spent = uses.map(({ item, creditsRequired }, index) => {
    let parts = own[index]?.first ?? [];
    rest = rest.map((left, other) => {
      if (uses[other]?.item.pool !== item.pool) return left;
      const more = split(left, creditsRequired - sumOf(parts));
      parts = joinHeld(parts, more.first);
      return more.left;
    });
    return parts;
  });
  return { spent, rest: rest.reduce<HeldPart[]>(joinHeld, []) };
}

/** How much of each price the hold had promised to cover, with credits or overage: first for its own item, then for others. */
function promise(uses: readonly Use[]): number[] {
  const rest = uses.map(({ item, creditsRequired }) =>
    Math.max(0, sumOf(item.parts) + sumOfOverage(item.overage) - creditsRequired),
  );
  return uses.map(({ item, creditsRequired }) => {
    let open = Math.max(0, creditsRequired - sumOf(item.parts) - sumOfOverage(item.overage));
    for (const [other, use] of uses.entries()) {
      if (use.item.pool !== item.pool) continue;
      const taken = Math.min(open, rest[other] ?? 0);
      rest[other] = (rest[other] ?? 0) - taken;
      open -= taken;
    }
    return creditsRequired - open;
  });
}

/** The overage that a hold has set aside, by pool. */
class HeldOverage {
  readonly #pools = new Map<PoolId, readonly OveragePart[]>();

  constructor(items: readonly HeldItem[]) {
    for (const { pool, overage } of items) this.#pools.set(pool, joinOverage(this.#in(pool), overage));
  }

  take(pool: PoolId, credits: number): readonly OveragePart[] {
    const { first, left } = splitOverage(this.#in(pool), credits);
    this.#pools.set(pool, left);
    return first;
  }

  get rest(): readonly OveragePart[] {
    return [...this.#pools.values()].flat();
  }

  #in(pool: PoolId): readonly OveragePart[] {
    return this.#pools.get(pool) ?? [];
  }
}

/** The overage that the customer's present plan still allows. */
function left(catalog: Catalog, { wallet }: Draft, { pool }: HeldItem): number {
  const version = wallet.assignment === null ? null : getVersion(catalog, wallet.assignment.version);
  return overageLeft(overagePosition(wallet, version, pool));
}

/** Splits parts after the first `credits` credits. */
function split(parts: readonly HeldPart[], credits: number): { first: HeldPart[]; left: HeldPart[] } {
  const first: HeldPart[] = [];
  const left: HeldPart[] = [];
  let open = Math.max(0, credits);
  for (const part of parts) {
    const taken = Math.min(open, part.credits);
    open -= taken;
    if (taken > 0) first.push({ ...part, credits: taken });
    if (part.credits > taken) left.push({ ...part, credits: part.credits - taken });
  }
  return { first, left };
}

/** All parts in order. Credits of the same grant are one part, unless some of them were revoked. */
export function joinHeld(parts: readonly HeldPart[], more: readonly HeldPart[]): HeldPart[] {
  const joined = new Map<string, HeldPart>();
  for (const part of [...parts, ...more]) {
    const name = `${part.grant} ${part.isRevoked}`;
    joined.set(name, { ...part, credits: (joined.get(name)?.credits ?? 0) + part.credits });
  }
  return [...joined.values()];
}

export function sumOf(parts: readonly HeldPart[]): number {
  let credits = 0;
  for (const part of parts) credits += part.credits;
  return credits;
}

type Charge = {
  readonly item: HeldItem;
  readonly quantity: number;
  readonly held: readonly HeldPart[];
  readonly further: number;
  readonly overage: readonly OveragePart[];
  readonly uncovered: number;
};

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
  assert(held !== undefined, "credits that return were held");
  const { pool, kind, expiresAt } = held;
  const toRevoke = sumOf(rest.filter(({ grant, isRevoked }) => grant === number && isRevoked));
  return { number, pool, kind, expiresAt, toRevoke, hold: hold.number };
}

/**
 * Revokes credits of a grant that open holds have set aside: those from `start` to `end`, counted over all holds in the order in which
 * they were opened. The holds keep them until they end.
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

/** The hold that ends first, by `now`. Of several that end at the same time, the oldest. */
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

/** Ends a hold at its expiry: frees its credits, or charges them in full. */
export function expireHold(catalog: Catalog, draft: Draft, hold: Hold): void {
  const isCharged = hold.onExpiry === "charge";
  const quantities = isCharged ? hold.items.map(({ quantity }) => quantity) : null;
  closeHold(catalog, draft, hold, { quantities, atMostHeld: true, isLate: false });
  draft.noteHold(isCharged ? "charged" : "expired", hold);
}

/** Whether the hold has not ended by itself. */
export function isOpenAt({ expiresAt }: Hold, now: Instant): boolean {
  return expiresAt > now;
}
