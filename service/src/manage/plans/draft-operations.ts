import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { assertNever } from "../../primitives/assert.ts";
import { PLAN_BODY_BYTES_MAX } from "../catalog/bounds.ts";
import { planContent } from "../catalog/content.ts";
import {
  type PreconditionFailure,
  preconditionHeaders,
  preconditionProblem,
  readPreconditions,
} from "../catalog/preconditions.ts";
import { missing, unknownKey } from "../catalog/problems.ts";
import { expectedVersionField, planTermsInput, Reach } from "../catalog/schema.ts";
import { strictObject } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { Plan } from "./describe-plan.ts";
import { countCustomersOn, diffTerms, PlanDiff } from "./diff-plan.ts";
import { answerPlan, PLAN_PATH, planParams } from "./operations.ts";
import { readPlanState } from "./plan-state.ts";
import { publishDraft } from "./publish-plan.ts";
import { discardDraft, putDraft } from "./put-draft.ts";
import { type MissingTerm, pinTerms, readTerms } from "./terms.ts";

const NOUN = "Plans";

/** Drafts, compares and publishes plan versions. */
export function planDraftOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "PUT",
      path: `${PLAN_PATH}/draft`,
      access: { role: "admin", in: "environment" },
      id: "putPlanDraft",
      noun: NOUN,
      summary: "Save the draft of a plan's next version",
      description:
        "Creates the plan if it does not exist. A draft does not apply to any customer until it is published. To replace a draft, send " +
        "the plan's `ETag` as `If-Match`. To create a draft, you can omit the header.",
      params: planParams,
      headers: preconditionHeaders,
      body: planTermsInput,
      bodyBytesMax: PLAN_BODY_BYTES_MAX,
      answer: Plan,
      codes: ["unknown_key", "changed_meanwhile", "precondition_required"],
      handle: async (call) => {
        const outcome = await putDraft(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key: call.params.key, ...readTerms(call.body) },
          readPreconditions(call.request),
        );
        if (outcome.kind === "drafted") return answerPlan(call, outcome.state);
        throw refusal(outcome);
      },
    }),
    operation({
      method: "DELETE",
      path: `${PLAN_PATH}/draft`,
      access: { role: "admin", in: "environment" },
      id: "discardPlanDraft",
      noun: NOUN,
      summary: "Discard the draft of a plan",
      description: "If the plan was never published, this also deletes the plan.",
      params: planParams,
      headers: preconditionHeaders,
      answer: Type.Object({ outcome: Type.Enum(["discarded"]) }),
      codes: ["changed_meanwhile"],
      handle: async (call) => {
        const outcome = await discardDraft(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key: call.params.key },
          readPreconditions(call.request),
        );
        switch (outcome.kind) {
          case "discarded":
            return { outcome: outcome.kind };
          case "draft_not_found":
            throw noDraft();
          default:
            throw refusal({ kind: outcome.kind });
        }
      },
    }),
    operation({
      method: "GET",
      path: `${PLAN_PATH}/diff`,
      access: { role: "viewer", in: "environment" },
      id: "diffPlan",
      noun: NOUN,
      summary: "Compare a plan's draft with its latest version",
      description:
        "Returns the changes that publishing would make, including costs, and the number of customers who have the plan. If the count " +
        "stops after 100,000 customers or about 2 seconds, `isExact` is false.",
      params: planParams,
      answer: PlanDiff,
      codes: ["unknown_key"],
      handle: (call) => diffPlan(cellOf, call),
    }),
    operation({
      method: "POST",
      path: `${PLAN_PATH}/publish`,
      access: { role: "admin", in: "environment" },
      id: "publishPlan",
      noun: NOUN,
      summary: "Publish the draft of a plan",
      description:
        "Creates a version that pins the current cost of each feature, and deletes the draft. A published version never changes.",
      params: planParams,
      headers: preconditionHeaders,
      body: strictObject({ reach: Reach, expectedVersion: Type.Optional(expectedVersionField) }),
      answer: Plan,
      codes: ["unknown_key", "changed_meanwhile", "catalog_too_large"],
      handle: async (call) => {
        const { reach, expectedVersion = null } = call.body;
        const outcome = await publishDraft(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key: call.params.key, reach, expectedVersion },
          readPreconditions(call.request),
        );
        if (outcome.kind === "published") return answerPlan(call, outcome.state);
        throw outcome.kind === "draft_not_found" ? noDraft() : refusal(outcome);
      },
    }),
  ];
}

type PlanCall = Parameters<typeof answerPlan>[0] & { readonly params: { readonly key: string } };

async function diffPlan(cellOf: ManageParts["cellOf"], call: PlanCall): Promise<PlanDiff> {
  const scope = scopeOf(call);
  const { environmentId } = scope;
  const { key } = call.params;
  const cell = cellOf(scope);
  const { catalog, plan, draft } = await single(cell, (tx) => readPlanState(tx, environmentId, key));
  if (plan === null && draft === null) throw missing("plan");
  if (draft === null) throw noDraft();
  const pinned = pinTerms(catalog, key, draft);
  if (pinned.kind !== "pinned") throw refusal(pinned);
  const before = plan === null ? null : planContent(catalog, plan);
  const { name: after } = draft;
  return {
    catalogVersion: catalog.version,
    latest: plan?.versions.at(-1)?.number ?? null,
    name: before?.name === after ? null : { before: before?.name ?? null, after },
    ...diffTerms(before, pinned.content),
    customersOnPlan:
      plan === null
        ? { count: 0, isExact: true }
        : await countCustomersOn(cell, { environmentId, plan: plan.id }),
  };
}

function noDraft(): Problem {
  return new Problem("not_found", { detail: "There is no draft of this plan in this environment." });
}

function refusal(outcome: MissingTerm | PreconditionFailure): Problem {
  switch (outcome.kind) {
    case "pool_not_found":
      return unknownKey({ noun: "pool", key: outcome.key });
    case "feature_not_found":
      return unknownKey({ noun: "feature", key: outcome.key });
    case "changed_meanwhile":
    case "precondition_required":
      return preconditionProblem({ kind: outcome.kind });
    default:
      return assertNever(outcome);
  }
}
