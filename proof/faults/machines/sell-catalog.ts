import type { Context } from "../../../service/src/manage/context.ts";
import { defineFeature } from "../../../service/src/manage/features/define-feature.ts";
import { publishPlan } from "../../../service/src/manage/plans/publish-plan.ts";
import { setDefaultPlan } from "../../../service/src/manage/plans/set-default-plan.ts";
import { definePool } from "../../../service/src/manage/pools/define-pool.ts";
import type { Pool } from "../../../service/src/postgres/pool.ts";
import { DEFAULT_PLAN, FEATURES, PLANS, type PlanContent, POOL } from "../catalog.ts";

/** Defines and publishes what the run sells. */
export async function sellCatalog(cell: Pool, context: Context): Promise<void> {
  await definePool(cell, context, { key: POOL, name: "Credits" });
  for (const [key, cost] of Object.entries(FEATURES))
    expectKind(
      "defined",
      await defineFeature(cell, context, { key, name: key, unit: null, pool: POOL, cost }),
    );
  for (const [key, content] of Object.entries(PLANS)) {
    const { allowance, features }: PlanContent = content;
    const published = await publishPlan(cell, context, {
      key,
      name: key,
      reach: "new_assignments",
      allowances: [{ pool: POOL, ...allowance, rollover: 0 }],
      features: Object.entries(features).map(([feature, { limit }]) => ({
        feature,
        limit: limit === null ? null : { quantity: limit, period: "day" },
      })),
    });
    expectKind("published", published);
  }
  expectKind("set", await setDefaultPlan(cell, context, { plan: DEFAULT_PLAN }));
}

function expectKind(kind: string, outcome: { readonly kind: string }): void {
  if (outcome.kind !== kind) throw new Error(`the catalog could not be set up: ${JSON.stringify(outcome)}`);
}
