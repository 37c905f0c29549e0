import type { Cost } from "../../words/terms.ts";
import type { Feature, PlanSummary } from "./queries.ts";

export type OtherPrice = { readonly plan: string; readonly name: string; readonly cost: Cost };

/** The plans that go on charging what they pinned, while the feature itself costs something else by now. */
export function findOtherPrices(feature: Feature, plans: readonly PlanSummary[]): OtherPrice[] {
  return plans.flatMap(({ key, name, latest }) => {
    const pinned = latest?.features.find((terms) => terms.feature === feature.key);
    if (pinned === undefined || isSamePrice(pinned, feature)) return [];
    return [{ plan: key, name, cost: pinned.cost }];
  });
}

type Priced = { readonly pool: string; readonly cost: Cost };

export function isSamePrice(a: Priced, b: Priced): boolean {
  return a.pool === b.pool && a.cost.credits === b.cost.credits && a.cost.per === b.cost.per;
}
