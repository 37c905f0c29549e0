import type { Feature, Pool } from "../../api/catalog-lists.ts";
import { formatCount } from "../../format/numbers.ts";
import {
  capitalize,
  formatCost,
  formatLimit,
  formatPeriodCredits,
  type Limit,
  nameOverage,
} from "../../format/terms.ts";
import type { Customer, PlanVersion } from "../customers/queries.ts";

export type Overrides = NonNullable<Customer["overrides"]>;

/** The description of one overridden feature or pool. */
export type OverrideLine = {
  readonly kind: "feature" | "allowance";
  /** Key of the feature or pool. */
  readonly key: string;
  readonly name: string;
  /** "50 a day instead of 20", "4 credits each instead of 10 credits each". */
  readonly terms: readonly string[];
  /** Whether the override takes effect only with the next period. */
  readonly isLater: boolean;
};

type Known = {
  /** Null without a plan, or while the plan loads. */
  readonly version: Pick<PlanVersion, "allowances" | "features"> | null;
  readonly features: readonly Feature[];
  readonly pools: readonly Pool[];
};

/** Describes overrides, with the plan's terms that they replace. */
export function describeOverrides({ features, allowances }: Overrides, known: Known): OverrideLine[] {
  return [
    ...Object.entries(allowances).map(([key, own]) => describeAllowance(key, own, known)),
    ...Object.entries(features).map(([key, own]) => describeFeature(key, own, known)),
  ];
}

function describeFeature(
  key: string,
  { included, cost, limit, pinned }: Overrides["features"][string],
  { version, features }: Known,
): OverrideLine {
  const { name, unit } = features.find((feature) => feature.key === key) ?? { name: key, unit: null };
  const planned = version?.features.find(({ feature }) => feature === key);
  const isAdded = included === true && planned === undefined;
  // If the plan does not include the feature, an override without `included` has no effect.
  const isIdle = version !== null && planned === undefined && included === undefined;
  const price = cost ?? (isAdded ? pinned?.cost : undefined);
  const terms =
    included === false
      ? ["not included"]
      : [
          ...(isAdded ? ["included, in addition to the plan"] : []),
          ...(isIdle ? ["no effect: the plan does not include it"] : []),
          ...(price === undefined
            ? []
            : [instead(formatCost(price, unit), planned && formatCost(planned.cost, unit))]),
          ...(limit === undefined ? [] : [describeLimit(limit, planned?.limit, unit)]),
          ...(included === true && planned !== undefined && cost === undefined && limit === undefined
            ? ["included, as in the plan"]
            : []),
        ];
  return { kind: "feature", key, name, terms: terms.map(capitalize), isLater: false };
}

/** Describes an overridden limit. `planned` is undefined if the plan does not include the feature. */
function describeLimit(own: Limit | null, planned: Limit | null | undefined, unit: string | null): string {
  const format = (limit: Limit | null): string => formatLimit(limit, unit).replace(/^at most /, "");
  if (planned === undefined) return format(own);
  const isSamePeriod = own !== null && planned !== null && own.period === planned.period;
  return instead(format(own), isSamePeriod ? formatCount(planned.quantity) : format(planned));
}

function describeAllowance(
  key: string,
  { credits, overage, period }: Overrides["allowances"][string],
  { version, pools }: Known,
): OverrideLine {
  const planned = version?.allowances.find(
    (allowance) => allowance.pool === key && allowance.period === period,
  );
  const terms = [
    ...(version !== null && planned === undefined ? [`no effect: the plan has no such allowance`] : []),
    ...(credits === undefined
      ? []
      : [instead(formatPeriodCredits({ credits, period }), planned && formatCount(planned.credits))]),
    ...(overage === undefined
      ? []
      : [instead(nameOverage(overage), planned && nameOverage(planned.overage).replace(/ of overage$/, ""))]),
  ];
  return {
    kind: "allowance",
    key,
    name: pools.find((pool) => pool.key === key)?.name ?? key,
    terms: terms.map(capitalize),
    isLater: credits !== undefined,
  };
}

function instead(own: string, planned: string | undefined): string {
  return planned === undefined ? own : `${own} instead of ${planned}`;
}
