import type { Catalog, VersionReach } from "../../entitlement/catalog.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { deletePlanDraft, findPlanDraft, type PlanTerms } from "../../store/cell/plan-drafts.ts";
import {
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
} from "../catalog/preconditions.ts";
import { beginWriting, publishVersion } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { type CatalogEdit, editCatalog, versionBefore } from "../edit-catalog.ts";
import { etagOfPlan } from "./describe-plan.ts";
import { type FullPlanState, fillPlanState, findPlan, readPlanContent, toPlanState } from "./plan-state.ts";
import { type MissingTerm, pinTerms } from "./terms.ts";

export type PlanInput = PlanTerms & {
  readonly key: string;
  /** Which existing customers get the new version. New assignments always get it. */
  readonly reach: VersionReach;
};

export type PublishOutcome = { kind: "published"; state: FullPlanState } | MissingTerm;

/** Publishes a plan's first or next version. Pins the current cost of the plan's features. */
export function publishPlan(cell: Pool, context: Context, input: PlanInput): Promise<PublishOutcome> {
  return editCatalog<PublishOutcome>(cell, context, (tx, catalog, at) =>
    publish(tx, context.environmentId, catalog, { input, at }),
  );
}

export type PublishDraftOutcome = PublishOutcome | { kind: "draft_not_found" } | PreconditionFailure;

/** Publishes the draft of a plan, then deletes the draft. */
export function publishDraft(
  cell: Pool,
  context: Context,
  input: { readonly key: string; readonly reach: VersionReach; readonly expectedVersion: number | null },
  preconditions: Preconditions,
): Promise<PublishDraftOutcome> {
  const { environmentId } = context;
  const { key, reach, expectedVersion } = input;
  return editCatalog<PublishDraftOutcome>(cell, context, async (tx, catalog, at) => {
    const draft = await findPlanDraft(tx, environmentId, key);
    if (draft === null) return { outcome: { kind: "draft_not_found" }, audits: [] };
    const etag = etagOfPlan(toPlanState(catalog, key, draft));
    const isOther = expectedVersion !== null && expectedVersion !== versionBefore(catalog);
    const failure = judgePreconditions(preconditions, { etag, isReplaced: false });
    if (failure !== null) return { outcome: failure, audits: [] };
    if (isOther) return { outcome: { kind: "changed_meanwhile" }, audits: [] };
    const published = await publish(tx, environmentId, catalog, { input: { ...draft, reach }, at });
    if (published.outcome.kind === "published") await deletePlanDraft(tx, environmentId, key);
    return published;
  });
}

async function publish(
  tx: Tx,
  environmentId: EnvironmentId,
  catalog: Catalog,
  { input, at }: { readonly input: PlanInput; readonly at: Instant },
): Promise<CatalogEdit<PublishOutcome>> {
  const { key, reach } = input;
  const pinned = pinTerms(catalog, key, input);
  if (pinned.kind !== "pinned") return { outcome: pinned, audits: [] };
  const plan = findPlan(catalog, key);
  const before = plan === null ? null : await readPlanContent(tx, environmentId, catalog, plan);
  const writing = beginWriting(tx, environmentId, catalog, at);
  const audit = await publishVersion(writing, before, pinned.content, reach);
  const edited = toPlanState(await loadCatalog(tx, environmentId), key, null);
  const state = await fillPlanState(tx, environmentId, edited);
  return { outcome: { kind: "published", state }, audits: [audit] };
}
