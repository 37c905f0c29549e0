import type { Pool } from "../../postgres/pool.ts";
import { beginWriting, writeDefaultPlan } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { findPlan } from "./plan-state.ts";

export type DefaultPlanOutcome = { kind: "set" | "unchanged" | "plan_not_found" };

/** The plan of customers without an assigned one. Customers on the old default plan move to the new one. */
export function setDefaultPlan(
  cell: Pool,
  context: Context,
  input: { readonly plan: string | null },
): Promise<DefaultPlanOutcome> {
  return editCatalog<DefaultPlanOutcome>(cell, context, async (tx, catalog, at) => {
    const plan = input.plan === null ? null : findPlan(catalog, input.plan);
    const isOffered = plan !== null && plan.archivedAt === null;
    if (input.plan !== null && !isOffered) return { outcome: { kind: "plan_not_found" }, audits: [] };
    const { plan: current } = catalog.defaultPlan;
    const before = current === null ? null : (catalog.plans.get(current)?.key ?? null);
    const writing = beginWriting(tx, context.environmentId, catalog, at);
    const audits = await writeDefaultPlan(writing, before, input.plan);
    return { outcome: { kind: audits.length === 0 ? "unchanged" : "set" }, audits };
  });
}
