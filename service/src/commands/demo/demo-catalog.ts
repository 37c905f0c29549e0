import type { Catalog } from "../../entitlement/catalog.ts";
import type { Context } from "../../manage/context.ts";
import type { FeatureInput } from "../../manage/features/define-feature.ts";
import type { PlanInput } from "../../manage/plans/publish-plan.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type FeatureKey, type Instant, type PlanId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { insertAudits } from "../../store/cell/audit.ts";
import {
  insertAllowances,
  insertPlanFeatures,
  insertPlanVersion,
  upsertFeature,
  upsertPlan,
  upsertPool,
} from "../../store/cell/catalog-definitions.ts";
import { ensureCatalog, setDefaultPlan } from "../../store/cell/catalog-row.ts";
import { loadCatalog, withTerms } from "../../store/cell/catalogs.ts";

const POOL = { key: "credits", name: "Credits", lowBalances: [] };

/** Features with a low price, a high price and two prices per thousand, and a free feature with a limit. */
const FEATURES: readonly FeatureInput[] = [
  {
    key: "image.generate",
    name: "Image generation",
    unit: "image",
    pool: POOL.key,
    cost: { credits: 10, per: 1 },
  },
  {
    key: "video.render",
    name: "Video rendering",
    unit: "clip",
    pool: POOL.key,
    cost: { credits: 50, per: 1 },
  },
  {
    key: "text.generate",
    name: "Text generation",
    unit: "token",
    pool: POOL.key,
    cost: { credits: 3, per: 1000 },
  },
  {
    key: "chat.reply",
    name: "AI chat",
    unit: "token",
    pool: POOL.key,
    cost: { credits: 5, per: 1000 },
  },
  { key: "hd.export", name: "HD export", unit: "export", pool: POOL.key, cost: { credits: 0, per: 1 } },
];

const unlimited = (feature: string) => ({ feature, limit: null });
const daily = (feature: string, quantity: number) => ({
  feature,
  limit: { quantity, period: "day" } as const,
});
const monthly = (credits: number, rollover = 0) => [
  { pool: POOL.key, credits, period: "month", rollover, overage: 0 } as const,
];

const PLANS: readonly PlanInput[] = [
  {
    key: "free",
    name: "Free",
    reach: "new_assignments",
    allowances: monthly(200),
    features: [unlimited("image.generate"), unlimited("text.generate"), daily("hd.export", 3)],
  },
  {
    key: "pro",
    name: "Pro",
    reach: "new_assignments",
    allowances: monthly(1_000),
    features: [
      ...["image.generate", "video.render", "text.generate", "chat.reply"].map(unlimited),
      daily("hd.export", 20),
    ],
  },
  {
    key: "scale",
    name: "Scale",
    reach: "new_assignments",
    allowances: monthly(5_000, 1),
    features: ["image.generate", "video.render", "text.generate", "chat.reply", "hd.export"].map(unlimited),
  },
];

const DEFAULT_PLAN = "free";

// The dates of published versions cannot be changed afterward, so the catalog is inserted with past dates.
const BACKDATE = statement(
  "demo.backdate_catalog",
  `
  update cell.catalogs
  set
    version = 1,
    changed_at = $2,
    default_plan_since = $2
  where environment_id = $1`,
);

/** Inserts the demo catalog as if published at `at`, before the customers' histories. Null if the environment has a catalog. */
export async function sellDemoCatalog(tx: Tx, context: Context, at: Instant): Promise<Catalog | null> {
  const { environmentId, actor } = context;
  if (!(await ensureCatalog(tx, context))) return null;
  await tx.run(BACKDATE, [environmentId, formatTimestamp(at)]);
  const audit = (action: string, subject: string, after: object): Promise<unknown> =>
    insertAudits(tx, [
      {
        environmentId,
        recordedAt: at,
        actor,
        customerNumber: null,
        action,
        subject,
        before: null,
        after,
      },
    ]);
  const pool = await upsertPool(tx, environmentId, POOL);
  for (const feature of FEATURES) {
    await upsertFeature(tx, environmentId, { ...feature, key: brandAs<FeatureKey>(feature.key), pool });
    await audit("feature.defined", feature.key, feature);
  }
  const { features } = await loadCatalog(tx, environmentId);
  for (const input of PLANS) {
    const plan = await upsertPlan(tx, environmentId, input);
    const { reach } = input;
    const version = await insertPlanVersion(tx, environmentId, { plan, number: 1, publishedAt: at, reach });
    const allowances = input.allowances.map((allowance) => ({ ...allowance, pool }));
    await insertAllowances(tx, environmentId, version, allowances);
    const terms = input.features.map(({ feature: key, limit }) => {
      const feature = features.get(brandAs<FeatureKey>(key));
      assert(feature !== undefined, "demo plans include demo features");
      return { feature: feature.id, pool, cost: feature.cost, limit };
    });
    await insertPlanFeatures(tx, environmentId, version, terms);
    await audit("plan.published", input.key, { ...input, number: 1 });
  }
  await setDefaultPlan(tx, environmentId, planIdOf(await loadCatalog(tx, environmentId), DEFAULT_PLAN));
  await audit("default_plan.set", DEFAULT_PLAN, { plan: DEFAULT_PLAN });
  const catalog = await loadCatalog(tx, environmentId);
  return withTerms(tx, environmentId, catalog, [...catalog.versions.values()]);
}

export function planIdOf({ plans }: Catalog, key: string): PlanId {
  const plan = [...plans.values()].find((other) => other.key === key);
  assert(plan !== undefined, "the demo plan exists");
  return plan.id;
}
