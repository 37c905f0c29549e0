import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findPlanDraft } from "../../store/cell/plan-drafts.ts";

export type CatalogNoun = "pool" | "feature" | "plan";

/** The error for a key in the request body that does not exist or is archived. */
export function unknownKey({ noun, key }: { noun: CatalogNoun; key: string }): Problem {
  return new Problem("unknown_key", { detail: `There is no ${noun} \`${key}\` in this environment.` });
}

/** The error for a plan in the request body that cannot be assigned: archived, not published yet, or missing. */
export function unassignablePlan(cell: Pool, environmentId: EnvironmentId, key: string): Promise<Problem> {
  return single(cell, async (tx) => {
    const { plans } = await loadCatalog(tx, environmentId);
    if (plans.values().some((plan) => plan.key === key)) return archivedPlan(key);
    if ((await findPlanDraft(tx, environmentId, key)) === null) return unknownKey({ noun: "plan", key });
    return new Problem("unknown_key", {
      detail: `The \`${key}\` plan has a draft, but no published version. Publish it first.`,
    });
  });
}

export function archivedPlan(key: string): Problem {
  return new Problem("unknown_key", {
    detail: `The \`${key}\` plan is archived and can no longer be assigned.`,
  });
}

/** The error for a key in the path that does not exist. */
export function missing(noun: CatalogNoun): Problem {
  return new Problem("not_found", { detail: `There is no such ${noun} in this environment.` });
}

export function stillDefault(key: string): Problem {
  return new Problem("in_use", {
    detail: `The \`${key}\` plan is the default plan of this environment. Choose another default plan before you archive it.`,
  });
}
