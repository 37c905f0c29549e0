import type { FeatureKey, Instant, PlanVersionId, PoolId } from "../primitives/brand.ts";
import { isAhead } from "./assignment.ts";
import { burn } from "./burn-order.ts";
import {
  type Catalog,
  chargeFor,
  type Feature,
  getVersion,
  type PlanFeature,
  type PlanVersion,
} from "./catalog.ts";
import { applyDefaultPlan, catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change, Entry } from "./entry.ts";
import { periodAt } from "./period.ts";
import { type Assignment, balanceOf, type LimitCounter, newWallet, type Wallet } from "./wallet.ts";

export type Question = { readonly feature: FeatureKey; readonly quantity: number };

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
};

export type LimitPosition = {
  readonly quantity: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: Instant | null;
};

export type Decision =
  | { kind: "feature_not_found" }
  | {
      kind: "decided";
      allowed: boolean;
      reason: Reason | null;
      creditsRequired: number;
      /** The position with all due changes applied. Null for an unknown customer. */
      before: Position | null;
      /** The position after the charge. For a denial, the same as `before`. */
      after: Position | null;
      change: Change | null;
      /** The charge, which is also in `change`. */
      entry: Entry | null;
      feature: Feature;
      planVersion: PlanVersionId | null;
    };

/**
 * Decides whether a customer may use a feature, and what it costs. Check and consume both call it; check discards the
 * change. Depends on its arguments only.
 */
export function decide(catalog: Catalog, known: Wallet | null, question: Question, clock: Instant): Decision {
  const feature = catalog.features.get(question.feature);
  if (feature === undefined) return { kind: "feature_not_found" };
  if (known === null && catalog.defaultPlan.plan === null) {
    const creditsRequired = chargeFor(feature.cost, question.quantity);
    const unknown = { before: null, after: null, change: null, entry: null, planVersion: null };
    return {
      kind: "decided",
      allowed: false,
      reason: "customer_not_found",
      creditsRequired,
      feature,
      ...unknown,
    };
  }
  const wallet = known ?? newWallet(clock);
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  applyDefaultPlan(catalog, draft);

  const { assignment } = draft.wallet;
  const version = assignment === null ? null : getVersion(catalog, assignment.version);
  const terms = version?.features.get(feature.id);
  const { pool, cost } = terms ?? feature;
  const creditsRequired = chargeFor(cost, question.quantity);
  const before = positionOf(draft.wallet, version, terms, pool, now);
  const reason = findReason(draft.wallet, terms, before, { quantity: question.quantity, creditsRequired });
  const planVersion = assignment?.version ?? null;
  if (reason !== null || assignment === null || terms === undefined) {
    const outcome = { allowed: false, reason, before, after: before, change: draft.finish(now), entry: null };
    return { kind: "decided", ...outcome, creditsRequired, feature, planVersion };
  }
  const entry = charge(draft, assignment, terms, { quantity: question.quantity, creditsRequired, now });
  const after = positionOf(draft.wallet, version, terms, pool, now);
  const outcome = { allowed: true, reason, before, after, change: draft.finish(now), entry };
  return { kind: "decided", ...outcome, creditsRequired, feature, planVersion };
}

type Demand = { readonly quantity: number; readonly creditsRequired: number };

function findReason(
  wallet: Wallet,
  terms: PlanFeature | undefined,
  { balance, limit }: Position,
  { quantity, creditsRequired }: Demand,
): Reason | null {
  if (wallet.isBlocked) return "customer_blocked";
  if (wallet.assignment === null) return "no_active_plan";
  if (terms === undefined) return "feature_not_in_plan";
  if (limit !== null && quantity > limit.remaining) return "limit_reached";
  if (creditsRequired > balance) return "insufficient_credits";
  return null;
}

function charge(
  draft: Draft,
  assignment: Assignment,
  terms: PlanFeature,
  { quantity, creditsRequired, now }: Demand & { readonly now: Instant },
): Entry {
  const { feature, pool } = terms;
  const entry = draft.move({
    kind: "consume",
    pool,
    parts: burn(draft.wallet.grants, pool, creditsRequired),
    usage: {
      feature,
      quantity,
      planVersion: assignment.version,
      assignment: assignment.number,
      reverses: null,
    },
  });
  const counters = count(assignment, terms, { quantity, sequence: entry.sequence, now });
  draft.wallet = { ...draft.wallet, assignment: { ...assignment, counters } };
  return entry;
}

/** A counter starts at the first use of a limited feature in a period, and counts until the period ends. */
function count(
  { counters, anchor }: Assignment,
  { feature, limit }: PlanFeature,
  use: { quantity: number; sequence: number; now: Instant },
): readonly LimitCounter[] {
  const live = findCounter(counters, feature, use.now);
  // Drops counters whose period has ended, so that they do not look active.
  const others = counters.filter((counter) => counter !== live && isAhead(counter.end, use.now));
  if (live !== undefined) return [...others, { ...live, used: live.used + use.quantity }];
  if (limit === null) return others;
  const { end } = periodAt(limit.period, anchor, use.now);
  return [...others, { feature, end, used: use.quantity, fromSequence: use.sequence }];
}

function positionOf(
  wallet: Wallet,
  version: PlanVersion | null,
  terms: PlanFeature | undefined,
  pool: PoolId,
  now: Instant,
): Position {
  const { assignment } = wallet;
  // Without an allowance in the current version there is no reset, even if an earlier version granted one.
  const isGranted = version?.allowances.some((allowance) => allowance.pool === pool) ?? false;
  const granted = isGranted ? assignment?.allowances.find((allowance) => allowance.pool === pool) : undefined;
  return {
    balance: balanceOf(wallet, pool),
    resetsAt: granted?.end ?? null,
    limit: assignment === null || terms === undefined ? null : limitPositionOf(assignment, terms, now),
  };
}

function limitPositionOf(
  { counters, anchor }: Assignment,
  { feature, limit }: PlanFeature,
  now: Instant,
): LimitPosition | null {
  if (limit === null) return null;
  const counter = findCounter(counters, feature, now);
  const used = counter?.used ?? 0;
  return {
    quantity: limit.quantity,
    used,
    remaining: Math.max(0, limit.quantity - used),
    resetsAt: counter === undefined ? periodAt(limit.period, anchor, now).end : counter.end,
  };
}

function findCounter(
  counters: readonly LimitCounter[],
  feature: Feature["id"],
  now: Instant,
): LimitCounter | undefined {
  return counters.find((counter) => counter.feature === feature && isAhead(counter.end, now));
}
