import type { Pool } from "../../postgres/pool.ts";
import {
  deletePlanDraft,
  findPlanDraft,
  type PlanTerms,
  upsertPlanDraft,
} from "../../store/cell/plan-drafts.ts";
import { isSame } from "../catalog/content.ts";
import {
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
} from "../catalog/preconditions.ts";
import type { Context } from "../context.ts";
import { editDrafts } from "../edit-catalog.ts";
import { refuseEarlyOverage } from "../refuse-unfinished-upgrade.ts";
import { etagOfPlan } from "./describe-plan.ts";
import { type FullPlanState, fillPlanState, toPlanState } from "./plan-state.ts";
import { type MissingTerm, pinTerms, sortTerms } from "./terms.ts";

export type PutDraftOutcome = { kind: "drafted"; state: FullPlanState } | MissingTerm | PreconditionFailure;

/** Creates or replaces the draft of a plan's next version. */
export function putDraft(
  cell: Pool,
  context: Context,
  input: PlanTerms & { readonly key: string },
  preconditions: Preconditions,
): Promise<PutDraftOutcome> {
  const { environmentId } = context;
  const { key } = input;
  return editDrafts<PutDraftOutcome>(cell, context, async (tx, catalog, changedAt) => {
    const draft = await findPlanDraft(tx, environmentId, key);
    const state = toPlanState(catalog, key, draft);
    const failure = judgePreconditions(preconditions, {
      etag: etagOfPlan(state),
      isReplaced: draft !== null,
    });
    if (failure !== null) return { outcome: failure, audits: [] };
    const pinned = pinTerms(catalog, key, input);
    if (pinned.kind !== "pinned") return { outcome: pinned, audits: [] };
    const before = draft === null ? null : sortTerms(draft);
    const after = sortTerms(input);
    if (isSame(before, after)) {
      const full = await fillPlanState(tx, environmentId, state);
      return { outcome: { kind: "drafted", state: full }, audits: [] };
    }
    const next = { key, ...after, changedAt };
    await refuseEarlyOverage(tx, next.allowances);
    await upsertPlanDraft(tx, environmentId, next);
    const full = await fillPlanState(tx, environmentId, toPlanState(catalog, key, next));
    return {
      outcome: { kind: "drafted", state: full },
      audits: [{ action: "plan_draft.saved", subject: key, before, after }],
    };
  });
}

export type DiscardDraftOutcome = { kind: "discarded" | "draft_not_found" } | PreconditionFailure;

export function discardDraft(
  cell: Pool,
  context: Context,
  input: { readonly key: string },
  preconditions: Preconditions,
): Promise<DiscardDraftOutcome> {
  const { environmentId } = context;
  const { key } = input;
  return editDrafts<DiscardDraftOutcome>(cell, context, async (tx, catalog) => {
    const draft = await findPlanDraft(tx, environmentId, key);
    if (draft === null) return { outcome: { kind: "draft_not_found" }, audits: [] };
    const etag = etagOfPlan(toPlanState(catalog, key, draft));
    const failure = judgePreconditions(preconditions, { etag, isReplaced: false });
    if (failure !== null) return { outcome: failure, audits: [] };
    await deletePlanDraft(tx, environmentId, key);
    const before = sortTerms(draft);
    const audit = { action: "plan_draft.discarded", subject: key, before, after: null };
    return { outcome: { kind: "discarded" }, audits: [audit] };
  });
}
