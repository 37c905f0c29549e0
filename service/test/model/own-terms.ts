import { isDeepStrictEqual } from "node:util";
import type { Catalog, Feature, PlanFeature, PlanVersion } from "../../src/entitlement/catalog.ts";
import type { AllowanceOverride, FeatureOverride } from "../../src/entitlement/wallet.ts";
import { brandAs, type Instant, type PlanId } from "../../src/primitives/brand.ts";
import { periodHolding } from "./calendar.ts";
import { type Customer, isOver } from "./customer.ts";
import { anchorFor, replaceOverrides, usedOfOwn } from "./own-limits.ts";
import type { Answer, Asked, Position } from "./request.ts";

export function override(catalog: Catalog, customer: Customer, request: Asked<"override">): Answer {
  const { endsAt } = request;
  if (isOver(endsAt, customer.now)) return { kind: "ends_in_the_past" };
  const before = customer.overrides;
  const features = request.features.map(({ feature, included, cost, limit }): FeatureOverride => {
    const known = before?.features.find((it) => it.feature === feature.id);
    return {
      feature: feature.id,
      included,
      cost,
      limit: limit && {
        ...limit,
        anchor: brandAs<Instant>(anchorFor(customer, feature.id, limit.period)),
      },
      added: included === true ? (known?.added ?? { pool: feature.pool, cost: feature.cost }) : null,
    };
  });
  const allowances: AllowanceOverride[] = [];
  for (const { pool, period, credits, overage } of request.allowances) {
    const known = before?.allowances.find((it) => it.pool === pool);
    const planned = planOf(catalog, customer)?.allowances.find((it) => it.pool === pool);
    const isRepeated = known?.credits === credits && known.overage === overage;
    const pinned = period ?? (isRepeated ? known?.period : undefined) ?? planned?.period ?? known?.period;
    if (pinned === undefined) return { kind: "period_unknown" };
    allowances.push({ pool, period: pinned, credits, overage });
  }
  const wanted = features.length + allowances.length === 0 ? null : { features, allowances, endsAt };
  if (isDeepStrictEqual(before, wanted)) return { kind: "unchanged" };
  replaceOverrides(customer, wanted);
  return { kind: "changed" };
}

/** The plan that the next decision would use. For a new customer, this is the default plan. */
function planOf(catalog: Catalog, { plan, plansTaken }: Customer): PlanVersion | undefined {
  if (plan !== null || plansTaken > 0) return plan?.version;
  return catalog.plans.get(catalog.defaultPlan.plan ?? brandAs<PlanId>(0))?.versions.at(-1);
}

/** The terms for this customer: the plan's terms, changed by the override. Undefined if the customer may not use the feature. */
export function termsFor({ plan, overrides }: Customer, { id }: Feature): PlanFeature | undefined {
  const own = overrides?.features.find((it) => it.feature === id);
  const planned = plan?.version.features.get(id);
  if (plan === null || own === undefined) return planned;
  if (own.included === false) return undefined;
  if (planned === undefined && own.added === null) return undefined;
  const { pool, cost, limit } = planned ?? { pool: own.added?.pool, cost: own.added?.cost, limit: null };
  if (pool === undefined || cost === undefined) throw new Error("an included feature has a pool and a cost");
  return {
    feature: id,
    pool,
    cost: own.cost === null ? cost : own.cost,
    limit: own.limit === undefined ? limit : own.limit,
  };
}

export function limitOf(customer: Customer, feature: Feature): Position["limit"] {
  const { plan, now, overrides } = customer;
  const limit = termsFor(customer, feature)?.limit ?? null;
  if (plan === null || limit === null) return null;
  const own = overrides?.features.find((it) => it.feature === feature.id)?.limit;
  const used = own ? usedOfOwn(customer, feature.id, own.period) : usedOfPlan(customer, feature);
  return {
    quantity: limit.quantity,
    used,
    remaining: Math.max(0, limit.quantity - used),
    resetsAt: periodHolding(limit.period, { anchor: own ? own.anchor : plan.anchor, at: now }).end,
  };
}

function usedOfPlan({ plan, now, consumes }: Customer, { id }: Feature): number {
  const counter = plan?.counters.find((it) => it.feature === id && !isOver(it.end, now));
  return (counter?.consumes ?? []).reduce((sum, at) => {
    const consume = consumes[at];
    return sum + (consume === undefined ? 0 : consume.quantity - consume.reversed);
  }, 0);
}

/** Counts a charge for the plan's limit, even while an override replaces that limit. */
export function countUse({ plan, now }: Customer, { id }: Feature, consume: number): void {
  if (plan === null) throw new Error("a consume needs a plan");
  const live = plan.counters.find((it) => it.feature === id && !isOver(it.end, now));
  const limit = plan.version.features.get(id)?.limit ?? null;
  if (live !== undefined) live.consumes.push(consume);
  else if (limit !== null) {
    const { end } = periodHolding(limit.period, { anchor: plan.anchor, at: now });
    plan.counters.push({ feature: id, end, consumes: [consume] });
  }
}
