import { assert } from "../primitives/assert.ts";
import type { Instant, PoolId } from "../primitives/brand.ts";
import { isAhead } from "./assignment.ts";
import { type Catalog, chargeFor, getVersion } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change, Entry, Part, Usage } from "./entry.ts";
import { countsCharge } from "./limits.ts";
import { findOverride, overrideTerms } from "./overrides.ts";
import type { GrantFacts } from "./revoke-grant.ts";
import {
  type Assignment,
  hasRoomFor,
  type LimitCounter,
  type Overrides,
  type PausedPlan,
  type Wallet,
} from "./wallet.ts";

/** A charge from the ledger, and how much of it is already reversed. */
export type ConsumeFacts = Pick<Entry, "sequence" | "pool" | "parts"> &
  Pick<Usage, "feature" | "quantity" | "planVersion" | "assignment" | "overrides" | "place"> & {
    readonly reversedQuantity: number;
  };

type ReversalRequest = {
  /** The charges of one request, or one of them. */
  readonly consumes: readonly ConsumeFacts[];
  /** Null reverses everything not yet reversed. A quantity requires exactly one charge. */
  readonly quantity: number | null;
  /** All grants in the slots (`GrantFacts`) that the charges took credits from. */
  readonly grants: readonly GrantFacts[];
  /** The overrides that the charges name. */
  readonly overrides: readonly Overrides[];
};

/** How much of one charge was reversed. */
export type Reversed = { readonly item: number; readonly quantity: number; readonly credits: number };

/** How much was reversed of each charge, and of all of them. */
export type ReversedTotal = {
  readonly quantity: number;
  readonly credits: number;
  readonly items: readonly Reversed[];
};

export function totalOf(items: readonly Reversed[]): ReversedTotal {
  let [quantity, credits] = [0, 0];
  for (const item of items) {
    quantity += item.quantity;
    credits += item.credits;
  }
  return { quantity, credits, items };
}

export type ReversalOutcome =
  | ({ kind: "reversed"; change: Change } & ReversedTotal)
  | { kind: "nothing_left" }
  | { kind: "too_much"; reversible: number }
  | { kind: "balance_too_large" };

/**
 * Reverses one charge, fully or in part, or all charges of a request. Credits return to their grants and keep their expiry, and the
 * limit counter decreases. The remaining charge is the cost of the remaining quantity, in however many steps it was reversed.
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
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  const reversed: Reversed[] = [];
  for (const consume of open) {
    const reversible = consume.quantity - consume.reversedQuantity;
    const quantity = wanted ?? reversible;
    if (quantity > reversible) return { kind: "too_much", reversible };
    const planned = getVersion(catalog, consume.planVersion).features.get(consume.feature);
    const own = overrides.find(({ number }) => number === consume.overrides) ?? null;
    assert(own?.number === (consume.overrides ?? undefined), "the overrides of a charge are known");
    const terms = overrideTerms(planned, findOverride(own, consume.feature));
    assert(terms !== undefined, "a charge was priced by its plan version and overrides");
    const charged = chargeFor(terms.cost, reversible);
    const kept = chargeFor(terms.cost, reversible - quantity);
    const parts = partsBetween(consume.parts, kept, charged);
    // The same limit as for added credits, because room is reserved for allowances.
    const bought = parts.filter(({ grant }) => getFacts(grants, grant).kind !== "allowance");
    if (!hasRoomFor(draft.wallet, sumOf(bought))) return { kind: "balance_too_large" };
    giveBackParts(catalog, draft, { consume, quantity, parts, grants, now });
    reversed.push({ item: consume.place?.index ?? 0, quantity, credits: charged - kept });
  }
  const change = draft.finish(now);
  assert(change !== null, "a reversal is an entry");
  return { kind: "reversed", ...totalOf(reversed), change };
}

type ReversedPart = {
  readonly consume: ConsumeFacts;
  readonly quantity: number;
  readonly parts: readonly Part[];
  readonly grants: readonly GrantFacts[];
  readonly now: Instant;
};

/** Reverses one charge by the given quantity and credits. */
function giveBackParts(
  catalog: Catalog,
  draft: Draft,
  { consume, quantity, parts, grants, now }: ReversedPart,
): void {
  const homes = parts.map(({ grant }) => findHome(draft.wallet, getFacts(grants, grant), now));
  for (const [index, { grant: number }] of parts.entries()) {
    const { kind, expiresAt } = getFacts(grants, number);
    if (homes[index] !== "open") draft.place({ number, pool: consume.pool, kind, expiresAt });
  }
  const { feature, planVersion, assignment, overrides, place, sequence: reverses, pool } = consume;
  draft.move({
    kind: "reverse",
    pool,
    parts,
    usage: { feature, quantity, planVersion, assignment, overrides, place, reverses },
  });
  for (const [index, part] of parts.entries()) {
    const isHome = homes[index] === "open" || homes[index] === "spent";
    if (isHome) {
      revokeAgain(draft, part, grants, pool);
      expireExcess(catalog, draft, part, pool);
    } else {
      const kind = getFacts(grants, part.grant).isRevoked ? "revoke" : "expire";
      takeAway(catalog, draft, part, pool, kind);
    }
  }
  lowerCounter(draft, consume, quantity);
}

/** The credits to return: those burned from `kept` up to `charged`. The credits burned last are returned first. */
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

function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { amount }) => sum + amount, 0);
}

/** The state of a grant that gets credits back. They are usable ("open", "spent"), wait for a paused plan, or expire ("over"). */
type Home = "open" | "spent" | "paused" | "over";

