import type { Catalog, VersionReach } from "../../entitlement/catalog.ts";
import type { Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type EnvironmentId,
  type EventKey,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PoolId,
} from "../../primitives/brand.ts";
import {
  archiveFeature,
  archivePlan,
  insertAllowances,
  insertPlanFeatures,
  insertPlanVersion,
  upsertFeature,
  upsertPlan,
  upsertPool,
} from "../../store/cell/catalog-definitions.ts";
import { setDefaultPlan } from "../../store/cell/catalog-row.ts";
import { upsertEventKey } from "../../store/cell/event-keys.ts";
import type { EnvironmentAudit } from "../record-audits.ts";
import { refuseEarlyNotices, refuseEarlyOverage } from "../refuse-unfinished-upgrade.ts";
import { planBytes } from "./bounds.ts";
import {
  type EventKeyContent,
  type FeatureContent,
  isSame,
  type PlanContent,
  type PoolContent,
} from "./content.ts";

/** A catalog edit in progress. New items are added to the maps, so that later items can refer to them. */
export type Writing = {
  readonly tx: Tx;
  readonly environmentId: EnvironmentId;
  readonly at: Instant;
  readonly pools: Map<string, PoolId>;
  readonly features: Map<string, FeatureId>;
  readonly plans: Map<string, { readonly id: PlanId; readonly lastNumber: number }>;
};

export function beginWriting(tx: Tx, environmentId: EnvironmentId, catalog: Catalog, at: Instant): Writing {
  return {
    tx,
    environmentId,
    at,
    pools: new Map([...catalog.pools.values()].map(({ key, id }) => [key, id])),
    features: new Map([...catalog.features.values()].map(({ key, id }) => [key, id])),
    plans: new Map(
      [...catalog.plans.values()].map(({ key, id, versions }) => [
        key,
        { id, lastNumber: versions.at(-1)?.number ?? 0 },
      ]),
    ),
  };
}

/** Writes the difference between `before` and `after`. Returns the audit entries, or none if nothing differs. */
type Write<T> = (writing: Writing, before: T | null, after: T) => Promise<EnvironmentAudit[]>;

export const writePool: Write<PoolContent> = async (writing, before, after) => {
  if (isSame(before, after)) return [];
  if (after.lowBalances.length > 0) await refuseEarlyNotices(writing.tx, "Low balances");
  writing.pools.set(after.key, await upsertPool(writing.tx, writing.environmentId, after));
  return [{ action: "pool.defined", subject: after.key, before, after }];
};

export const writeFeature: Write<FeatureContent> = async (writing, before, after) => {
  const { tx, environmentId, at } = writing;
  const audits: EnvironmentAudit[] = [];
  const wasArchived = before?.archived ?? false;
  if (before === null || !isSame(before, { ...after, archived: wasArchived })) {
    const { name, unit, cost } = after;
    const key = brandAs<FeatureKey>(after.key);
    const id = await upsertFeature(tx, environmentId, {
      key,
      name,
      unit,
      cost,
      pool: poolId(writing, after.pool),
    });
    writing.features.set(key, id);
    audits.push({ action: "feature.defined", subject: key, before, after });
  }
  if (wasArchived === after.archived) return audits;
  const id = featureId(writing, after.key);
  await archiveFeature(tx, { environmentId, id }, after.archived ? at : null);
  return [...audits, auditArchiving("feature", after)];
};

export const writeEventKey: Write<EventKeyContent> = async ({ tx, environmentId }, before, after) => {
  if (isSame(before, after)) return [];
  await upsertEventKey(tx, environmentId, { ...after, key: brandAs<EventKey>(after.key) });
  return [{ action: "event_key.named", subject: after.key, before, after }];
};

/** Writes a plan. Publishes a new version only if the terms changed, not if the plan was only renamed or archived. */
export async function writePlan(
  writing: Writing,
  before: PlanContent | null,
  after: PlanContent,
  reach: VersionReach,
): Promise<EnvironmentAudit[]> {
  const { tx, environmentId, at } = writing;
  const audits: EnvironmentAudit[] = [];
  const wasArchived = before?.archived ?? false;
  if (before === null || !isSame(termsOf(before), termsOf(after))) {
    audits.push(await publishVersion(writing, before, after, reach));
  } else if (before.name !== after.name) {
    await upsertPlan(tx, environmentId, after);
    const [was, is] = [{ name: before.name }, { name: after.name }];
    audits.push({ action: "plan.renamed", subject: after.key, before: was, after: is });
  }
  if (wasArchived === after.archived) return audits;
  const plan = writing.plans.get(after.key);
  assert(plan !== undefined, "an archived plan exists");
  await archivePlan(tx, { environmentId, id: plan.id }, after.archived ? at : null);
  return [...audits, auditArchiving("plan", after)];
}

/** Publishes a version even if the terms are unchanged, because the reach may differ. */
export async function publishVersion(
  writing: Writing,
  before: PlanContent | null,
  after: PlanContent,
  reach: VersionReach,
): Promise<EnvironmentAudit> {
  const { tx, environmentId, at: publishedAt } = writing;
  await refuseEarlyOverage(tx, after.allowances);
  const plan = await upsertPlan(tx, environmentId, after, planBytes(after));
  const number = (writing.plans.get(after.key)?.lastNumber ?? 0) + 1;
  writing.plans.set(after.key, { id: plan, lastNumber: number });
  const version = await insertPlanVersion(tx, environmentId, { plan, number, publishedAt, reach });
  const allowances = after.allowances.map((allowance) => ({
    ...allowance,
    pool: poolId(writing, allowance.pool),
  }));
  await insertAllowances(tx, environmentId, version, allowances);
  const features = after.features.map((feature) => ({
    ...feature,
    feature: featureId(writing, feature.feature),
    pool: poolId(writing, feature.pool),
  }));
  await insertPlanFeatures(tx, environmentId, version, features);
  return { action: "plan.published", subject: after.key, before, after: { ...after, number, reach } };
}

/** Sets the default plan. Both values are plan keys, or null for no default plan. */
export async function writeDefaultPlan(
  writing: Writing,
  before: string | null,
  after: string | null,
): Promise<EnvironmentAudit[]> {
  if (before === after) return [];
  const plan = after === null ? null : writing.plans.get(after);
  assert(plan !== undefined, "a default plan exists");
  await setDefaultPlan(writing.tx, writing.environmentId, plan?.id ?? null);
  const [was, is] = [{ plan: before }, { plan: after }];
  return [{ action: "default_plan.set", subject: after ?? "none", before: was, after: is }];
}

function auditArchiving(
  noun: "feature" | "plan",
  { key, archived }: { key: string; archived: boolean },
): EnvironmentAudit {
  return {
    action: `${noun}.${archived ? "archived" : "unarchived"}`,
    subject: key,
    before: { archived: !archived },
    after: { archived },
  };
}

function termsOf({ allowances, features }: PlanContent): Pick<PlanContent, "allowances" | "features"> {
  return { allowances, features };
}

function poolId({ pools }: Writing, key: string): PoolId {
  const id = pools.get(key);
  assert(id !== undefined, "a referenced pool exists");
  return id;
}

export function featureId({ features }: Writing, key: string): FeatureId {
  const id = features.get(key);
  assert(id !== undefined, "a referenced feature exists");
  return id;
}
