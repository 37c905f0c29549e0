import type { FeatureId } from "../primitives/brand.ts";
import type { Allowance, PlanFeature, PlanVersion } from "./catalog.ts";
import type { FeatureOverride, Overrides, OverrideTerms, OwnCounter, Wallet } from "./wallet.ts";

/** The terms of a feature for one customer. Undefined if the customer may not use the feature. */
export function overrideTerms(
  planTerms: PlanFeature | undefined,
  override: FeatureOverride | null,
): PlanFeature | undefined {
  if (override === null) return planTerms;
  const { feature, included, cost, limit, added } = override;
  const base = planTerms ?? (added === null ? undefined : { feature, ...added, limit: null });
  if (included === false || base === undefined) return undefined;
  return { ...base, cost: cost ?? base.cost, limit: limit === undefined ? base.limit : limit };
}

export function findOverride(overrides: Overrides | null, feature: FeatureId): FeatureOverride | null {
  return overrides?.features.find((override) => override.feature === feature) ?? null;
}

/** All features that the customer may use, with their terms. */
export function featuresFor(version: PlanVersion, overrides: Overrides | null): PlanFeature[] {
  const planned = [...version.features.values()];
  const added = (overrides?.features ?? []).filter(({ feature }) => !version.features.has(feature));
  return [
    ...planned.map((terms) => overrideTerms(terms, findOverride(overrides, terms.feature))),
    ...added.map((override) => overrideTerms(undefined, override)),
  ].filter((terms) => terms !== undefined);
}

export function isEmpty({ features, allowances }: OverrideTerms): boolean {
  return features.length === 0 && allowances.length === 0;
}

export function isSame(a: OverrideTerms, b: OverrideTerms): boolean {
  return describe(a) === describe(b);
}

function describe({ features, allowances, endsAt }: OverrideTerms): string {
  const terms = features.map(({ feature, included, cost, limit, added }) => [
    ...[feature, included, cost?.credits, cost?.per],
    ...(limit === undefined ? ["plan"] : [limit?.quantity, limit?.period, limit?.anchor]),
    ...[added?.pool, added?.cost.credits, added?.cost.per],
  ]);
  return JSON.stringify([
    terms,
    allowances.map(({ pool, period, credits, overage }) => [
      ...[pool, period, credits],
      ...(overage === undefined ? [] : [overage]),
    ]),
    endsAt,
  ]);
}

/** The overridden credits of an allowance. Null if the plan's credits apply. */
export function allowanceCredits(
  { overrides }: Pick<Wallet, "overrides">,
  { pool, period }: Pick<Allowance, "pool" | "period">,
): number | null {
  const own = overrides?.allowances.find((other) => other.pool === pool && other.period === period);
  return own?.credits ?? null;
}

/**
 * Removes all overrides. Counters are kept until their period ends, so that setting the same limit again resumes the count.
 * Counters without an end are dropped.
 */
export function withoutOverrides(wallet: Wallet): Wallet {
  return { ...wallet, overrides: null, ownCounters: wallet.ownCounters.filter(hasEnd) };
}

function hasEnd({ end }: OwnCounter): boolean {
  return end !== null;
}
