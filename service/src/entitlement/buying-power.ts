import type { FeatureId, PoolId } from "../primitives/brand.ts";
import { type Catalog, type Cost, getPlan, getVersion, latestVersion, type PlanVersion } from "./catalog.ts";
import { type OveragePosition, overageLeft } from "./overage.ts";
import { featuresFor } from "./overrides.ts";
import type { Overrides, Wallet } from "./wallet.ts";

/** How many units of each feature an amount of credits pays for. */
type BuyingPower = readonly { readonly feature: FeatureId; readonly quantity: number }[];

/** Returns the affordable quantity of each feature in the pool that has a cost. Ignores limits. */
export function buyingPower(
  version: PlanVersion | null,
  overrides: Overrides | null,
  { pool, credits }: { readonly pool: PoolId; readonly credits: number },
): BuyingPower {
  if (version === null) return [];
  return featuresFor(version, overrides)
    .filter((terms) => terms.pool === pool && terms.cost.credits > 0)
    .map(({ feature, cost }) => ({ feature, quantity: unitsFor(cost, credits) }));
}

/** The plan version that the next decision would use. That decision assigns the default plan to a new customer. */
export function findCurrentVersion(
  catalog: Catalog,
  { assignment, assignmentCount }: Wallet,
): PlanVersion | null {
  if (assignment !== null) return getVersion(catalog, assignment.version);
  const { plan } = catalog.defaultPlan;
  return plan === null || assignmentCount > 0 ? null : latestVersion(getPlan(catalog, plan));
}

/** The largest quantity that costs at most `credits`. Uses BigInt, because the product may exceed 53 bits. */
export function unitsFor(cost: Cost, credits: number): number {
  const units = (BigInt(credits) * BigInt(cost.per)) / BigInt(cost.credits);
  return Math.min(Number(units), Number.MAX_SAFE_INTEGER);
}

/**
 * The quantity that a balance, overage and a limit allow. Infinity if there is no limit and either the feature is free or overage is
 * unlimited.
 */
export function unitsWithin(
  cost: Cost,
  {
    balance,
    limit,
    overage,
  }: {
    readonly balance: number;
    readonly limit: { readonly remaining: number } | null;
    readonly overage: OveragePosition | null;
  },
): number {
  const byLimit = limit?.remaining ?? Number.POSITIVE_INFINITY;
  const isFree = cost.credits === 0 || (overage !== null && overage.remaining === null);
  const credits = Math.max(0, balance + overageLeft(overage));
  const byCredits = isFree ? Number.POSITIVE_INFINITY : unitsFor(cost, credits);
  return Math.min(byLimit, byCredits);
}
