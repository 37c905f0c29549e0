import { useQueries, useQuery } from "@tanstack/react-query";
import { featureNamesQuery, type PlanSummary, poolsQuery } from "../../api/catalog-lists.ts";
import { countOf } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { type Customer, planVersionQuery } from "../customers/queries.ts";
import { lossesOf, type Names } from "./plan-losses.ts";

/** Names of features and pools, for the descriptions of losses. */
export function useLossNames(): Names {
  const scope = useScope();
  const { data: features } = useQuery(featureNamesQuery(scope));
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  return {
    feature: (key) => features?.get(key) ?? key,
    pool: (key) => (pools.length < 2 ? null : (pools.find((pool) => pool.key === key)?.name ?? key)),
  };
}

/** Warns if the customers' current plans have better terms than the new plan. Groups customers with the same plan and losses. */
export function BulkLosses({ customers, plan }: { customers: readonly Customer[]; plan: PlanSummary }) {
  const scope = useScope();
  const names = useLossNames();
  const after = plan.latest;
  const moving = customers.flatMap(({ plan: before, overrides }) =>
    before === null || before.key === plan.key ? [] : [{ before, overrides, version: nameOfVersion(before) }],
  );
  const versions = new Map(moving.map(({ before, version }) => [version, before]));
  const results = useQueries({
    queries: [...versions.values()].map((each) => planVersionQuery(scope, each)),
  });
  if (after === null) return null;
  const terms = new Map(
    [...versions.keys()].map((version, index) => [version, results[index]?.data ?? null]),
  );
  const lines = moving.flatMap(({ before, overrides, version }) => {
    const old = terms.get(version) ?? null;
    const losses = old === null ? [] : lossesOf({ before: old, after }, overrides, names);
    return losses.length === 0 ? [] : [{ current: before.name, losses: losses.join(" ") }];
  });
  if (lines.length === 0) return null;
  const groups = Map.groupBy(lines, ({ current, losses }) => JSON.stringify([current, losses]));
  return (
    <Callout
      tone="warn"
      title={`${plan.name} has less favorable terms than the current plans of ${countOf(lines.length, "customer")}`}
    >
      {[...groups].map(([id, group]) => (
        <p key={id}>
          {countOf(group.length, "customer")} on {group[0]?.current}: {group[0]?.losses}
        </p>
      ))}
    </Callout>
  );
}

function nameOfVersion({ key, version }: NonNullable<Customer["plan"]>): string {
  return `${key} ${version}`;
}
