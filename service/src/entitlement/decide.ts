import { assert } from "../primitives/assert.ts";
import type { FeatureKey, Instant, PlanVersionId, PoolId } from "../primitives/brand.ts";
import { burn } from "./burn-order.ts";
import { unitsWithin } from "./buying-power.ts";
import {
  type Catalog,
  type Cost,
  chargeFor,
  type Feature,
  getPool,
  getVersion,
  type PlanFeature,
  type PlanVersion,
  type Pool,
} from "./catalog.ts";
import { applyDefaultPlan, catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change, Entry, ItemPlace } from "./entry.ts";
import { countUse, type LimitPosition, limitPosition } from "./limits.ts";
import { type OveragePosition, overageLeft, overageParts, overagePosition } from "./overage.ts";
import { findOverride, overrideTerms } from "./overrides.ts";
import { balanceOf, type FeatureOverride, type Hold, newWallet, type Wallet } from "./wallet.ts";

export type RequestedItem = { readonly feature: FeatureKey; readonly quantity: number };

/** Reasons for a denial, in the order in which they are checked. The first match decides. */
export const REASONS = [
  "customer_blocked",
  "customer_not_found",
  "no_active_plan",
  "feature_not_in_plan",
  "limit_reached",
  "insufficient_credits",
] as const;
export type Reason = (typeof REASONS)[number];

/** A customer's balance and limit for one feature at one moment. */
export type Position = {
  readonly balance: number;
  readonly resetsAt: Instant | null;
  readonly limit: LimitPosition | null;
  /** Null if the plan does not allow overage. */
  readonly overage: OveragePosition | null;
};

/** The decision about one feature of a request. */
export type ItemDecision = {
  readonly feature: Feature;
  readonly pool: Pool;
  readonly quantity: number;
  readonly cost: Cost;
  readonly creditsRequired: number;
  /** Credits that earlier items in the request need from the same pool. */
  readonly creditsBefore: number;
  /** Identifies the customer's overrides that change the feature. Null if none do. */
  readonly overrides: number | null;
  /** The position before the request, with all due changes applied. Null for an unknown customer. */
  readonly before: Position | null;
  /** The position after the whole request. Equal to `before` if the request is denied. */
  readonly after: Position | null;
  /** The charge, which is also in the decision's change. Null if the request is denied, is a check or holds credits. */
  readonly entry: Entry | null;
};

export type Decided = {
  readonly kind: "decided";
  readonly allowed: boolean;
  readonly reason: Reason | null;
  /** The index of the first item that cannot be allowed. Null if the request is allowed. */
  readonly deniedItem: number | null;
  /** The quantity of the denied item that the balance, overage and limit allow after the earlier items. Null if the request is allowed. */
  readonly affordableQuantity: number | null;
  /** The decision about each requested item, in the same order. */
  readonly items: readonly ItemDecision[];
  readonly change: Change | null;
  readonly planVersion: PlanVersionId | null;
  /** The hold that the request opened. Null if it did not open a hold. */
  readonly hold: Hold | null;
};

export type Decision = { readonly kind: "feature_not_found"; readonly feature: FeatureKey } | Decided;

/** A requested feature, with the terms on which the customer may use it. */
type Offer = {
  readonly feature: Feature;
  /** The plan's terms, without overrides. */
  readonly planTerms: PlanFeature | undefined;
  readonly override: FeatureOverride | null;
  readonly overrides: number | null;
  /** The terms for this customer, with overrides. Undefined if the customer may not use the feature. */
  readonly terms: PlanFeature | undefined;
  readonly pool: Pool;
  readonly quantity: number;
};

/** One item, with the price and balance that its decision is based on. */
export type Priced = Offer &
  Pick<ItemDecision, "cost" | "creditsRequired" | "creditsBefore"> & { readonly before: Position };

/** The result of an allowed request: one charge for each item, or a hold. */
type Taken = { readonly entries: readonly Entry[]; readonly hold: Hold | null };

