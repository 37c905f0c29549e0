import type { Body } from "../../api/answer.ts";
import type { OverageKind } from "../../format/term-fields.ts";
import type { Period } from "../../format/terms.ts";
import type { PlanVersion } from "../customers/queries.ts";
import type { Overrides } from "./override-sentences.ts";

export type OverridesBody = Body<"setOverrides">;

export const OVERRIDES_PATH =
  "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/overrides";

/** Form values. "plan" keeps the plan's terms. */
export type OverrideValues = {
  features: FeatureValues[];
  allowances: AllowanceValues[];
  ending: "never" | "at";
  endsAt: string;
};

export type FeatureValues = {
  feature: string;
  included: "plan" | "yes" | "no";
  costKind: "plan" | "own";
  credits: number;
  per: number;
  limitPeriod: "plan" | "none" | Period;
  quantity: number;
};

export type AllowanceValues = {
  pool: string;
  period: Period;
  creditsKind: "plan" | "own";
  credits: number;
  overageKind: "plan" | OverageKind;
  overage: number;
};

type Terms = Pick<PlanVersion, "allowances" | "features"> | null;

/** A new feature override starts with the plan's terms. A feature that is not in the plan starts as included. */
export function newFeature(feature: string, terms: Terms): FeatureValues {
  const planned = terms?.features.find((each) => each.feature === feature);
  return {
    feature,
    included: planned === undefined ? "yes" : "plan",
    costKind: "plan",
    credits: planned?.cost.credits ?? 1,
    per: planned?.cost.per ?? 1,
    limitPeriod: "plan",
    quantity: planned?.limit?.quantity ?? 100,
  };
}

export function newAllowance(pool: string, terms: Terms): AllowanceValues {
  const planned = terms?.allowances.find((each) => each.pool === pool);
  return {
    pool,
    period: planned?.period ?? "month",
    creditsKind: "own",
    credits: planned?.credits ?? 1_000,
    overageKind: "plan",
    overage: planned?.overage || 500,
  };
}

export function toValues(overrides: Overrides | null, terms: Terms, endsAt: string): OverrideValues {
  const { features = {}, allowances = {} } = overrides ?? {};
  return {
    features: Object.entries(features).map(([key, { included, cost, limit }]) => ({
      ...newFeature(key, terms),
      included: included === undefined ? "plan" : included ? "yes" : "no",
      ...(cost === undefined ? {} : { costKind: "own", ...cost }),
      ...(limit === undefined
        ? {}
        : { limitPeriod: limit?.period ?? "none", ...(limit && { quantity: limit.quantity }) }),
    })),
    allowances: Object.entries(allowances).map(([key, { credits, overage, period }]) => ({
      ...newAllowance(key, terms),
      period,
      ...(credits === undefined ? { creditsKind: "plan" } : { credits }),
      ...(overage === undefined
        ? {}
        : {
            overageKind: overage === null ? "unlimited" : overage === 0 ? "none" : "limited",
            ...(overage ? { overage } : {}),
          }),
    })),
    ending: endsAt === "" ? "never" : "at",
    endsAt,
  };
}

/** The request body. Null if a row changes nothing, because the API would reject that row. */
export function toBody(values: OverrideValues, endsAt: string | null): OverridesBody | null {
  const features = values.features.map((row) => [row.feature, featureTerms(row)] as const);
  const allowances = values.allowances.map((row) => [row.pool, allowanceTerms(row)] as const);
  if (features.some(([, terms]) => Object.keys(terms).length === 0)) return null;
  if (values.allowances.some((row) => row.creditsKind === "plan" && row.overageKind === "plan")) return null;
  return {
    ...(features.length === 0 ? {} : { features: Object.fromEntries(features) }),
    ...(allowances.length === 0 ? {} : { allowances: Object.fromEntries(allowances) }),
    ...(endsAt === null || features.length + allowances.length === 0 ? {} : { endsAt }),
  };
}

function featureTerms({ included, costKind, credits, per, limitPeriod, quantity }: FeatureValues) {
  if (included === "no") return { included: false };
  return {
    ...(included === "yes" ? { included: true } : {}),
    ...(costKind === "own" ? { cost: { credits, per } } : {}),
    ...(limitPeriod === "plan"
      ? {}
      : { limit: limitPeriod === "none" ? null : { quantity, period: limitPeriod } }),
  };
}

function allowanceTerms({ period, creditsKind, credits, overageKind, overage }: AllowanceValues) {
  return {
    period,
    ...(creditsKind === "own" ? { credits } : {}),
    ...(overageKind === "plan"
      ? {}
      : { overage: overageKind === "limited" ? overage : overageKind === "none" ? 0 : null }),
  };
}

/** The overrides without one feature or pool. */
export function withoutLine(
  overrides: Overrides,
  { kind, key }: { kind: string; key: string },
): OverridesBody {
  const keep = <T>(all: Readonly<Record<string, T>>, of: string): Record<string, T> =>
    Object.fromEntries(Object.entries(all).filter(([other]) => kind !== of || other !== key));
  const allowances = keep(overrides.allowances, "allowance");
  const features = Object.fromEntries(
    Object.entries(keep(overrides.features, "feature")).map(([feature, { pinned: _, ...terms }]) => [
      feature,
      terms,
    ]),
  );
  const isEmpty = Object.keys(features).length + Object.keys(allowances).length === 0;
  return isEmpty ? {} : { features, allowances, endsAt: overrides.endsAt };
}
