import {
  type Allowance,
  type Cost,
  formatAllowance,
  formatCost,
  formatLimit,
  formatOverage,
  type Limit,
} from "../../format/terms.ts";
import type { Feature, Plan, PlanDiff, PlanSummary } from "../catalog/queries.ts";

type PoolAllowance = Allowance & { readonly pool: string };
export type PinnedFeature = {
  readonly feature: string;
  readonly pool: string;
  readonly cost: Cost;
  readonly limit: Limit | null;
};

/** Terms of a plan version. */
export type Terms = {
  readonly allowances: readonly PoolAllowance[];
  readonly features: readonly PinnedFeature[];
};

/** Has the same shape as the API's diff of a draft. */
type TermsDiff = Pick<PlanDiff, "allowances" | "features" | "limits" | "costs">;

export type Draft = NonNullable<Plan["draft"]>;
export type DraftTerms = Pick<Draft, "name" | "allowances" | "features">;

const NOTHING: Terms = { allowances: [], features: [] };

/** The terms that publishing would pin, with the current feature costs. */
function pinTerms({ allowances, features }: DraftTerms, known: readonly Feature[]): Terms {
  return {
    allowances,
    features: features.flatMap(({ feature: key, limit }) => {
      const feature = known.find((each) => each.key === key);
      return feature === undefined ? [] : [{ feature: key, pool: feature.pool, cost: feature.cost, limit }];
    }),
  };
}

/** Compares two versions, or a version and unsaved form values. */
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
  const isSame = a.credits === b.credits && a.period === b.period && a.rollover === b.rollover;
  return isSame && a.pool === b.pool && a.overage === b.overage;
}

export function isSameLimit(a: Limit | null, b: Limit | null): boolean {
  return a === b || (a !== null && b !== null && a.quantity === b.quantity && a.period === b.period);
}

/** One change as a sentence. */
export type Sentence = { readonly kind: "added" | "removed" | "changed"; readonly text: string };

/** Looks up names by key. */
export type Names = {
  readonly feature: (key: string) => { readonly name: string; readonly unit: string | null };
  /** Name of a pool. Null if there is only one pool. */
  readonly pool: (key: string) => string | null;
};

export function sentencesOf(diff: TermsDiff, names: Names): Sentence[] {
  const { allowances, features, limits, costs } = diff;
  const given = (allowance: PoolAllowance): string => formatAllowance(allowance, names.pool(allowance.pool));
  return [
    ...allowances.changed.flatMap(({ before, after }) => allowanceChanges(before, after, names)),
    ...allowances.added.map((allowance) => added(`Includes ${given(allowance)}.`)),
    ...allowances.removed.map((allowance) => removed(`No longer includes ${given(allowance)}.`)),
    ...features.added.map((terms) => added(`${formatIncluded(terms, names)}.`)),
    ...features.removed.map(({ feature }) => removed(`No longer includes ${names.feature(feature).name}.`)),
    ...costs.map(({ feature, before, after }) => {
      const { name, unit } = names.feature(feature);
      const [was, is] = [formatPriced(before, unit, names), formatPriced(after, unit, names)];
      return changed(`${name}: ${was} → ${is}.`);
    }),
    ...limits.map(({ feature, before, after }) => {
      const { name, unit } = names.feature(feature);
      return changed(`${name}: ${formatLimit(before, unit)} → ${formatLimit(after, unit)}.`);
    }),
  ];
}

/** Describes a change of overage in a separate sentence. */
function allowanceChanges(before: PoolAllowance, after: PoolAllowance, names: Names): Sentence[] {
  const pool = names.pool(after.pool);
  const where = pool === null ? "" : ` in ${pool}`;
  const credits = (allowance: PoolAllowance): string => formatAllowance({ ...allowance, overage: 0 });
  const isOnlyOverage = isSameAllowance({ ...before, overage: after.overage }, after);
  return [
    ...(isOnlyOverage ? [] : [changed(`Credits${where}: ${credits(before)} → ${credits(after)}.`)]),
    ...(before.overage === after.overage
      ? []
      : [changed(`Overage${where}: ${formatOverage(before)} → ${formatOverage(after)}.`)]),
  ];
}

/** How a draft differs from the latest version, including the name. */
export function draftSentences(
  { name, versions }: Plan,
  draft: DraftTerms,
  { names, features }: { readonly names: Names; readonly features: readonly Feature[] },
): Sentence[] {
  const [latest = null] = versions;
  const isRenamed = latest !== null && draft.name !== "" && draft.name !== name;
  return [
    ...(isRenamed ? [renamed({ before: name, after: draft.name })] : []),
    ...sentencesOf(diffTerms(latest, pinTerms(draft, features)), names),
  ];
}

export function renamed({ before, after }: { readonly before: string; readonly after: string }): Sentence {
  return changed(`Name: ${before} → ${after}.`);
}

function formatIncluded({ feature, limit, ...priced }: PinnedFeature, names: Names): string {
  const { name, unit } = names.feature(feature);
  const terms = [formatPriced(priced, unit, names), ...(limit === null ? [] : [formatLimit(limit, unit)])];
  return `Includes ${name}: ${terms.join(", ")}`;
}

type Priced = Pick<PinnedFeature, "pool" | "cost">;

function formatPriced({ pool, cost }: Priced, unit: string | null, names: Names): string {
  const name = names.pool(pool);
  const price = formatCost(cost, unit);
  return name === null || cost.credits === 0 ? price : `${price} from ${name}`;
}

const added = (text: string): Sentence => ({ kind: "added", text });
const removed = (text: string): Sentence => ({ kind: "removed", text });
const changed = (text: string): Sentence => ({ kind: "changed", text });

type OtherPrice = { readonly plans: readonly string[]; readonly cost: Cost };

/** Plans whose pinned cost differs from the current cost of the feature. */
export function findOtherPrices(feature: Feature, plans: readonly PlanSummary[]): OtherPrice[] {
  const pinned = plans.flatMap(({ name, latest }) => {
    const terms = latest?.features.find((each) => each.feature === feature.key);
    return terms === undefined || isSamePrice(terms, feature) ? [] : [{ name, cost: terms.cost }];
  });
  return [...Map.groupBy(pinned, ({ cost: { credits, per } }) => `${credits} ${per}`).values()].flatMap(
    (group) =>
      group[0] === undefined ? [] : [{ plans: group.map(({ name }) => name), cost: group[0].cost }],
  );
}

type Price = { readonly pool: string; readonly cost: Cost };

export function isSamePrice(a: Price, b: Price): boolean {
  return a.pool === b.pool && a.cost.credits === b.cost.credits && a.cost.per === b.cost.per;
}
