import type { Cost } from "../../words/terms.ts";
import type { Feature, PlanSummary } from "./queries.ts";

export type OtherPrice = { readonly plans: readonly string[]; readonly cost: Cost };

/** The plans, by name, that go on charging what they pinned while the feature itself costs something else by now. */
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

type Priced = { readonly pool: string; readonly cost: Cost };

export function isSamePrice(a: Priced, b: Priced): boolean {
  return a.pool === b.pool && a.cost.credits === b.cost.credits && a.cost.per === b.cost.per;
}
