import { Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { assertNever } from "../../primitives/assert.ts";
import { loadCatalog, withTerms } from "../../store/cell/catalogs.ts";
import { findPlanDraft, listPlanDrafts } from "../../store/cell/plan-drafts.ts";
import { sortByKey } from "../catalog/content.ts";
import {
  judgePreconditions,
  type PreconditionFailure,
  type Preconditions,
  preconditionHeaders,
  preconditionProblem,
  readPreconditions,
} from "../catalog/preconditions.ts";
import { missing, stillDefault, unassignablePlan } from "../catalog/problems.ts";
import { archiveInput } from "../catalog/schema.ts";
import { beginWriting, writeDefaultPlan, writePlan } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { keyField, nullable, planKeyField, strictObject } from "../fields.ts";
import {
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { archivableQuery, isWanted, pageByKey, pageOf } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { describePlan, etagOfPlan, Plan, PlanSummary, summarizePlan } from "./describe-plan.ts";
import {
  type FullPlanState,
  findPlan,
  type PlanState,
  readPlanContent,
  readPlanState,
  toPlanState,
} from "./plan-state.ts";

const NOUN = "Plans";
export const PLAN_PATH = `${ENVIRONMENT_PATH}/plans/:key`;
export const planParams = Type.Object({ ...environmentParams, key: planKeyField });

export function planOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/plans`,
      access: { role: "viewer", in: "environment" },
      id: "listPlans",
      noun: NOUN,
      summary: "List plans",
      description:
        "Lists plans sorted by key, each with its latest version. A plan that was never published has only a draft.",
      params: Type.Object(environmentParams),
      query: archivableQuery,
      answer: pageOf(PlanSummary),
      handle: async (call) => {
        const { archived } = call.query;
        const states = (await listPlanStates(cellOf, call)).filter(({ plan }) =>
          isWanted(archived, plan?.archivedAt ?? null),
        );
        const { items, nextCursor } = pageByKey(states, call.query);
        return { items: (await withLatest(cellOf, call, items)).map(summarizePlan), nextCursor };
      },
    }),
    operation({
      method: "GET",
      path: PLAN_PATH,
      access: { role: "viewer", in: "environment" },
      id: "readPlan",
      noun: NOUN,
      summary: "Read a plan",
      description:
        "Includes the plan's versions with pinned costs, and the draft of the next version. When you edit the draft, or publish or archive " +
        "the plan, send the `ETag` header of this response as `If-Match`.",
      params: planParams,
      query: strictObject({
        before: Type.Optional(
          Type.String({
            pattern: "^[1-9][0-9]{0,8}$",
            description: "Only versions with a lower number.",
            examples: ["31"],
          }),
        ),
      }),
      answer: Plan,
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const before = call.query.before === undefined ? null : Number(call.query.before);
        const { key } = call.params;
        const state = await single(cellOf(scopeOf(call)), (tx) =>
          readPlanState(tx, environmentId, key, before),
        );
        return answerPlan(call, state);
      },
    }),
    operation({
      method: "POST",
      path: `${PLAN_PATH}/archive`,
      access: { role: "admin", in: "environment" },
      id: "archivePlan",
      noun: NOUN,
      summary: "Archive or unarchive a plan",
      description:
        "An archived plan cannot be assigned to more customers. Customers who have the plan keep it and can renew it. The default plan " +
        "cannot be archived.",
      params: planParams,
      headers: preconditionHeaders,
      body: archiveInput,
      answer: Plan,
      codes: ["in_use", "changed_meanwhile"],
      handle: async (call) => {
        const { key } = call.params;
        const outcome = await archivePlan(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key, archived: call.body?.archived ?? true },
          readPreconditions(call.request),
        );
        switch (outcome.kind) {
          case "archived":
            return answerPlan(call, outcome.state);
          case "plan_not_found":
            throw missing("plan");
          case "still_default":
            throw stillDefault(key);
          case "changed_meanwhile":
          case "precondition_required":
            throw preconditionProblem(outcome);
          default:
            return assertNever(outcome);
        }
      },
    }),
    operation({
      method: "PUT",
      path: `${ENVIRONMENT_PATH}/default-plan`,
      access: { role: "admin", in: "environment" },
      id: "putDefaultPlan",
      noun: NOUN,
      summary: "Set or remove the default plan",
      description:
        "The default plan applies to customers without an assigned plan. Customers on the old default plan move to the new default " +
        "plan immediately.",
      params: Type.Object(environmentParams),
      body: strictObject({ plan: nullable(Type.String({ ...keyField, examples: ["free"] })) }),
      answer: Type.Object({ plan: nullable(Type.String({ examples: ["free"] })) }),
      codes: ["unknown_key"],
      handle: async (call) => {
        const { plan } = call.body;
        const cell = cellOf(scopeOf(call));
        const outcome = await setDefaultPlan(cell, contextOf(call), { plan });
        if (outcome.kind === "plan_not_found")
          throw await unassignablePlan(cell, scopeOf(call).environmentId, plan ?? "");
        return { plan };
      },
    }),
  ];
}

function listPlanStates(cellOf: ManageParts["cellOf"], call: Call): Promise<PlanState[]> {
  const { environmentId } = scopeOf(call);
  return single(cellOf(scopeOf(call)), async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const drafts = new Map((await listPlanDrafts(tx, environmentId)).map((draft) => [draft.key, draft]));
    const keys = new Set([...catalog.plans.values().map(({ key }) => key), ...drafts.keys()]);
    return sortByKey([...keys].map((key) => toPlanState(catalog, key, drafts.get(key) ?? null)));
  });
}

/** Loads the latest version of each plan. */
function withLatest(
  cellOf: ManageParts["cellOf"],
  call: Call,
  states: readonly PlanState[],
): Promise<PlanState[]> {
  const { environmentId } = scopeOf(call);
  const [first] = states;
  if (first === undefined) return Promise.resolve([]);
  const latest = states.flatMap(({ plan }) => plan?.versions.at(-1) ?? []);
  return single(cellOf(scopeOf(call)), async (tx) => {
    const catalog = await withTerms(tx, environmentId, first.catalog, latest);
    return states.map(({ key, draft }) => toPlanState(catalog, key, draft));
  });
}

export function answerPlan({ reply }: Call, state: FullPlanState): Plan {
  const plan = describePlan(state);
  if (plan === null) throw missing("plan");
  reply.header("etag", etagOfPlan(state));
  return plan;
}

type ArchivePlanOutcome =
  | { kind: "archived"; state: FullPlanState }
  | { kind: "plan_not_found" | "still_default" }
  | PreconditionFailure;

/** Archives or unarchives a plan. An archived plan cannot be assigned. Customers who have the plan keep it. */
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
    // If archived, the default plan would still apply to customers without an assigned plan.
    if (archived && catalog.defaultPlan.plan === state.plan.id)
      return { outcome: { kind: "still_default" }, audits: [] };
    const before = await readPlanContent(tx, environmentId, catalog, state.plan);
    const writing = beginWriting(tx, environmentId, catalog, at);
    const audits = await writePlan(writing, before, { ...before, archived }, "new_assignments");
    return { outcome: { kind: "archived", state: await readPlanState(tx, environmentId, key) }, audits };
  });
}

type DefaultPlanOutcome = { kind: "set" | "unchanged" | "plan_not_found" };

/**
 * Sets the default plan, which applies to customers without an assigned plan. Customers on the old default plan move to the new
 * default plan.
 */
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
