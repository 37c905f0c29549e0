import { assert } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";
import { type Catalog, chargeFor, getVersion } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change, Entry, Part, Usage } from "./entry.ts";
import { giveBack, isUsable, type Origin } from "./give-back.ts";
import { recount } from "./limits.ts";
import { findOverride, overrideTerms } from "./overrides.ts";
import { split, sumOf } from "./part-lists.ts";
import { type GrantFacts, ownedIn } from "./revoke-grant.ts";
import { findHeld, hasRoomFor, type OveragePart, type Overrides, type Wallet } from "./wallet.ts";

/** A charge from the ledger, and how much of it is already reversed. */
export type ConsumeFacts = Pick<Entry, "sequence" | "pool" | "parts" | "hold"> &
  Pick<Usage, "feature" | "quantity" | "planVersion" | "assignment" | "overrides" | "place" | "overage"> & {
    readonly reversedQuantity: number;
  };

type ReversalRequest = {
  /** All charges of one request, or a single charge. */
  readonly consumes: readonly ConsumeFacts[];
  /** The quantity to reverse, which requires exactly one charge. Null for everything not yet reversed. */
  readonly quantity: number | null;
  /** All grants in the slots (`GrantFacts`) that the charges took credits from. */
  readonly grants: readonly GrantFacts[];
  /** The overrides that the charges refer to. */
  readonly overrides: readonly Overrides[];
};

/** How much of one charge was reversed. */
export type Reversed = {
  readonly item: number;
  readonly quantity: number;
  readonly credits: number;
  readonly overageCredits: number;
};

/** How much was reversed in total, and of each charge. */
export type ReversedTotal = {
  readonly quantity: number;
  readonly credits: number;
  readonly overageCredits: number;
  readonly items: readonly Reversed[];
};

export function totalOf(items: readonly Reversed[]): ReversedTotal {
  let [quantity, credits, overageCredits] = [0, 0, 0];
  for (const item of items) {
    quantity += item.quantity;
    credits += item.credits;
    overageCredits += item.overageCredits;
  }
  return { quantity, credits, overageCredits, items };
}

export type ReversalOutcome =
  | ({ kind: "reversed"; change: Change } & ReversedTotal)
  | { kind: "nothing_left" }
  | { kind: "too_much"; reversible: number }
  | { kind: "balance_too_large" };

/**
 * Reverses one charge, fully or in part, or all charges of a request. Credits return to their grants and keep their expiry, and the limit
 * counter decreases. The remaining charge always equals the cost of the remaining quantity, even after several partial reversals.
 */
export function reverseConsume(
  catalog: Catalog,
  wallet: Wallet,
  { consumes, quantity: wanted, grants, overrides }: ReversalRequest,
  clock: Instant,
): ReversalOutcome {
  assert(
    wanted === null || (Number.isSafeInteger(wanted) && wanted >= 1 && consumes.length === 1),
    "a quantity to reverse is a whole number, of one charge",
  );
  const open = consumes.filter(({ quantity, reversedQuantity }) => quantity > reversedQuantity);
  if (open.length === 0) return { kind: "nothing_left" };
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  const reversed: Reversed[] = [];
  for (const consume of open) {
    const reversible = consume.quantity - consume.reversedQuantity;
    const quantity = wanted ?? reversible;
    if (quantity > reversible) return { kind: "too_much", reversible };
    const planTerms = getVersion(catalog, consume.planVersion).features.get(consume.feature);
    const own = overrides.find(({ number }) => number === consume.overrides) ?? null;
    assert(own?.number === (consume.overrides ?? undefined), "the overrides of a charge are known");
    const terms = overrideTerms(planTerms, findOverride(own, consume.feature));
    assert(terms !== undefined, "a charge was priced by its plan version and overrides");
    const charged = chargeFor(terms.cost, reversible);
    const kept = chargeFor(terms.cost, reversible - quantity);
    const parts = partsBetween(consume.parts, kept, charged);
    const paid = -amountOf(consume.parts);
    const used = split(consume.overage, charged - paid).first;
    const overage = split(used, kept - paid).left;
    // Applies the same maximum as for added credits, because room is reserved for allowances.
    const bought = parts.filter(({ grant }) => getFacts(grants, grant).kind !== "allowance");
    if (!hasRoomFor(draft.wallet, amountOf(bought))) return { kind: "balance_too_large" };
    const credits = amountOf(parts);
    const overageCredits = sumOf(overage);
    // The uncovered part is undone first, then overage. Only the remaining part returns credits.
    const uncovered = charged - kept - credits - overageCredits;
    reversePart(catalog, draft, { consume, quantity, uncovered, overage, parts, grants });
    reversed.push({ item: consume.place?.index ?? 0, quantity, credits, overageCredits });
  }
  const change = draft.finish(now);
  assert(change !== null, "a reversal writes an entry");
  return { kind: "reversed", ...totalOf(reversed), change };
}

type ReversedPart = {
  readonly consume: ConsumeFacts;
  readonly quantity: number;
  readonly uncovered: number;
  readonly overage: readonly OveragePart[];
  readonly parts: readonly Part[];
  readonly grants: readonly GrantFacts[];
};

/** Reverses one charge by the given quantity and credits. */
function reversePart(
  catalog: Catalog,
  draft: Draft,
  { consume, quantity, uncovered, overage, parts, grants }: ReversedPart,
): void {
  const { feature, planVersion, assignment, overrides, place, hold, sequence: reverses, pool } = consume;
  const terms = { feature, planVersion, assignment, overrides };
  const usage = { ...terms, quantity, place, uncovered, overage, reverses };
  const origins = parts.map((part) => originOf(draft, grants, part));
  giveBack(catalog, draft, { parts, origins }, () =>
    draft.move({ kind: "reverse", pool, parts, usage, hold }),
  );
  draft.wallet = recount(draft.wallet, consume, -quantity);
}

function originOf(draft: Draft, grants: readonly GrantFacts[], { grant: number, amount }: Part): Origin {
  const { kind, pool, expiresAt, isRevoked } = getFacts(grants, number);
  const origin = { number, pool, kind, expiresAt, hold: null };
  if (!isUsable(draft, origin)) return { ...origin, toRevoke: isRevoked ? amount : 0 };
  const slot = grants.filter((facts) => facts.slot === number);
  const excess = slot.some((facts) => facts.isRevoked)
    ? unrevokedIn(draft.wallet, number) + amount - ownedIn(slot)
    : 0;
  return { ...origin, toRevoke: Math.min(amount, Math.max(0, excess)) };
}

/** The credits of a slot that remain or are held, without held credits that were revoked. */
function unrevokedIn(wallet: Wallet, slot: number): number {
  const remaining = wallet.grants.find(({ number }) => number === slot)?.remaining ?? 0;
  const { credits = 0, revoked = 0 } = findHeld(wallet, slot) ?? {};
  return remaining + credits - revoked;
}

/** The credits to return: the charge's credits from `kept` up to `charged`. Credits burned last are returned first. */
function partsBetween(parts: readonly Part[], kept: number, charged: number): Part[] {
  const back: Part[] = [];
  let burned = 0;
  for (const { grant, amount } of parts) {
    const from = Math.max(burned, kept);
    burned -= amount;
    const to = Math.min(burned, charged);
    if (to > from) back.push({ grant, amount: to - from });
  }
  return back;
}

function amountOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { amount }) => sum + amount, 0);
}

function getFacts(grants: readonly GrantFacts[], number: number): GrantFacts {
  const facts = grants.find((grant) => grant.number === number);
  assert(facts !== undefined, "a charge spent grants that were recorded");
  return facts;
}
