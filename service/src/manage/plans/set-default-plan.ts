import type { Pool } from "../../postgres/pool.ts";
import { setDefaultPlan as storeDefaultPlan } from "../../store/cell/catalogs.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

export type DefaultPlanOutcome = { kind: "set" | "unchanged" | "plan_not_found" };

/** The plan of customers whom nobody assigned one. Who has the old one by default moves to the new one. */
export function setDefaultPlan(
  cell: Pool,
  context: Context,
  input: { readonly plan: string | null },
): Promise<DefaultPlanOutcome> {
  return editCatalog<DefaultPlanOutcome>(cell, context, async (tx, catalog) => {
    const plans = [...catalog.plans.values()];
    const plan = plans.find(({ key }) => key === input.plan);
    if (plan === undefined && input.plan !== null)
      return { outcome: { kind: "plan_not_found" }, audit: null };
    const before = plans.find(({ id }) => id === catalog.defaultPlan.plan);
    if (before === plan) return { outcome: { kind: "unchanged" }, audit: null };
    await storeDefaultPlan(tx, context.environmentId, plan?.id ?? null);
    return {
      outcome: { kind: "set" },
      audit: {
        action: "default_plan.set",
        subject: input.plan ?? "none",
        before: { plan: before?.key ?? null },
        after: { plan: input.plan },
      },
    };
  });
}
