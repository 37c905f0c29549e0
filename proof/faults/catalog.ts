import type { CatalogContent, Cost, PlanContent } from "../harness/project.ts";

// The catalog of the run: loaded into the service beforehand, and used by the load and the checker.

/** Whole credits, a price that rounds up, and a free feature with a limit. */
export const FEATURES = {
  "images.render": { credits: 10, per: 1 },
  "tokens.generate": { credits: 3, per: 1_000 },
  "reports.export": { credits: 0, per: 1 },
} as const satisfies Record<string, Cost>;

export type FeatureKey = keyof typeof FEATURES;

/** Not in the catalog. The only correct response is 404, after the key was looked up. */
export const UNKNOWN_FEATURE = "unknown.feature";

const PAID_FEATURES = { "images.render": null, "tokens.generate": null };

/** Limits are per day, and a run ends long before they reset. */
export const PLANS = {
  free: { allowance: { credits: 50, period: "once" }, features: PAID_FEATURES },
  starter: {
    allowance: { credits: 150, period: "month" },
    features: { ...PAID_FEATURES, "reports.export": { quantity: 40, period: "day" } },
  },
  growth: {
    allowance: { credits: 200, period: "month" },
    features: { ...PAID_FEATURES, "reports.export": { quantity: 60, period: "day" } },
  },
} as const satisfies Record<string, PlanContent>;

export type PlanKey = keyof typeof PLANS;

export const DEFAULT_PLAN = "free" satisfies PlanKey;

export const CATALOG: CatalogContent = { features: FEATURES, plans: PLANS, defaultPlan: DEFAULT_PLAN };

export function isFeatureKey(key: string | null): key is FeatureKey {
  return key !== null && Object.hasOwn(FEATURES, key);
}