/** Charges a request that is allowed, or holds its credits. */
type Take = (draft: Draft, items: readonly Priced[]) => Taken;

/**
 * Decides whether a customer may use one or several features, and what they cost. All items are charged, or none. Each feature may appear
 * only once. The result depends only on the arguments. Without `take`, nothing is charged, and `after` equals `before`.
 */
export function decide(
  catalog: Catalog,
  known: Wallet | null,
  requested: readonly RequestedItem[],
  clock: Instant,
  take: Take | null = chargeAll,
): Decision {
  const features: Feature[] = [];
  for (const { feature: key } of requested) {
    const feature = catalog.features.get(key);
    if (feature === undefined) return { kind: "feature_not_found", feature: key };
    features.push(feature);
  }
  if (known === null && catalog.defaultPlan.plan === null) return denyUnknown(catalog, features, requested);
  const wallet = known ?? newWallet(clock);
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  applyDefaultPlan(catalog, draft);

  const { assignment, overrides } = draft.wallet;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
  const priced: Priced[] = [];
  for (const [index, feature] of features.entries()) {
    const quantity = requested[index]?.quantity ?? 0;
    const planTerms = version?.features.get(feature.id);
    const override = version === null ? null : findOverride(overrides, feature.id);
    const terms = overrideTerms(planTerms, override);
    const { pool: poolId, cost } = terms ?? planTerms ?? feature;
    const pool = getPool(catalog, poolId);
    const number = override === null ? null : (overrides?.number ?? null);
    const offer = { feature, planTerms, override, overrides: number, terms, pool, quantity };
    const before = positionOf(draft.wallet, version, offer, now);
    const creditsBefore = sumOfPool(priced, pool);
    priced.push({ ...offer, cost, creditsRequired: chargeFor(cost, quantity), creditsBefore, before });
  }
  const planVersion = assignment?.version ?? null;
  const denial = findDenial(draft.wallet, priced);
  const verdict = { allowed: denial === null, ...(denial ?? NO_DENIAL) };
  if (denial !== null || take === null) {
    const items = priced.map((item) => toItem(item, item.before, null));
    return { kind: "decided", ...verdict, items, change: draft.finish(now, "open"), planVersion, hold: null };
  }
  const { entries, hold } = take(draft, priced);
  const items = priced.map((item, index) =>
    toItem(item, positionOf(draft.wallet, version, item, now), entries[index] ?? null),
  );
  return { kind: "decided", ...verdict, items, change: draft.finish(now, "open"), planVersion, hold };
}

/** Denies an unknown customer if there is no default plan, because there is no wallet to base a decision on. */
function denyUnknown(
  catalog: Catalog,
  features: readonly Feature[],
  requested: readonly RequestedItem[],
): Decided {
  const items = features.map((feature, index): ItemDecision => {
    const quantity = requested[index]?.quantity ?? 0;
    const unknown = { creditsBefore: 0, overrides: null, before: null, after: null, entry: null };
    const pool = getPool(catalog, feature.pool);
    const { cost } = feature;
    return { feature, pool, quantity, cost, creditsRequired: chargeFor(cost, quantity), ...unknown };
  });
  const verdict = {
    allowed: false,
    reason: "customer_not_found",
    deniedItem: 0,
    affordableQuantity: 0,
  } as const;
  return { kind: "decided", ...verdict, items, change: null, planVersion: null, hold: null };
}

function toItem(item: Priced, after: Position, entry: Entry | null): ItemDecision {
  const { feature, pool, quantity, cost, creditsRequired, creditsBefore, overrides, before } = item;
  return { feature, pool, quantity, cost, creditsRequired, creditsBefore, overrides, before, after, entry };
}

function sumOfPool(items: readonly Priced[], pool: Pool): number {
  let sum = 0;
  for (const item of items) if (item.pool === pool) sum += item.creditsRequired;
  return sum;
}

type Denial = { readonly reason: Reason; readonly deniedItem: number; readonly affordableQuantity: number };

const NO_DENIAL = { reason: null, deniedItem: null, affordableQuantity: null };

