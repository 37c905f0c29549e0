import type { Cost } from "../../entitlement/catalog.ts";
import type { PeriodKind } from "../../entitlement/period.ts";
import type {
  AllowanceOverride,
  FeatureOverride,
  OverrideTerms,
  OwnLimit,
} from "../../entitlement/wallet.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type FeatureId, type Instant, type PoolId } from "../../primitives/brand.ts";

// The format of overridden terms, in `wallets.state` and in `overrides.terms`:
//
//   terms      [[feature…], [allowance…]]
//   feature    [feature, included 0|1|null, cost | null, limit | null | 0, added | null]
//              null: as in the plan. For a limit, 0 is as in the plan, and null is no limit.
//   added      [pool, cost]
//   cost       [credits, per]
//   limit      [quantity, period, anchor]
//   allowance  [pool, period, credits | null, overage?]           credits null: as in the plan; overage null: unlimited

type CostState = [number, number];
type LimitState = [number, string, number];
type AddedState = [number, CostState];
type FeatureState = [number, 0 | 1 | null, CostState | null, LimitState | null | 0, AddedState | null];
export type TermsState = [FeatureState[], [number, string, number | null, overage?: number | null][]];

type Terms = Pick<OverrideTerms, "features" | "allowances">;

export const PERIODS: readonly PeriodKind[] = ["day", "week", "month", "year", "once"];

export function writeTerms({ features, allowances }: Terms): TermsState {
  return [
    features.map(writeFeature),
    allowances.map(({ pool, period, credits, overage }) =>
      overage === undefined ? [pool, period, credits] : [pool, period, credits, overage],
    ),
  ];
}

export function readTerms([features, allowances]: TermsState): Terms {
  return {
    features: features.map(readFeature),
    allowances: allowances.map(
      ([pool, period, credits, overage]): AllowanceOverride => ({
        pool: brandAs<PoolId>(pool),
        period: readPeriod(period),
        credits,
        overage,
      }),
    ),
  };
}

function writeFeature({ feature, included, cost, limit, added }: FeatureOverride): FeatureState {
  return [
    feature,
    included === null ? null : included ? 1 : 0,
    cost === null ? null : writeCost(cost),
    limit === undefined ? 0 : limit === null ? null : [limit.quantity, limit.period, limit.anchor],
    added === null ? null : [added.pool, writeCost(added.cost)],
  ];
}

function readFeature([feature, included, cost, limit, added]: FeatureState): FeatureOverride {
  return {
    feature: brandAs<FeatureId>(feature),
    included: included === null ? null : included === 1,
    cost: cost === null ? null : readCost(cost),
    limit: limit === 0 ? undefined : limit === null ? null : readLimit(limit),
    added: added === null ? null : { pool: brandAs<PoolId>(added[0]), cost: readCost(added[1]) },
  };
}

function writeCost({ credits, per }: Cost): CostState {
  return [credits, per];
}

function readCost([credits, per]: CostState): Cost {
  return { credits, per };
}

function readLimit([quantity, period, anchor]: LimitState): OwnLimit {
  return { quantity, period: readPeriod(period), anchor: brandAs<Instant>(anchor) };
}

export function readPeriod(text: string): PeriodKind {
  const period = PERIODS.find((known) => known === text);
  assert(period !== undefined, "the kind of a period is known");
  return period;
}
