import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, PlanId } from "../../primitives/brand.ts";
import { countPlanCustomers } from "../../store/cell/assignments.ts";
import { isSame, type PlanContent } from "../catalog/content.ts";
import { Allowance, Cost, Limit } from "../catalog/schema.ts";
import { nullable } from "../fields.ts";
import { PinnedFeature } from "./describe-plan.ts";

const Pinned = Type.Object({ pool: Type.String({ examples: ["credits"] }), cost: Cost });
const feature = Type.String({ examples: ["image.generate"] });

export const PlanDiff = Type.Object({
  catalogVersion: Type.Integer({
    description: "Send this value as `expectedVersion` when you publish, to pin the costs shown here.",
    examples: [17],
  }),
  latest: nullable(
    Type.Integer({
      description: "The version compared with the draft. Null if the plan was never published.",
      examples: [3],
    }),
  ),
  name: nullable(
    Type.Object(
      {
        before: nullable(Type.String({ examples: ["Pro"] })),
        after: Type.String({ examples: ["Professional"] }),
      },
      { description: "Null if unchanged." },
    ),
  ),
  allowances: Type.Object({
    added: Type.Array(Allowance),
    removed: Type.Array(Allowance),
    changed: Type.Array(
      Type.Object({ pool: Type.String({ examples: ["credits"] }), before: Allowance, after: Allowance }),
    ),
  }),
  features: Type.Object({ added: Type.Array(PinnedFeature), removed: Type.Array(PinnedFeature) }),
  limits: Type.Array(Type.Object({ feature, before: Limit, after: Limit }), {
    description: "Changed limits of features that are in the draft and in the latest version.",
  }),
  costs: Type.Array(Type.Object({ feature, before: Pinned, after: Pinned }), {
    description:
      "Features in the draft whose current cost or pool differs from the latest version. Publishing pins the current " +
      "cost and pool.",
  }),
  customersOnPlan: Type.Object(
    { count: Type.Integer({ examples: [132] }), isExact: Type.Boolean() },
    {
      description:
        "Number of customers who have the plan now, assigned or by default. If `isExact` is false, more customers may have the plan.",
    },
  ),
});

export type PlanDiff = Static<typeof PlanDiff>;

type Terms = Pick<PlanContent, "allowances" | "features">;

const NOTHING: Terms = { allowances: [], features: [] };

/** Lists the changes for customers who get the new version. */
export function diffTerms(
  before: Terms | null,
  after: Terms,
): Pick<PlanDiff, "allowances" | "features" | "limits" | "costs"> {
  const old = before ?? NOTHING;
  const oldAllowances = new Map(old.allowances.map((allowance) => [allowance.pool, allowance]));
  const pools = new Set(after.allowances.map(({ pool }) => pool));
  const oldFeatures = new Map(old.features.map((terms) => [terms.feature, terms]));
  const features = new Set(after.features.map((terms) => terms.feature));
  const stayed = after.features.flatMap((terms) => {
    const was = oldFeatures.get(terms.feature);
    return was === undefined ? [] : [{ feature: terms.feature, was, is: terms }];
  });
  return {
    allowances: {
      added: after.allowances.filter(({ pool }) => !oldAllowances.has(pool)),
      removed: old.allowances.filter(({ pool }) => !pools.has(pool)),
      changed: after.allowances.flatMap((allowance) => {
        const was = oldAllowances.get(allowance.pool);
        const isKept = was === undefined || isSame(was, allowance);
        return isKept ? [] : [{ pool: allowance.pool, before: was, after: allowance }];
      }),
    },
    features: {
      added: after.features.filter((terms) => !oldFeatures.has(terms.feature)),
      removed: old.features.filter((terms) => !features.has(terms.feature)),
    },
    limits: stayed
      .filter(({ was, is }) => !isSame(was.limit, is.limit))
      .map(({ feature, was, is }) => ({ feature, before: was.limit, after: is.limit })),
    costs: stayed
      .map(({ feature, was, is }) => ({ feature, before: pinnedOf(was), after: pinnedOf(is) }))
      .filter((changed) => !isSame(changed.before, changed.after)),
  };
}

function pinnedOf({ pool, cost }: PlanContent["features"][number]) {
  return { pool, cost };
}

const CUSTOMERS_MAX = 100_000;
const CUSTOMERS_AT_ONCE = 10_000;
const COUNT_MS_MAX = 2_000;

/**
 * Counts the customers on a plan. A customer's plan depends on the wallet and the time, so it cannot be indexed. Scans customers in
 * short statements, up to a limit.
 */
export async function countCustomersOn(
  cell: Pool,
  where: { readonly environmentId: EnvironmentId; readonly plan: PlanId },
): Promise<PlanDiff["customersOnPlan"]> {
  const giveUpAtMs = performance.now() + COUNT_MS_MAX;
  const limit = CUSTOMERS_AT_ONCE;
  let count = 0;
  let after = 0;
  for (let seen = 0; seen < CUSTOMERS_MAX && performance.now() < giveUpAtMs; seen += limit) {
    const found = await single(cell, (tx) => countPlanCustomers(tx, where, { after, limit }));
    count += found.onPlan;
    if (found.scanned < limit || found.last === null) return { count, isExact: true };
    after = found.last;
  }
  return { count, isExact: false };
}
