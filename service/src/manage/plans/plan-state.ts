import type { Catalog, Plan } from "../../entitlement/catalog.ts";
import type { Tx } from "../../postgres/statement.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findPlanDraft, type PlanDraft } from "../../store/cell/plan-drafts.ts";
import type { EnvironmentId } from "../../words/brand.ts";

/** A plan with what was published of it and what is being worked on. Either may be missing. */
export type PlanState = {
  readonly key: string;
  readonly catalog: Catalog;
  readonly plan: Plan | null;
  readonly draft: PlanDraft | null;
};

export async function readPlanState(tx: Tx, environmentId: EnvironmentId, key: string): Promise<PlanState> {
  const catalog = await loadCatalog(tx, environmentId);
  return toPlanState(catalog, key, await findPlanDraft(tx, environmentId, key));
}

export function toPlanState(catalog: Catalog, key: string, draft: PlanDraft | null): PlanState {
  return { key, catalog, plan: findPlan(catalog, key), draft };
}

export function findPlan({ plans }: Catalog, key: string): Plan | null {
  return [...plans.values()].find((plan) => plan.key === key) ?? null;
}
