import type { Customer, PlanVersion } from "./queries.ts";

type Terms = Pick<PlanVersion, "allowances" | "features">;
type Overrides = NonNullable<Customer["overrides"]>;

/** Terms that an override changed are marked. A null cost means that an override excludes the feature. */
export type OwnTerms = {
  readonly allowances: readonly (PlanVersion["allowances"][number] & {
    /** Credits in each new period, if an override changes them. */
    readonly own: number | null;
    readonly isOwnOverage: boolean;
  })[];
  readonly features: readonly (Pick<PlanVersion["features"][number], "feature" | "limit"> & {
    readonly cost: PlanVersion["features"][number]["cost"] | null;
    readonly isOwn: boolean;
  })[];
};

/** Applies the customer's overrides to the terms of a plan. */
export function applyOverrides({ allowances, features }: Terms, overrides: Overrides | null): OwnTerms {
  const own = overrides?.features ?? {};
  const added = Object.entries(own).filter(([key]) => !features.some(({ feature }) => feature === key));
  return {
    allowances: allowances.map((allowance) => {
      const all = overrides?.allowances ?? {};
      const other = Object.hasOwn(all, allowance.pool) ? all[allowance.pool] : undefined;
      const { credits = null, overage } = other?.period === allowance.period ? other : {};
      const isOwnOverage = overage !== undefined;
      return { ...allowance, own: credits, isOwnOverage, ...(isOwnOverage && { overage }) };
    }),
    features: [
      ...features.map(({ feature, cost, limit }) => {
        const terms = Object.hasOwn(own, feature) ? own[feature] : undefined;
        return {
          feature,
          cost: terms?.included === false ? null : (terms?.cost ?? cost),
          limit: terms?.limit === undefined ? limit : terms.limit,
          isOwn: terms !== undefined,
        };
      }),
      ...added.flatMap(([feature, { cost, limit = null, pinned }]) =>
        pinned === undefined ? [] : [{ feature, cost: cost ?? pinned.cost, limit, isOwn: true }],
      ),
    ],
  };
}
