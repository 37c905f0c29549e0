import type { FeatureId, Instant } from "../primitives/brand.ts";
import type { PlanFeature } from "./catalog.ts";
import type { Entry, Usage } from "./entry.ts";
import { isAhead, type PeriodKind, periodAt } from "./period.ts";
import type { Assignment, FeatureOverride, LimitCounter, OwnCounter, PausedPlan, Wallet } from "./wallet.ts";

export type LimitPosition = {
  readonly quantity: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: Instant | null;
};

/** A feature's terms in the plan, and the customer's override, if any. */
export type Terms = {
  readonly feature: FeatureId;
  readonly planTerms: PlanFeature | undefined;
  readonly override: FeatureOverride | null;
};

/** The limit in force, and how much of the limit is used. Null if there is no limit. */
export function limitPosition(
  { assignment, ownCounters }: Wallet,
  { feature, planTerms, override }: Terms,
  now: Instant,
): LimitPosition | null {
  if (assignment === null) return null;
  if (override !== null && override.limit !== undefined) {
    const { limit } = override;
    if (limit === null) return null;
    return positionOf(limit, findOwn(ownCounters, { feature, ...limit }, now), limit.anchor, now);
  }
  const limit = planTerms?.limit ?? null;
  if (limit === null) return null;
  return positionOf(limit, findCounter(assignment.counters, feature, now), assignment.anchor, now);
}

function positionOf(
  { quantity, period }: { readonly quantity: number; readonly period: PeriodKind },
  counter: LimitCounter | undefined,
  anchor: Instant,
  now: Instant,
): LimitPosition {
  const used = counter?.used ?? 0;
  const resetsAt = counter === undefined ? periodAt(period, anchor, now).end : counter.end;
  return { quantity, used, remaining: Math.max(0, quantity - used), resetsAt };
}

type Use = { readonly quantity: number; readonly sequence: number; readonly now: Instant };

/**
 * The counters after a charge. A counter starts at the first use of a limited feature in a period, and counts until the period
 * ends. The plan's limit is counted even while an override replaces it, so that the plan's count is correct when the overrides end.
 */
export function countUse(
  { assignment, ownCounters, holdCount }: Wallet & { readonly assignment: Assignment },
  { feature, planTerms, override }: Terms,
  { quantity, sequence: fromSequence, now }: Use,
): { readonly counters: readonly LimitCounter[]; readonly ownCounters: readonly OwnCounter[] } {
  const count = <T extends LimitCounter>(counters: readonly T[]): T[] =>
    counters
      // Drops counters whose period has ended, so that they do not look active.
      .filter(({ end }) => isAhead(end, now))
      .map((counter) =>
        counter.feature === feature ? { ...counter, used: counter.used + quantity } : counter,
      );
  const planLimit = planTerms?.limit ?? null;
  const ownLimit = override?.limit ?? null;
  const isCounted = findCounter(assignment.counters, feature, now) !== undefined;
  const isOwnCounted = ownLimit !== null && findOwn(ownCounters, { feature, ...ownLimit }, now) !== undefined;
  const first = { feature, used: quantity, fromSequence, fromHold: holdCount + 1 };
  return {
    counters: [
      ...count(assignment.counters),
      ...(planLimit === null || isCounted
        ? []
        : [{ ...first, end: periodAt(planLimit.period, assignment.anchor, now).end }]),
    ],
    ownCounters: [
      ...count(ownCounters),
      ...(ownLimit === null || isOwnCounted
        ? []
        : [
            {
              ...first,
              period: ownLimit.period,
              end: periodAt(ownLimit.period, ownLimit.anchor, now).end,
              earlier: null,
            },
          ]),
    ],
  };
}

export function findCounter(
  counters: readonly LimitCounter[],
  feature: FeatureId,
  now: Instant,
): LimitCounter | undefined {
  return counters.find((counter) => counter.feature === feature && isAhead(counter.end, now));
}

export function findOwn(
  counters: readonly OwnCounter[],
  { feature, period }: { readonly feature: FeatureId; readonly period: PeriodKind },
  now: Instant,
): OwnCounter | undefined {
  return counters.find(
    (counter) => counter.feature === feature && counter.period === period && isAhead(counter.end, now),
  );
}

/** A charge or a hold. The sequence of a hold is ignored. */
export type Counted = Pick<Usage, "feature" | "assignment"> & Pick<Entry, "sequence" | "hold">;

/** Whether an override's counter includes this charge. */
export function countsCharge(counter: OwnCounter, charge: Counted): boolean {
  const { feature, earlier } = counter;
  if (charge.feature !== feature) return false;
  if (isFrom(counter, charge)) return true;
  return earlier !== null && charge.assignment === earlier.assignment && isFrom(earlier, charge);
}

/** A settled hold counts in the period in which it was opened, so the counter compares hold numbers. */
function isFrom(
  { fromSequence, fromHold }: Pick<LimitCounter, "fromSequence" | "fromHold">,
  { sequence, hold }: Counted,
): boolean {
  return hold === null ? sequence >= fromSequence : hold >= fromHold;
}

/** Changes the quantity of a charge in the counters that include the charge. Counters of later periods do not change. */
export function recount(wallet: Wallet, charge: Counted, change: number): Wallet {
  const { assignment, paused, ownCounters } = wallet;
  const recounted = (other: Assignment): Assignment =>
    other.number === charge.assignment
      ? {
          ...other,
          counters: other.counters.map((counter) =>
            isCountedBy(counter, charge) ? { ...counter, used: counter.used + change } : counter,
          ),
        }
      : other;
  return {
    ...wallet,
    assignment: assignment === null ? null : recounted(assignment),
    paused: paused.map((plan): PausedPlan => ({ ...plan, assignment: recounted(plan.assignment) })),
    ownCounters: ownCounters.map((counter) =>
      countsCharge(counter, charge) ? { ...counter, used: counter.used + change } : counter,
    ),
  };
}

/** Whether a plan's counter includes this charge. The charge must belong to the counter's assignment. */
export function isCountedBy(counter: LimitCounter, charge: Counted): boolean {
  return counter.feature === charge.feature && isFrom(counter, charge);
}
