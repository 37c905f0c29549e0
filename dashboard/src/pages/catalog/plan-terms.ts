import type { Allowance, Cost, Limit } from "../../words/terms.ts";
import { isSamePrice } from "./other-prices.ts";
import type { Feature, Plan, PlanDiff } from "./queries.ts";

export type PoolAllowance = Allowance & { readonly pool: string };
export type PinnedFeature = {
  readonly feature: string;
  readonly pool: string;
  readonly cost: Cost;
  readonly limit: Limit | null;
};

/** What whoever is on a version gets. */
export type Terms = {
  readonly allowances: readonly PoolAllowance[];
  readonly features: readonly PinnedFeature[];
};

/** What would change, in the shape in which the API tells it of a draft. */
export type TermsDiff = Pick<PlanDiff, "allowances" | "features" | "limits" | "costs">;

export type Draft = NonNullable<Plan["draft"]>;
export type DraftTerms = Pick<Draft, "name" | "allowances" | "features">;

const NOTHING: Terms = { allowances: [], features: [] };

/** What publishing a draft would pin: each feature at what it costs now. */
export function pinTerms({ allowances, features }: DraftTerms, known: readonly Feature[]): Terms {
  return {
    allowances,
    features: features.flatMap(({ feature: key, limit }) => {
      const feature = known.find((each) => each.key === key);
      return feature === undefined ? [] : [{ feature: key, pool: feature.pool, cost: feature.cost, limit }];
    }),
  };
}

/** Of two versions, or of what stands in a form: there the API has not been asked yet. */
export function diffTerms(before: Terms | null, after: Terms): TermsDiff {
  const old = before ?? NOTHING;
  const stayed = after.features.flatMap((is) => {
    const was = old.features.find(({ feature }) => feature === is.feature);
    return was === undefined ? [] : [{ feature: is.feature, was, is }];
  });
  const lacks = (terms: Terms, key: string): boolean =>
    !terms.features.some(({ feature }) => feature === key);
  const gives = (terms: Terms, key: string) => terms.allowances.find(({ pool }) => pool === key);
  return {
    allowances: {
      added: after.allowances.filter(({ pool }) => gives(old, pool) === undefined),
      removed: old.allowances.filter(({ pool }) => gives(after, pool) === undefined),
      changed: after.allowances.flatMap((is) => {
        const was = gives(old, is.pool);
        return was === undefined || isSameAllowance(was, is)
          ? []
          : [{ pool: is.pool, before: was, after: is }];
      }),
    },
    features: {
      added: after.features.filter(({ feature }) => lacks(old, feature)),
      removed: old.features.filter(({ feature }) => lacks(after, feature)),
    },
    limits: stayed
      .filter(({ was, is }) => !isSameLimit(was.limit, is.limit))
      .map(({ feature, was, is }) => ({ feature, before: was.limit, after: is.limit })),
    costs: stayed
      .filter(({ was, is }) => !isSamePrice(was, is))
      .map(({ feature, was, is }) => ({
        feature,
        before: { pool: was.pool, cost: was.cost },
        after: { pool: is.pool, cost: is.cost },
      })),
  };
}

export function isSameAllowance(a: PoolAllowance, b: PoolAllowance): boolean {
  return a.pool === b.pool && a.credits === b.credits && a.period === b.period && a.rollover === b.rollover;
}

export function isSameLimit(a: Limit | null, b: Limit | null): boolean {
  return a === b || (a !== null && b !== null && a.quantity === b.quantity && a.period === b.period);
}
