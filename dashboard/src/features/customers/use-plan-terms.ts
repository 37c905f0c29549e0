import { useQuery } from "@tanstack/react-query";
import { useScope } from "../../frame/use-scope.ts";
import { type Customer, type PlanVersion, planVersionQuery } from "./queries.ts";

/** Terms of the customer's plan version. Null without a plan, or while they load. */
export function usePlanTerms({ plan }: Customer): PlanVersion | null {
  const scope = useScope();
  const { data } = useQuery({
    ...planVersionQuery(scope, plan ?? { key: "", version: 0 }),
    enabled: plan !== null,
  });
  return plan === null ? null : (data ?? null);
}
