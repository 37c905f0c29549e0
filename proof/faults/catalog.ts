import type { CatalogContent, Cost, PlanContent } from "../harness/project.ts";

// What the run sells. Loaded into the service before the run, and known to load and checker without asking it.

/** One of each shape: whole credits, a fraction that rounds up, and a quota that costs nothing. */
export const FEATURES = {
  "images.render": { credits: 10, per: 1 },
  "tokens.generate": { credits: 3, per: 1_000 },
  "reports.export": { credits: 0, per: 1 },
} as const satisfies Record<string, Cost>;

export type FeatureKey = keyof typeof FEATURES;

/** No feature at all: the only right answer is 404, and only after the key was looked up. */
export const UNKNOWN_FEATURE = "nobody.knows";

/** Limits are per day: a run is over long before one begins anew. */
export const PLANS = {
  free: {
    allowance: { credits: 50, period: "once" },
    features: { "images.render": null, "tokens.generate": null },
  },
  starter: {
    allowance: { credits: 150, period: "month" },
    features: {
      "images.render": null,
      "tokens.generate": null,
      "reports.export": { quantity: 40, period: "day" },
    },
  },
  growth: {
    allowance: { credits: 200, period: "month" },
    features: {
      "images.render": null,
      "tokens.generate": null,
      "reports.export": { quantity: 60, period: "day" },
    },
  },
} as const satisfies Record<string, PlanContent>;

export type PlanKey = keyof typeof PLANS;

/** Of customers whom nobody assigned a plan. */
export const DEFAULT_PLAN = "free" satisfies PlanKey;

export const CATALOG: CatalogContent = { features: FEATURES, plans: PLANS, defaultPlan: DEFAULT_PLAN };

export function isFeatureKey(key: string | null): key is FeatureKey {
  return key !== null && Object.hasOwn(FEATURES, key);
}
