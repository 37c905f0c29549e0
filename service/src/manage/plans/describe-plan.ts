import { type Static, Type } from "typebox";
import type { PlanVersion as CatalogVersion } from "../../entitlement/catalog.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { PlanDraft } from "../../store/cell/plan-drafts.ts";
import { versionContent } from "../catalog/content.ts";
import { etagOf } from "../catalog/preconditions.ts";
import { Allowance, Cost, Limit, Reach } from "../catalog/schema.ts";
import { nullable, timeField, timeOrNull } from "../fields.ts";
import type { FullPlanState, PlanState } from "./plan-state.ts";

export const PinnedFeature = Type.Object({
  feature: Type.String({ examples: ["image.generate"] }),
  pool: Type.String({
    description: "The pool key, pinned when the version was published.",
    examples: ["credits"],
  }),
  cost: Cost,
  limit: Limit,
});

export const PlanVersion = Type.Object({
  number: Type.Integer({ examples: [3] }),
  publishedAt: timeField,
  reach: Reach,
  allowances: Type.Array(Allowance),
  features: Type.Array(PinnedFeature),
});

export const Draft = Type.Object(
  {
    name: Type.String({ examples: ["Pro"] }),
    allowances: Type.Array(Allowance),
    features: Type.Array(
      Type.Object({ feature: Type.String({ examples: ["image.generate"] }), limit: Limit }),
    ),
    changedAt: timeField,
  },
  { description: "The unpublished next version of the plan." },
);

const base = {
  key: Type.String({ examples: ["pro"] }),
  name: Type.String({ examples: ["Pro"] }),
  archivedAt: nullable(timeField),
  isDefault: Type.Boolean({
    description: "True if this plan applies to customers without an assigned plan.",
  }),
};

export const Plan = Type.Object({
  ...base,
  versions: Type.Array(PlanVersion, {
    description: "Published versions, newest first, at most 10. Empty if the plan was never published.",
  }),
  nextBefore: nullable(
    Type.Integer({
      description: "Send this value as `before` to read older versions. Null if there are no older versions.",
      examples: [31],
    }),
  ),
  draft: nullable(Draft),
});

export const PlanSummary = Type.Object({
  ...base,
  latest: nullable(PlanVersion),
  hasDraft: Type.Boolean(),
});

export type Plan = Static<typeof Plan>;
export type PlanSummary = Static<typeof PlanSummary>;

/** Describes a plan. Null if the plan has neither a version nor a draft. */
export function describePlan(state: FullPlanState): Plan | null {
  const { plan, draft, shown, nextBefore } = state;
  if (plan === null && draft === null) return null;
  return {
    ...describeBase(state),
    versions: shown.map((version) => describeVersion(state, version)),
    nextBefore,
    draft: draft === null ? null : describeDraft(draft),
  };
}

function describeDraft(draft: PlanDraft): Static<typeof Draft> {
  return {
    name: draft.name,
    allowances: [...draft.allowances],
    features: [...draft.features],
    changedAt: formatTimestamp(draft.changedAt),
  };
}

export function summarizePlan(state: PlanState): PlanSummary {
  const latest = state.plan?.versions.at(-1);
  return {
    ...describeBase(state),
    latest: latest === undefined ? null : describeVersion(state, latest),
    hasDraft: state.draft !== null,
  };
}

function describeBase({ key, catalog, plan, draft }: PlanState): Pick<Plan, keyof typeof base> {
  const archivedAt = plan?.archivedAt ?? null;
  return {
    key,
    name: plan?.name ?? draft?.name ?? key,
    archivedAt: timeOrNull(archivedAt),
    isDefault: plan !== null && catalog.defaultPlan.plan === plan.id,
  };
}

/**
 * Returns the ETag of a plan. The ETag does not depend on `isDefault`, which is not part of the plan. Published versions never change,
 * so the latest version identifies all versions. Null if the plan does not exist.
 */
export function etagOfPlan(state: PlanState): string | null {
  const { plan, draft } = state;
  if (plan === null && draft === null) return null;
  const { key, name, archivedAt } = describeBase(state);
  const latest = plan?.versions.at(-1)?.identity ?? null;
  return etagOf({ key, name, archivedAt, latest, draft: draft && describeDraft(draft) });
}

function describeVersion({ catalog }: PlanState, version: CatalogVersion): Static<typeof PlanVersion> {
  const { number, publishedAt, reach } = version;
  const { allowances, features } = versionContent(catalog, version);
  return {
    number,
    publishedAt: formatTimestamp(publishedAt),
    reach,
    allowances: [...allowances],
    features: features.map(({ feature, pool, cost, limit }) => ({ feature, pool, cost, limit })),
  };
}