function findHome({ grants, paused }: Wallet, facts: GrantFacts, now: Instant): Home {
  if (grants.some(({ number }) => number === facts.number)) return "open";
  if (paused.some((plan) => plan.grants.some(({ number }) => number === facts.number))) return "paused";
  // An allowance stays in the wallet until it expires; any other grant is removed when it is spent.
  return facts.kind !== "allowance" && isAhead(facts.expiresAt, now) ? "spent" : "over";
}

/** Removes the credits returned to a grant that has ended, so that the ledger shows where they went. */
function takeAway(
  catalog: Catalog,
  draft: Draft,
  { grant: number, amount }: Part,
  pool: PoolId,
  kind: "expire" | "revoke",
): void {
  draft.move({ kind, pool, parts: [{ grant: number, amount: -amount }] });
  draft.remove(number);
  // Revoked credits stay revoked, even if the plan resumes.
  if (kind === "revoke") return;
  const { assignment, paused } = draft.wallet;
  draft.wallet = {
    ...draft.wallet,
    assignment: assignment === null ? null : forgetUse(assignment, number, amount),
    paused: paused.map((plan) => giveBack(catalog, plan, number, amount)),
  };
}

/** Returns credits to a paused plan, up to the allowance of its version. */
function giveBack(catalog: Catalog, plan: PausedPlan, number: number, amount: number): PausedPlan {
  const open = plan.grants.find((grant) => grant.number === number);
  if (open === undefined) return { ...plan, assignment: forgetUse(plan.assignment, number, amount) };
  const remaining = open.remaining + amount;
  const excess = findExcess(catalog, plan.assignment, { grant: number, amount }, plan.leftAt);
  return {
    ...plan,
    assignment: forgetUse(plan.assignment, number, excess),
    grants: plan.grants.map((grant) => (grant === open ? { ...open, remaining: remaining - excess } : grant)),
  };
}

/** Expires credits that a reversal returned to an allowance beyond the credits that the current plan version grants. */
function expireExcess(catalog: Catalog, draft: Draft, part: Part, pool: PoolId): void {
  const { assignment, grants } = draft.wallet;
  const remaining = grants.find(({ number }) => number === part.grant)?.remaining ?? 0;
  if (assignment === null) return;
  const excess = Math.min(remaining, findExcess(catalog, assignment, part, draft.at));
  if (excess === 0) return;
  draft.move({ kind: "expire", pool, parts: [{ grant: part.grant, amount: -excess }] });
  draft.wallet = { ...draft.wallet, assignment: forgetUse(assignment, part.grant, excess) };
}

/**
 * How much of the returned credits exceeds the plan version's allowance minus its used credits. `activeAt` is the last time at which the
 * plan was active: an allowance whose period had ended by then was not changed by the version.
 */
function findExcess(
  catalog: Catalog,
  { version, allowances }: Assignment,
  { grant: number, amount }: Part,
  activeAt: Instant,
): number {
  const granted = allowances.find(({ grant }) => grant === number);
  if (granted === undefined || (granted.end !== null && granted.end < activeAt)) return 0;
  const allowance = getVersion(catalog, version).allowances.find(({ pool }) => pool === granted.pool);
  const credits = granted.own ?? allowance?.credits ?? granted.base;
  return Math.min(amount, Math.max(0, granted.base - credits));
}

/** An allowance that a version dropped gets no credits back, but the reversed amount no longer counts as used. */
function forgetUse(assignment: Assignment, number: number, amount: number): Assignment {
  const allowances = assignment.allowances.map((granted) =>
    granted.grant === number ? { ...granted, base: granted.base - amount } : granted,
  );
  return { ...assignment, allowances };
}

/** Revokes returned credits again if the slot would hold more than the credits of its grants that are not revoked. */
function revokeAgain(
  draft: Draft,
  { grant: slot, amount }: Part,
  grants: readonly GrantFacts[],
  pool: PoolId,
): void {
  const members = grants.filter((facts) => facts.slot === slot);
  if (!members.some(({ isRevoked }) => isRevoked)) return;
  const open = draft.wallet.grants.find(({ number }) => number === slot);
  let owned = 0;
  for (const { isRevoked, credits } of members) if (!isRevoked) owned += credits;
  const excess = Math.min(amount, Math.max(0, (open?.remaining ?? 0) - owned));
  if (excess > 0) draft.move({ kind: "revoke", pool, parts: [{ grant: slot, amount: -excess }] });
}

function getFacts(grants: readonly GrantFacts[], number: number): GrantFacts {
  const facts = grants.find((grant) => grant.number === number);
  assert(facts !== undefined, "a charge spent grants that were recorded");
  return facts;
}

function lowerCounter(draft: Draft, consume: ConsumeFacts, quantity: number): void {
  const { assignment, paused, ownCounters } = draft.wallet;
  const lower = (other: Assignment): Assignment =>
    other.number === consume.assignment
      ? { ...other, counters: other.counters.map((counter) => lowered(counter, consume, quantity)) }
      : other;
  draft.wallet = {
    ...draft.wallet,
    assignment: assignment === null ? null : lower(assignment),
    paused: paused.map((plan): PausedPlan => ({ ...plan, assignment: lower(plan.assignment) })),
    ownCounters: ownCounters.map((counter) =>
      countsCharge(counter, consume) ? { ...counter, used: counter.used - quantity } : counter,
    ),
  };
}

/** Lowers only the counter that counted the charge, not one for a later period. */
function lowered(counter: LimitCounter, { feature, sequence }: ConsumeFacts, quantity: number): LimitCounter {
  const isItsOwn = counter.feature === feature && counter.fromSequence <= sequence;
  return isItsOwn ? { ...counter, used: counter.used - quantity } : counter;
}
