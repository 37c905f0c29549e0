import fc from "fast-check";
import type {
  Allowance,
  Catalog,
  Cost,
  Feature,
  Plan,
  PlanFeature,
  PlanVersion,
  VersionReach,
} from "../../src/entitlement/catalog.ts";
import type { PeriodKind } from "../../src/entitlement/period.ts";
import type { OverridesRequest } from "../../src/entitlement/set-overrides.ts";
import {
  brandAs,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../src/primitives/brand.ts";

// A catalog described by positions, so that it stays valid when fast-check shrinks it.

export type CatalogSpec = {
  pools: number;
  features: readonly FeatureSpec[];
  plans: readonly VersionSpec[];
  defaultPlan: number | null;
};

type FeatureSpec = { pool: number; cost: Cost };

/** `allowances` are listed by pool and `features` by feature. Entries without a pool or feature are ignored. */
export type VersionSpec = {
  allowances: readonly (Omit<Allowance, "pool"> | null)[];
  features: readonly ({ limit: PlanFeature["limit"]; edited: FeatureSpec | null } | null)[];
};

/** Overrides by feature and by pool. Null keeps the terms of the plan. */
export type OverridesSpec = {
  features: readonly (Omit<OverridesRequest["features"][number], "feature"> | null)[];
  allowances: readonly (Omit<OverridesRequest["allowances"][number], "pool"> | null)[];
};

const costs = fc.constantFrom<Cost>(
  { credits: 1, per: 1 },
  { credits: 0, per: 1 },
  { credits: 10, per: 1 },
  { credits: 3, per: 1000 },
  { credits: 50, per: 1 },
  { credits: 7, per: 3 },
);
const periods = fc.constantFrom<PeriodKind>("month", "day", "week", "year", "once");
const featureSpecs = fc.record({ pool: fc.nat({ max: 1 }), cost: costs });
const allowances = fc.record({
  credits: fc.constantFrom(100, 1, 5, 40, 1000),
  period: periods,
  rollover: fc.nat({ max: 2 }),
  overage: fc.constantFrom(0, 0, 0, 10, 1, 250, null),
});
const limits = fc.record({ quantity: fc.constantFrom(3, 10, 1, 0, 2000), period: periods });
const inPlan = fc.record({
  limit: fc.option(limits, { freq: 2 }),
  // The feature's pool and cost when this version was published, if they differ from the catalog.
  edited: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: featureSpecs }),
});

const versionSpecsWith = (
  feature: fc.Arbitrary<VersionSpec["features"][number]>,
): fc.Arbitrary<VersionSpec> =>
  fc.record({
    allowances: fc.array(fc.option(allowances, { freq: 4 }), { minLength: 2, maxLength: 2 }),
    features: fc.array(feature, { minLength: 4, maxLength: 4 }),
  });

export const versionSpecs = versionSpecsWith(fc.option(inPlan, { freq: 6 }));

const ownTerms = fc.record({
  included: fc.constantFrom(null, null, true, true, false),
  cost: fc.option(costs, { freq: 2 }),
  limit: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: limits },
  ),
});

/** Few kinds of periods, so that limits of plans and overrides often have the same period. */
const commonLimits = fc.record({
  quantity: fc.constantFrom(10, 3, 2000),
  period: fc.constantFrom<PeriodKind>("month", "day", "once"),
});
const ownLimits = fc.record({
  included: fc.constant(null),
  cost: fc.constant(null),
  limit: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(undefined, null) },
    { weight: 4, arbitrary: commonLimits },
  ),
});

export const overridesSpecs: fc.Arbitrary<OverridesSpec> = fc.record({
  features: fc.array(fc.option(fc.oneof(ownTerms, ownLimits), { freq: 3 }), { minLength: 4, maxLength: 4 }),
  allowances: fc.array(
    fc.option(
      fc.record({
        credits: fc.constantFrom(7, 1, 500, null),
        period: fc.option(periods, { freq: 2 }),
        overage: fc.constantFrom(undefined, undefined, 0, 5, 300, null),
      }),
      {
        freq: 2,
      },
    ),
    { minLength: 2, maxLength: 2 },
  ),
});

export const reaches = fc.constantFrom<VersionReach>("now", "next_period", "new_assignments");

export const catalogSpecs: fc.Arbitrary<CatalogSpec> = fc.record({
  pools: fc.integer({ min: 1, max: 2 }),
  features: fc.array(featureSpecs, { minLength: 1, maxLength: 4 }),
  plans: fc.array(versionSpecs, { minLength: 2, maxLength: 3 }),
  defaultPlan: fc.option(fc.nat({ max: 2 }), { freq: 3 }),
});

/** A default plan with four features, so that requests with several items are often allowed. */
export const wideCatalogSpecs: fc.Arbitrary<CatalogSpec> = fc.record({
  pools: fc.integer({ min: 1, max: 2 }),
  features: fc.array(featureSpecs, { minLength: 4, maxLength: 4 }),
  plans: fc.array(versionSpecsWith(inPlan), { minLength: 2, maxLength: 2 }),
  defaultPlan: fc.constant(0),
});

