import type { PeriodKind } from "../../src/entitlement/period.ts";
import type { OverrideTerms, OwnLimit } from "../../src/entitlement/wallet.ts";
import type { FeatureId } from "../../src/primitives/brand.ts";
import { periodHolding } from "./calendar.ts";
import { type Customer, type HoldTaken, isOver, type Watch } from "./customer.ts";

// Limits set by overrides. Their use is the sum of the charges in the current period, whatever the customer's plan was.

/** Replaces the overrides. A limit that is no longer set is remembered until its period ends, if it was used. */
export function replaceOverrides(customer: Customer, overrides: OverrideTerms | null): void {
  const set = limitsOf(overrides);
  const kept = customer.watches.flatMap((watch): Watch[] => {
    const limit = set.find((it) => it.feature === watch.feature && it.period === watch.period);
    if (watch.stopsAt === null) return limit === undefined ? stop(customer, watch) : [watch];
    if (isOver(watch.stopsAt, customer.now)) return [];
    if (limit === undefined) return [watch];
    // If the plan has counted more, the limit starts from the plan's count.
    return isExceeded(customer, watch) ? [] : [resume(customer, watch, limit.anchor)];
  });
  const started = set
    .filter((limit) => !kept.some((it) => it.feature === limit.feature && it.period === limit.period))
    .map((limit) => start(customer, limit));
  customer.watches = [...kept, ...started];
  customer.overrides = overrides;
}

type NamedLimit = OwnLimit & { feature: FeatureId };

function limitsOf(overrides: OverrideTerms | null): NamedLimit[] {
  return (overrides?.features ?? []).flatMap(({ feature, limit }) => (limit ? [{ feature, ...limit }] : []));
}

function start({ plan, now, consumes }: Customer, { feature, period, anchor }: NamedLimit): Watch {
  const planned = plan?.version.features.get(feature)?.limit;
  const counter = plan?.counters.find((it) => it.feature === feature && !isOver(it.end, now));
  const isSame = planned?.period === period && counter !== undefined;
  const seed = isSame ? { consumes: [...counter.consumes], end: counter.end } : { consumes: [], end: now };
  return { feature, period, anchor, from: consumes.length, seed, stopsAt: null };
}

function stop(customer: Customer, watch: Watch): Watch[] {
  const { end } = periodHolding(watch.period, { anchor: watch.anchor, at: customer.now });
  return end === null || counted(customer, watch).length === 0 ? [] : [{ ...watch, stopsAt: end }];
}

function resume(customer: Customer, watch: Watch, anchor: number): Watch {
  const { seed, from } = watch;
  const first = counted(customer, watch).find((at) => !seed.consumes.includes(at)) ?? from;
  return { ...watch, anchor, from: first, stopsAt: null };
}

/** Whether the plan's limit has the same period and has counted more than this limit. */
function isExceeded(customer: Customer, watch: Watch): boolean {
  const { plan, now } = customer;
  if (plan?.version.features.get(watch.feature)?.limit?.period !== watch.period) return false;
  const counter = plan.counters.find((it) => it.feature === watch.feature && !isOver(it.end, now));
  return (
    counter !== undefined &&
    quantityOf(customer, counter.consumes) > quantityOf(customer, counted(customer, watch))
  );
}

function quantityOf({ consumes }: Customer, indexes: readonly number[]): number {
  return indexes.reduce((sum, at) => {
    const consume = consumes[at];
    return sum + (consume === undefined ? 0 : consume.quantity - consume.reversed);
  }, 0);
}

/** The charges of the current period, by their index. */
function counted({ consumes, now }: Customer, { feature, period, anchor, from, seed }: Watch): number[] {
  const since = period === "once" ? 0 : periodHolding(period, { anchor, at: now }).start;
  const later = consumes.flatMap((consume, index) =>
    index >= from && consume.feature === feature && consume.at >= since ? [index] : [],
  );
  return [...(isOver(seed.end, now) ? [] : seed.consumes), ...later];
}

/** How much of the limit is used. */
export function usedOfOwn(customer: Customer, feature: FeatureId, period: PeriodKind): number {
  const watch = customer.watches.find(
    (it) => it.feature === feature && it.period === period && it.stopsAt === null,
  );
  if (watch === undefined) throw new Error("a limit of the overrides is not watched");
  return quantityOf(customer, counted(customer, watch));
}

/** The anchor of a limit's periods. A limit keeps its periods while it is set or remembered; a new limit has the plan's periods. */
export function anchorFor(customer: Customer, feature: FeatureId, period: PeriodKind): number {
  const watch = customer.watches.find((it) => it.feature === feature && it.period === period);
  if (watch !== undefined && watch.stopsAt === null) return watch.anchor;
  const ofPlan = customer.plan?.anchor ?? customer.now;
  if (watch === undefined || watch.stopsAt === null || isOver(watch.stopsAt, customer.now)) return ofPlan;
  if (isExceeded(customer, watch)) return ofPlan;
  const { end } = periodHolding(period, { anchor: ofPlan, at: customer.now });
  return end === watch.stopsAt ? ofPlan : watch.stopsAt;
}

/** Use of the limit that applied when a hold was opened. Null if the limit's period is over or the limit is forgotten. */
export function usedOfHeldLimit(
  customer: Customer,
  hold: HoldTaken,
  { consume, limit }: HoldTaken["uses"][number],
): number | null {
  if (limit === null) return null;
  if (limit.own !== null) {
    const { feature } = customer.consumes[consume] ?? {};
    const watch = customer.watches.find((it) => it.feature === feature && it.period === limit.own);
    if (watch === undefined || isOver(watch.stopsAt, customer.now)) return null;
    const indexes = counted(customer, watch);
    return indexes.includes(consume) ? quantityOf(customer, indexes) : null;
  }
  const plans = [...(customer.plan === null ? [] : [customer.plan]), ...customer.left];
  const plan = plans.find(({ number }) => number === hold.plan);
  const counter = plan?.counters.find((it) => it.consumes.includes(consume) && !isOver(it.end, customer.now));
  return counter === undefined ? null : quantityOf(customer, counter.consumes);
}