/** The first item that cannot be allowed after the earlier items are charged. */
function findDenial(wallet: Wallet, items: readonly Priced[]): Denial | null {
  for (const [deniedItem, item] of items.entries()) {
    const reason = findReason(wallet, item);
    if (reason !== null) return { reason, deniedItem, affordableQuantity: affordable(item, reason) };
  }
  return null;
}

function findReason(wallet: Wallet, item: Priced): Reason | null {
  const { terms, before, quantity } = item;
  const { balance, limit } = before;
  if (wallet.isBlocked) return "customer_blocked";
  if (wallet.assignment === null) return "no_active_plan";
  if (terms === undefined) return "feature_not_in_plan";
  if (limit !== null && quantity > limit.remaining) return "limit_reached";
  const missing = item.creditsRequired - (balance - item.creditsBefore);
  if (missing > overageLeft(before.overage)) return "insufficient_credits";
  return null;
}

/** The quantity that the balance, overage and limit allow. Zero if the denial has another reason. */
function affordable({ cost, before, creditsBefore }: Priced, reason: Reason): number {
  if (reason !== "limit_reached" && reason !== "insufficient_credits") return 0;
  const units = unitsWithin(cost, { ...before, balance: before.balance - creditsBefore });
  return Math.min(units, Number.MAX_SAFE_INTEGER);
}

function chargeAll(draft: Draft, items: readonly Priced[]): Taken {
  const of = items.length;
  const entries = items.map((item, index) => charge(draft, item, of === 1 ? null : { index, of }));
  return { entries, hold: null };
}

function charge(draft: Draft, item: Priced, place: ItemPlace | null): Entry {
  const { overrides, terms, pool, quantity, creditsRequired } = item;
  const { assignment } = draft.wallet;
  assert(terms !== undefined && assignment !== null, "only a feature that the customer may use is charged");
  const credits = Math.min(creditsRequired, balanceOf(draft.wallet, pool.id));
  const entry = draft.move({
    kind: "consume",
    pool: pool.id,
    parts: burn(draft.wallet.grants, pool.id, credits),
    usage: {
      feature: terms.feature,
      quantity,
      planVersion: assignment.version,
      assignment: assignment.number,
      overrides,
      reverses: null,
      place,
      uncovered: 0,
      overage: overageParts(draft.wallet, pool.id, creditsRequired - credits),
    },
  });
  count(draft, item, entry.sequence);
  return entry;
}

/** Counts an item against the limits. `sequence` is the sequence of its entry or, for a hold, of the next entry. */
export function count(
  draft: Draft,
  { feature, planTerms, override, quantity }: Priced,
  sequence: number,
): void {
  const { assignment } = draft.wallet;
  assert(assignment !== null, "only a customer with a plan uses a feature");
  const use = { quantity, sequence, now: draft.at };
  const before = { ...draft.wallet, assignment };
  const { counters, ownCounters } = countUse(before, { feature: feature.id, planTerms, override }, use);
  draft.wallet = { ...draft.wallet, assignment: { ...assignment, counters }, ownCounters };
}

function positionOf(
  wallet: Wallet,
  version: PlanVersion | null,
  { feature: { id: feature }, planTerms, override, terms, pool }: Offer,
  now: Instant,
): Position {
  return {
    balance: balanceOf(wallet, pool.id),
    resetsAt: resetOf(wallet, version, pool.id),
    limit: terms === undefined ? null : limitPosition(wallet, { feature, planTerms, override }, now),
    overage: overagePosition(wallet, version, pool.id),
  };
}

/**
 * When the plan grants the pool's next allowance. Null if the current version has no allowance for the pool, even if an earlier
 * version did.
 */
export function resetOf({ assignment }: Wallet, version: PlanVersion | null, pool: PoolId): Instant | null {
  const isGranted = version?.allowances.some((allowance) => allowance.pool === pool) ?? false;
  if (!isGranted) return null;
  return assignment?.allowances.find((allowance) => allowance.pool === pool)?.end ?? null;
}