/** A default plan with two cheap and limited features, so that limits are often used and reached. */
export const limitedCatalogSpecs: fc.Arbitrary<CatalogSpec> = fc.record({
  pools: fc.constant(1),
  features: fc.array(fc.record({ pool: fc.constant(0), cost: fc.constant({ credits: 0, per: 1 }) }), {
    minLength: 2,
    maxLength: 2,
  }),
  plans: fc.array(
    versionSpecsWith(
      fc.record({ limit: fc.option(commonLimits, { freq: 5 }), edited: fc.constant<null>(null) }),
    ),
    { minLength: 2, maxLength: 2 },
  ),
  defaultPlan: fc.constant(0),
});

const poolId = (at: number): PoolId => brandAs<PoolId>(at + 1);
const planId = (at: number): PlanId => brandAs<PlanId>(at + 21);

export function firstCatalog(spec: CatalogSpec, at: Instant): Catalog {
  const pools = Array.from({ length: spec.pools }, (_, i) => ({
    id: poolId(i),
    key: `pool${i}`,
    name: `Pool ${i}`,
    lowBalances: [],
  }));
  const features = spec.features.map(
    ({ pool, cost }, i): Feature => ({
      id: brandAs<FeatureId>(i + 11),
      key: brandAs<FeatureKey>(`feature${i}`),
      name: `Feature ${i}`,
      unit: null,
      pool: poolId(pool % spec.pools),
      cost,
      archivedAt: null,
    }),
  );
  const empty: Catalog = {
    version: 1,
    changedAt: at,
    pools: new Map(pools.map((pool) => [pool.id, pool])),
    features: new Map(features.map((feature) => [feature.key, feature])),
    plans: new Map(),
    versions: new Map(),
    defaultPlan: { plan: null, since: at },
    noticeTypes: new Set(),
  };
  const withPlans = spec.plans.reduce(
    (catalog, version, i) => publish(catalog, { plan: i, version, reach: "now" }, at),
    empty,
  );
  return spec.defaultPlan === null ? withPlans : chooseDefault(withPlans, spec.defaultPlan, at);
}

export function publish(
  catalog: Catalog,
  { plan: index, version: spec, reach }: { plan: number; version: VersionSpec; reach: VersionReach },
  clock: Instant,
): Catalog {
  const id = planId(index);
  const at = later(clock, catalog.changedAt);
  const before = catalog.plans.get(id)?.versions ?? [];
  const number = before.length + 1;
  const version: PlanVersion = {
    id: brandAs<PlanVersionId>(id * 100 + number),
    plan: id,
    number,
    identity: `${id}.${number}`,
    publishedAt: at,
    reach,
    allowances: [...catalog.pools.keys()].flatMap((pool, i) => {
      const allowance = spec.allowances[i];
      return allowance ? [{ pool, ...allowance }] : [];
    }),
    features: new Map(
      [...catalog.features.values()].flatMap((feature, i) => {
        const pinned = spec.features[i];
        if (!pinned) return [];
        const { limit, edited } = pinned;
        const pool = edited === null ? feature.pool : poolId(edited.pool % catalog.pools.size);
        const cost = edited === null ? feature.cost : edited.cost;
        return [[feature.id, { feature: feature.id, pool, cost, limit }] as const];
      }),
    ),
  };
  const versions = [...before, version];
  const plan: Plan = { id, key: `plan${index}`, name: `Plan ${index}`, archivedAt: null, versions };
  return {
    ...catalog,
    version: catalog.version + 1,
    changedAt: at,
    plans: new Map([...catalog.plans, [id, plan]]),
    versions: new Map([...catalog.versions, [version.id, version]]),
  };
}

export function chooseDefault(catalog: Catalog, index: number | null, clock: Instant): Catalog {
  const since = later(clock, catalog.changedAt);
  const plan = index === null ? null : planAt(catalog, index);
  return { ...catalog, version: catalog.version + 1, changedAt: since, defaultPlan: { plan, since } };
}

/** The overrides with the catalog's features and pools. */
export function overridesOf(
  catalog: Catalog,
  spec: OverridesSpec,
): Pick<OverridesRequest, "features" | "allowances"> {
  return {
    features: [...catalog.features.values()].flatMap((feature, i) => {
      const terms = spec.features[i] ?? null;
      return terms === null ? [] : [{ feature, ...terms }];
    }),
    allowances: [...catalog.pools.keys()].flatMap((pool, i) => {
      const terms = spec.allowances[i] ?? null;
      return terms === null ? [] : [{ pool, ...terms }];
    }),
  };
}

/** Selects a plan by any number, modulo the number of plans. */
export function planAt(catalog: Catalog, index: number): PlanId {
  return planId(index % catalog.plans.size);
}

export function poolAt(catalog: Catalog, index: number): PoolId {
  return poolId(index % catalog.pools.size);
}

export function featureAt(catalog: Catalog, index: number): FeatureKey {
  return brandAs<FeatureKey>(`feature${index % catalog.features.size}`);
}

function later(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}
