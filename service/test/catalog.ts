import {
  type Allowance,
  type Catalog,
  type Feature,
  NOTICE_TYPES,
  type Plan,
  type PlanFeature,
  type PlanVersion,
} from "../src/entitlement/catalog.ts";
import {
  brandAs,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../src/primitives/brand.ts";

export const CREDITS = brandAs<PoolId>(1);
export const STORAGE = brandAs<PoolId>(2);

/** Parses `at("2026-01-31")`, or a date with a time, as UTC. */
export function at(text: string): Instant {
  return brandAs<Instant>(Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`));
}

export const LONG_AGO = at("2020-01-01");

type VersionInput = {
  readonly publishedAt?: Instant;
  readonly reach?: PlanVersion["reach"];
  readonly allowances?: readonly Allowance[];
  /** Limits by feature key. Null for no limit. */
  readonly features?: Readonly<Record<string, PlanFeature["limit"]>>;
  readonly cost?: { readonly credits: number; readonly per: number };
};

const FEATURES: readonly Feature[] = [
  feature(1, "image", CREDITS, 10, 1),
  feature(2, "text", CREDITS, 3, 1000),
  feature(3, "export", CREDITS, 0, 1),
  feature(4, "disk", STORAGE, 1, 1),
];

export function monthly(credits: number, rollover = 0): Allowance {
  return { pool: CREDITS, credits, period: "month", rollover, overage: 0 };
}

/** Creates a catalog from plans by key, each with its versions, published at LONG_AGO by default. */
export function makeCatalog(
  plans: Readonly<Record<string, readonly VersionInput[]>>,
  options: { readonly defaultPlan?: string; readonly changedAt?: Instant } = {},
): Catalog {
  let versionCount = 0;
  const made = Object.entries(plans).map(([key, inputs], index): Plan => {
    const id = brandAs<PlanId>(index + 1);
    const versions = inputs.map((input, position): PlanVersion => {
      versionCount += 1;
      return {
        id: brandAs<PlanVersionId>(versionCount),
        plan: id,
        number: position + 1,
        identity: `version ${versionCount}`,
        publishedAt: input.publishedAt ?? LONG_AGO,
        reach: input.reach ?? "new_assignments",
        allowances: input.allowances ?? [monthly(100)],
        features: new Map(
          Object.entries(input.features ?? { image: null, text: null }).map(([name, limit]) => {
            const { id: featureId, pool, cost } = getFeature(name);
            return [featureId, { feature: featureId, pool, cost: input.cost ?? cost, limit }];
          }),
        ),
      };
    });
    return { id, key, name: key, archivedAt: null, versions };
  });
  const byKey = (key: string): PlanId | null => made.find((plan) => plan.key === key)?.id ?? null;
  return {
    version: 1,
    changedAt: options.changedAt ?? LONG_AGO,
    pools: new Map(
      [CREDITS, STORAGE].map((id) => [id, { id, key: `pool ${id}`, name: `Pool ${id}`, lowBalances: [] }]),
    ),
    features: new Map(FEATURES.map((known) => [known.key, known])),
    plans: new Map(made.map((plan) => [plan.id, plan])),
    versions: new Map(made.flatMap(({ versions }) => versions.map((version) => [version.id, version]))),
    defaultPlan: {
      plan: options.defaultPlan === undefined ? null : byKey(options.defaultPlan),
      since: LONG_AGO,
    },
    noticeTypes: new Set(),
  };
}

export function planId(catalog: Catalog, key: string): PlanId {
  const plan = [...catalog.plans.values()].find((other) => other.key === key);
  if (plan === undefined) throw new Error(`no plan ${key}`);
  return plan.id;
}

export function getFeature(key: string): Feature {
  const found = FEATURES.find((known) => known.key === key);
  if (found === undefined) throw new Error(`no feature ${key}`);
  return found;
}

function feature(id: number, key: string, pool: PoolId, credits: number, per: number): Feature {
  return {
    id: brandAs<FeatureId>(id),
    key: brandAs<FeatureKey>(key),
    name: key,
    unit: null,
    pool,
    cost: { credits, per },
    archivedAt: null,
  };
}

/** The catalog of an environment with thresholds in every pool, and a webhook for all types. */
export function watched(catalog: Catalog, lowBalances: readonly number[]): Catalog {
  const pools = new Map([...catalog.pools].map(([id, pool]) => [id, { ...pool, lowBalances }]));
  return { ...catalog, pools, noticeTypes: new Set(NOTICE_TYPES) };
}
