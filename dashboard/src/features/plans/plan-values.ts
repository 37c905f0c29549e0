import type { OverageKind } from "../../format/term-fields.ts";
import type { Period } from "../../format/terms.ts";
import type { Feature, Plan, Pool } from "../catalog/queries.ts";
import { type DraftTerms, isSameAllowance, isSameLimit } from "./plan-terms.ts";

/** Suggested when overage is first allowed. */
const OVERAGE_FIRST = 500;

/** Form values: one row per pool and feature, included or not. */
export type PlanValues = {
  name: string;
  allowances: {
    pool: string;
    isGiven: boolean;
    credits: number;
    period: Period;
    rollover: number;
    overageKind: OverageKind;
    /** Used only if `limited`. */
    overage: number;
  }[];
  features: { feature: string; isIncluded: boolean; period: Period | "none"; quantity: number }[];
};

/** The row of a pool that the plan does not include yet. */
export function emptyAllowance(pool: string): PlanValues["allowances"][number] {
  return {
    pool,
    isGiven: false,
    credits: 1_000,
    period: "month",
    rollover: 0,
    overageKind: "none",
    overage: OVERAGE_FIRST,
  };
}

/** Starting point of an edit: the draft, or the latest version. */
export function startOf({ name, draft, versions: [latest] }: Plan): DraftTerms {
  if (draft !== null) return termsOnly(draft);
  return termsOnly({ name, allowances: latest?.allowances ?? [], features: latest?.features ?? [] });
}

function termsOnly({ name, allowances, features }: DraftTerms): DraftTerms {
  return { name, allowances, features: features.map(({ feature, limit }) => ({ feature, limit })) };
}

export function toValues(
  terms: DraftTerms,
  { features, pools }: { features: readonly Feature[]; pools: readonly Pool[] },
): PlanValues {
  // Include keys that are not in the loaded lists yet, so that saving does not remove them.
  const poolKeys = new Set([...pools.map(({ key }) => key), ...terms.allowances.map(({ pool }) => pool)]);
  const offered = features.filter(({ archivedAt }) => archivedAt === null).map(({ key }) => key);
  const featureKeys = new Set([...offered, ...terms.features.map(({ feature }) => feature)]);
  return {
    name: terms.name,
    allowances: [...poolKeys].map((pool) => {
      const given = terms.allowances.find((allowance) => allowance.pool === pool);
      if (given === undefined) return emptyAllowance(pool);
      const { credits, period, rollover, overage } = given;
      const overageKind = overage === null ? "unlimited" : overage === 0 ? "none" : "limited";
      return {
        pool,
        isGiven: true,
        credits,
        period,
        rollover,
        overageKind,
        overage: overage || OVERAGE_FIRST,
      };
    }),
    features: [...featureKeys].sort().map((feature) => {
      const included = terms.features.find((each) => each.feature === feature);
      const { period, quantity } = included?.limit ?? { period: "none" as const, quantity: 100 };
      return { feature, isIncluded: included !== undefined, period, quantity };
    }),
  };
}

export function toTerms({ name, allowances, features }: PlanValues): DraftTerms {
  return {
    name: name.trim(),
    allowances: allowances.flatMap(({ pool, isGiven, credits, period, rollover, overageKind, overage }) =>
      isGiven
        ? [
            {
              pool,
              credits,
              period,
              rollover: period === "once" ? 0 : rollover,
              overage: overageKind === "limited" ? overage : overageKind === "none" ? 0 : null,
            },
          ]
        : [],
    ),
    features: features.flatMap(({ feature, isIncluded, period, quantity }) =>
      isIncluded ? [{ feature, limit: period === "none" ? null : { quantity, period } }] : [],
    ),
  };
}

/** Three-way merge of concurrent edits: changes from `base` to `mine` are kept, and everything else comes from `theirs`. */
export function mergeTerms(base: DraftTerms, mine: DraftTerms, theirs: DraftTerms): DraftTerms {
  return {
    name: mine.name === base.name ? theirs.name : mine.name,
    allowances: mergeBy("pool", isSameAllowance, [base.allowances, mine.allowances, theirs.allowances]),
    features: mergeBy("feature", (a, b) => isSameLimit(a.limit, b.limit), [
      base.features,
      mine.features,
      theirs.features,
    ]),
  };
}

export function isSameTerms(a: DraftTerms, b: DraftTerms): boolean {
  const same = <T>(left: readonly T[], right: readonly T[], isSame: (a: T, b: T) => boolean): boolean =>
    left.length === right.length && left.every((each) => right.some((other) => isSame(each, other)));
  return (
    a.name === b.name &&
    same(a.allowances, b.allowances, isSameAllowance) &&
    same(
      a.features,
      b.features,
      (left, right) => left.feature === right.feature && isSameLimit(left.limit, right.limit),
    )
  );
}

function mergeBy<K extends string, T extends { readonly [P in K]: string }>(
  by: K,
  isSame: (a: T, b: T) => boolean,
  [base, mine, theirs]: readonly [readonly T[], readonly T[], readonly T[]],
): T[] {
  const keys = new Set([...theirs, ...mine].map((each) => each[by]));
  return [...keys].flatMap((key) => {
    const find = (list: readonly T[]): T | undefined => list.find((each) => each[by] === key);
    const [was, my, their] = [find(base), find(mine), find(theirs)];
    const isMineUntouched = was === undefined ? my === undefined : my !== undefined && isSame(was, my);
    return (isMineUntouched ? their : my) ?? [];
  });
}
