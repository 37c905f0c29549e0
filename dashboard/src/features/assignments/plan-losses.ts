import { countOf } from "../../format/numbers.ts";
import {
  type Cost,
  capitalize,
  formatCost,
  formatLimit,
  formatPeriodCredits,
  formatSpan,
  joinList,
  type Limit,
  nameOverage,
  type Period,
} from "../../format/terms.ts";
import { applyOverrides, type OwnTerms } from "../customers/own-terms.ts";
import type { Customer, PlanVersion } from "../customers/queries.ts";

type Terms = Pick<PlanVersion, "allowances" | "features">;

export type Names = {
  readonly feature: (key: string) => string;
  /** Name of a pool. Null if there is only one pool. */
  readonly pool: (key: string) => string | null;
};

/**
 * What a customer loses with another plan: features and credits that it does not include, lower limits and overage, and higher costs.
 * Overrides apply to both plans.
 */
export function lossesOf(
  { before, after }: { readonly before: Terms; readonly after: Terms },
  overrides: Customer["overrides"],
  names: Names,
): string[] {
  const [old, own] = [applyOverrides(before, overrides), applyOverrides(after, overrides)];
  const kept = new Map(includedIn(own).map((terms) => [terms.feature, terms]));
  const lost = includedIn(old).filter(({ feature }) => !kept.has(feature));
  return [
    ...(lost.length === 0
      ? []
      : [`No longer included: ${joinList(lost.map(({ feature }) => names.feature(feature)))}.`]),
    ...includedIn(old).flatMap((was) => {
      const is = kept.get(was.feature);
      return is === undefined ? [] : sentences(names.feature(was.feature), featureLosses(was, is));
    }),
    ...old.allowances.flatMap((was) => {
      const is = own.allowances.find(({ pool }) => pool === was.pool) ?? null;
      return sentences(names.pool(was.pool), allowanceLosses(was, is));
    }),
  ];
}

function sentences(name: string | null, losses: readonly string[]): string[] {
  return losses.map((loss) => (name === null ? `${capitalize(loss)}.` : `${name}: ${loss}.`));
}

type Included = Omit<OwnTerms["features"][number], "cost"> & { readonly cost: Cost };

function includedIn({ features }: OwnTerms): Included[] {
  return features.flatMap(({ cost, ...terms }) => (cost === null ? [] : [{ ...terms, cost }]));
}

function featureLosses(was: Included, is: Included): string[] {
  const costsMore = is.cost.credits * was.cost.per > was.cost.credits * is.cost.per;
  return [
    ...(isLess(amountOf(was.limit), amountOf(is.limit))
      ? [`${formatLimit(is.limit, null)} instead of ${formatLimit(was.limit, null)}`]
      : []),
    ...(costsMore ? [`${formatCost(is.cost, null)} instead of ${formatCost(was.cost, null)}`] : []),
  ];
}

type OwnAllowance = OwnTerms["allowances"][number];

function allowanceLosses(was: OwnAllowance, is: OwnAllowance | null): string[] {
  const given = is === null ? countOf(0, "credit") : formatPeriodCredits(creditsOf(is));
  const overage = is === null ? 0 : is.overage;
  const period = is?.period ?? was.period;
  return [
    ...(isLess(
      amountOf({ quantity: creditsOf(was).credits, period: was.period }),
      amountOf({ quantity: is === null ? 0 : creditsOf(is).credits, period }),
    )
      ? [`${given} instead of ${formatPeriodCredits(creditsOf(was))}`]
      : []),
    ...(isLess(overageOf(was.overage, was.period), overageOf(overage, period))
      ? [`${describeOverage(overage, period)} instead of ${describeOverage(was.overage, was.period)}`]
      : []),
    ...(is !== null && rolloverYears(is) < rolloverYears(was) ? [describeRollover(is, was)] : []),
  ];
}

/** The period is not clear from the context, because the plans can have different periods. */
function describeOverage(overage: number | null, period: Period): string {
  const name = nameOverage(overage);
  return overage === null || overage === 0 ? name : `${name} ${formatSpan(period)}`;
}

function rolloverYears({ rollover, period }: OwnAllowance): number {
  return period === "once" ? Number.POSITIVE_INFINITY : rollover / A_YEAR[period];
}

function describeRollover(is: OwnAllowance, was: OwnAllowance): string {
  if (was.period === "once") return "unused credits expire";
  const before = countOf(was.rollover, was.period);
  return is.rollover === 0
    ? `unused credits no longer roll over (previously for ${before})`
    : `unused credits roll over for ${countOf(is.rollover, is.period)} instead of ${before}`;
}

function creditsOf({ own, credits, period }: OwnAllowance): { credits: number; period: Period } {
  return { credits: own ?? credits, period };
}

/** Infinity if there is no limit. */
type Amount = { readonly quantity: number; readonly period: Period };

function amountOf(limit: Limit | null): Amount {
  return limit ?? { quantity: Number.POSITIVE_INFINITY, period: "month" };
}

function overageOf(overage: number | null, period: Period): Amount {
  return { quantity: overage ?? Number.POSITIVE_INFINITY, period };
}

const A_YEAR = { day: 365, week: 52, month: 12, year: 1 } as const;

function isLess(was: Amount, is: Amount): boolean {
  if (was.quantity === 0 || is.quantity === Number.POSITIVE_INFINITY) return false;
  if (was.quantity === Number.POSITIVE_INFINITY || is.quantity === 0) return true;
  if (was.period === is.period) return is.quantity < was.quantity;
  if (is.period === "once") return true;
  // Compares with the first period, because later periods depend on how long the customer stays.
  if (was.period === "once") return is.quantity < was.quantity;
  return is.quantity * A_YEAR[is.period] < was.quantity * A_YEAR[was.period];
}
