import type { Pool } from "../../postgres/pool.ts";
import { findPlanDraft } from "../../store/cell/plan-drafts.ts";
import {
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
} from "../catalog/preconditions.ts";
import { beginWriting, writePlan } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { etagOfPlan } from "./describe-plan.ts";
import { type FullPlanState, readPlanContent, readPlanState, toPlanState } from "./plan-state.ts";

export type ArchivePlanOutcome =
  | { kind: "archived"; state: FullPlanState }
  | { kind: "plan_not_found" | "still_default" }
  | PreconditionFailure;

/** Nobody else is assigned it. Who is on it keeps it. */
export function archivePlan(
  cell: Pool,
  context: Context,
  input: { readonly key: string; readonly archived: boolean },
  preconditions: Preconditions,
): Promise<ArchivePlanOutcome> {
  const { environmentId } = context;
  const { key, archived } = input;
  return editCatalog<ArchivePlanOutcome>(cell, context, async (tx, catalog, at) => {
    const state = toPlanState(catalog, key, await findPlanDraft(tx, environmentId, key));
    if (state.plan === null) return { outcome: { kind: "plan_not_found" }, audits: [] };
    const failure = judgePreconditions(preconditions, { etag: etagOfPlan(state), isReplaced: false });
    if (failure !== null) return { outcome: failure, audits: [] };
    // Whoever nobody assigned a plan would go on getting it.
    if (archived && catalog.defaultPlan.plan === state.plan.id)
      return { outcome: { kind: "still_default" }, audits: [] };
    const before = await readPlanContent(tx, environmentId, catalog, state.plan);
    const writing = beginWriting(tx, environmentId, catalog, at);
    const audits = await writePlan(writing, before, { ...before, archived }, "new_assignments");
    return { outcome: { kind: "archived", state: await readPlanState(tx, environmentId, key) }, audits };
  });
}
