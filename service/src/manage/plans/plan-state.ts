import {
  type Catalog,
  getPlan,
  getVersion,
  latestVersion,
  type Plan,
  type PlanVersion,
} from "../../entitlement/catalog.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { loadCatalog, withTerms } from "../../store/cell/catalogs.ts";
import { findPlanDraft, type PlanDraft } from "../../store/cell/plan-drafts.ts";
import { type PlanContent, planContent } from "../catalog/content.ts";

/** A plan with its published versions and its draft. Either the versions or the draft may be missing. */
export type PlanState = {
  readonly key: string;
  readonly catalog: Catalog;
  readonly plan: Plan | null;
  readonly draft: PlanDraft | null;
};

/** A plan's state with some of its versions and their terms, newest first. */
export type FullPlanState = PlanState & {
  readonly shown: readonly PlanVersion[];
  /** The next page lists versions below this number. Null if there are no more versions. */
  readonly nextBefore: number | null;
};

const SHOWN_MAX = 10;

export async function readPlanState(
  tx: Tx,
  environmentId: EnvironmentId,
  key: string,
  before: number | null = null,
): Promise<FullPlanState> {
  const catalog = await loadCatalog(tx, environmentId);
  const state = toPlanState(catalog, key, await findPlanDraft(tx, environmentId, key));
  return fillPlanState(tx, environmentId, state, before);
}

/** Loads the terms of the shown versions that are not in memory. */
export async function fillPlanState(
  tx: Tx,
  environmentId: EnvironmentId,
  state: PlanState,
  before: number | null = null,
): Promise<FullPlanState> {
  const published = (state.plan?.versions ?? []).filter(({ number }) => before === null || number < before);
  const shown = published.slice(-SHOWN_MAX).reverse();
  const catalog = await withTerms(tx, environmentId, state.catalog, shown);
  const full = toPlanState(catalog, state.key, state.draft);
  return {
    ...full,
    shown: shown.map(({ id }) => getVersion(catalog, id)),
    nextBefore: published.length > shown.length ? (shown.at(-1)?.number ?? null) : null,
  };
}

export function toPlanState(catalog: Catalog, key: string, draft: PlanDraft | null): PlanState {
  return { key, catalog, plan: findPlan(catalog, key), draft };
}

export function findPlan({ plans }: Catalog, key: string): Plan | null {
  return [...plans.values()].find((plan) => plan.key === key) ?? null;
}

/** Reads a plan with its latest version, which is loaded if it is not in memory. */
export async function readPlanContent(
  tx: Tx,
  environmentId: EnvironmentId,
  catalog: Catalog,
  plan: Plan,
): Promise<PlanContent> {
  const complete = await withTerms(tx, environmentId, catalog, [latestVersion(plan)]);
  return planContent(complete, getPlan(complete, plan.id));
}
