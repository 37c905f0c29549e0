import { type CatalogContent, type FeatureContent, type PlanContent, POOL } from "../harness/project.ts";

// The catalog of a run. It is loaded into the service first, and used by the load and the checker.

/** The second pool. An earlier release creates the catalog without the second pool, with all features in the first pool. */
export const MINUTES = "minutes";
export const POOLS = [POOL, MINUTES] as const;
export type PoolKey = (typeof POOLS)[number];

/** Costs nothing, but has a small limit that most customers soon reach. */
export const LIMITED_FEATURE = "reports.export";

/** Each pool has one feature that costs whole credits, and one feature whose price is rounded up. */
export const FEATURES = {
  "images.render": { credits: 10, per: 1 },
  "tokens.generate": { credits: 3, per: 1_000 },
  [LIMITED_FEATURE]: { credits: 0, per: 1 },
  "video.encode": { credits: 2, per: 1, pool: MINUTES },
  "audio.transcribe": { credits: 1, per: 60, pool: MINUTES },
} as const satisfies Record<string, FeatureContent>;

export type FeatureKey = keyof typeof FEATURES;

/** Not in the catalog. The only correct response is 404, after the key was looked up. */
export const UNKNOWN_FEATURE = "unknown.feature";

const PAID_FEATURES = { "images.render": null, "tokens.generate": null };
const ALL_PAID_FEATURES = { ...PAID_FEATURES, "video.encode": null, "audio.transcribe": null };

/** Limits are per day, and a run ends long before they reset. */
const PREPAID_PLANS = {
  free: { allowance: { credits: 50, period: "once" }, features: PAID_FEATURES },
  starter: {
    allowance: { credits: 150, period: "month" },
    features: { ...ALL_PAID_FEATURES, [LIMITED_FEATURE]: { quantity: 40, period: "day" } },
  },
  growth: {
    allowance: { credits: 200, period: "month" },
    features: { ...ALL_PAID_FEATURES, [LIMITED_FEATURE]: { quantity: 60, period: "day" } },
  },
  studio: {
    allowance: { credits: 180, period: "month" },
    otherAllowances: { [MINUTES]: { credits: 90, period: "month" } },
    features: {
      ...ALL_PAID_FEATURES,
      "video.encode": { quantity: 300, period: "day" },
      [LIMITED_FEATURE]: { quantity: 50, period: "day" },
    },
  },
} as const satisfies Record<string, PlanContent>;

/** Plans with overage. Customers on `metered` use all of their overage, and get a part back when charges are reversed. */
export const OVERAGE_PLANS = {
  metered: {
    allowance: { credits: 100, period: "month", overage: 600 },
    otherAllowances: { [MINUTES]: { credits: 60, period: "month", overage: 250 } },
    features: { ...ALL_PAID_FEATURES, [LIMITED_FEATURE]: { quantity: 80, period: "day" } },
  },
  postpaid: {
    allowance: { credits: 120, period: "month", overage: null },
    otherAllowances: { [MINUTES]: { credits: 40, period: "month" } },
    features: ALL_PAID_FEATURES,
  },
} as const satisfies Record<string, PlanContent>;

export const PLANS = { ...PREPAID_PLANS, ...OVERAGE_PLANS };

export type PlanKey = keyof typeof PLANS;

export const DEFAULT_PLAN = "free" satisfies PlanKey;

export const CATALOG: CatalogContent = { features: FEATURES, plans: PLANS, defaultPlan: DEFAULT_PLAN };
/** For a release that does not support overage. */
export const PREPAID_CATALOG: CatalogContent = { ...CATALOG, plans: PREPAID_PLANS };

export function isFeatureKey(key: string | null): key is FeatureKey {
  return key !== null && Object.hasOwn(FEATURES, key);
}
