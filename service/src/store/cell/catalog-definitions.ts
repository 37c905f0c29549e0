import type { Allowance, Cost, PlanFeature, Pool, VersionReach } from "../../entitlement/catalog.ts";
import { bigints, integers, smallints, texts } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type EnvironmentId,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

const UPSERT_POOL = statement(
  "pools.upsert",
  `
  insert into cell.pools (environment_id, key, name, low_balances)
  values ($1, $2, $3, $4)
  on conflict on constraint pools_key_key do update
  set
    name = excluded.name,
    low_balances = excluded.low_balances
  returning id`,
);

/** Creates or edits a pool. */
export async function upsertPool(
  tx: Tx,
  environmentId: EnvironmentId,
  pool: Pick<Pool, "key" | "name" | "lowBalances">,
): Promise<PoolId> {
  const { key, name, lowBalances } = pool;
  const { rows } = await tx.run(UPSERT_POOL, [environmentId, key, name, bigints(lowBalances)]);
  return brandAs<PoolId>(readInteger(rows[0]?.[0]));
}

export type FeatureDefinition = {
  readonly key: FeatureKey;
  readonly name: string;
  readonly unit: string | null;
  readonly pool: PoolId;
  readonly cost: Cost;
};

const UPSERT_FEATURE = statement(
  "features.upsert",
  `
  insert into cell.features (environment_id, key, name, unit, pool_id, cost_credits, cost_per)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict on constraint features_key_key do update
  set
    name = excluded.name,
    unit = excluded.unit,
    pool_id = excluded.pool_id,
    cost_credits = excluded.cost_credits,
    cost_per = excluded.cost_per
  returning id`,
);

/** Creates or edits a feature. Published plan versions keep their pinned costs. */
export async function upsertFeature(
  tx: Tx,
  environmentId: EnvironmentId,
  feature: FeatureDefinition,
): Promise<FeatureId> {
  const { key, name, unit, pool, cost } = feature;
  const { rows } = await tx.run(UPSERT_FEATURE, [
    environmentId,
    key,
    name,
    unit,
    pool,
    cost.credits,
    cost.per,
  ]);
  return brandAs<FeatureId>(readInteger(rows[0]?.[0]));
}

const ARCHIVE_FEATURE = statement(
  "features.archive",
  `
  update cell.features
  set archived_at = $3
  where environment_id = $1
    and id = $2`,
);

/** Archives a feature. If `archivedAt` is null, restores it. */
export function archiveFeature(
  tx: Tx,
  { environmentId, id }: { readonly environmentId: EnvironmentId; readonly id: FeatureId },
  archivedAt: Instant | null,
): Promise<Rows> {
  return tx.run(ARCHIVE_FEATURE, [
    environmentId,
    id,
    archivedAt === null ? null : formatTimestamp(archivedAt),
  ]);
}

const UPSERT_PLAN = statement(
  "plans.upsert",
  `
  insert into cell.plans as p (environment_id, key, name, document_bytes)
  values ($1, $2, $3, coalesce($4::integer, 0))
  on conflict on constraint plans_key_key do update
  set
    name = excluded.name,
    document_bytes = coalesce($4::integer, p.document_bytes)
  returning id`,
);

/** Creates or renames a plan. `documentBytes` is the exported size of its latest version. Null keeps the stored size. */
export async function upsertPlan(
  tx: Tx,
  environmentId: EnvironmentId,
  plan: { readonly key: string; readonly name: string },
  documentBytes: number | null = null,
): Promise<PlanId> {
  const { rows } = await tx.run(UPSERT_PLAN, [environmentId, plan.key, plan.name, documentBytes]);
  return brandAs<PlanId>(readInteger(rows[0]?.[0]));
}

const ARCHIVE_PLAN = statement(
  "plans.archive",
  `
  update cell.plans
  set archived_at = $3
  where environment_id = $1
    and id = $2`,
);

/** Archives a plan. If `archivedAt` is null, restores it. */
export function archivePlan(
  tx: Tx,
  { environmentId, id }: { readonly environmentId: EnvironmentId; readonly id: PlanId },
  archivedAt: Instant | null,
): Promise<Rows> {
  return tx.run(ARCHIVE_PLAN, [environmentId, id, archivedAt === null ? null : formatTimestamp(archivedAt)]);
}

const INSERT_VERSION = statement(
  "plan_versions.insert",
  `
  insert into cell.plan_versions (environment_id, plan_id, number, published_at, reach)
  values ($1, $2, $3, $4, $5)
  returning id`,
);

export type NewPlanVersion = {
  readonly plan: PlanId;
  readonly number: number;
  readonly publishedAt: Instant;
  readonly reach: VersionReach;
};

export async function insertPlanVersion(
  tx: Tx,
  environmentId: EnvironmentId,
  version: NewPlanVersion,
): Promise<PlanVersionId> {
  const { plan, number, publishedAt, reach } = version;
  const parameters = [environmentId, plan, number, formatTimestamp(publishedAt), reach];
  const { rows } = await tx.run(INSERT_VERSION, parameters);
  return brandAs<PlanVersionId>(readInteger(rows[0]?.[0]));
}

const INSERT_ALLOWANCES = statement(
  "plan_allowances.insert",
  `
  insert into cell.plan_allowances (environment_id, plan_version_id, pool_id, credits, period, rollover, overage)
  select $1, $2, a.pool_id, a.credits, a.period, a.rollover, a.overage
  from unnest($3::integer[], $4::bigint[], $5::text[], $6::smallint[], $7::bigint[])
    as a (pool_id, credits, period, rollover, overage)`,
);

export function insertAllowances(
  tx: Tx,
  environmentId: EnvironmentId,
  version: PlanVersionId,
  allowances: readonly Allowance[],
): Promise<Rows> {
  return tx.run(INSERT_ALLOWANCES, [
    environmentId,
    version,
    integers(allowances.map(({ pool }) => pool)),
    bigints(allowances.map(({ credits }) => credits)),
    texts(allowances.map(({ period }) => period)),
    smallints(allowances.map(({ rollover }) => rollover)),
    bigints(allowances.map(({ overage }) => overage)),
  ]);
}

const INSERT_FEATURES = statement(
  "plan_features.insert",
  `
  insert into cell.plan_features
    (environment_id, plan_version_id, feature_id, pool_id, cost_credits, cost_per, limit_quantity, limit_period)
  select $1, $2, f.feature_id, f.pool_id, f.cost_credits, f.cost_per, f.limit_quantity, f.limit_period
  from unnest($3::integer[], $4::integer[], $5::bigint[], $6::integer[], $7::bigint[], $8::text[])
    as f (feature_id, pool_id, cost_credits, cost_per, limit_quantity, limit_period)`,
);

export function insertPlanFeatures(
  tx: Tx,
  environmentId: EnvironmentId,
  version: PlanVersionId,
  features: readonly PlanFeature[],
): Promise<Rows> {
  return tx.run(INSERT_FEATURES, [
    environmentId,
    version,
    integers(features.map(({ feature }) => feature)),
    integers(features.map(({ pool }) => pool)),
    bigints(features.map(({ cost }) => cost.credits)),
    integers(features.map(({ cost }) => cost.per)),
    bigints(features.map(({ limit }) => limit?.quantity ?? null)),
    texts(features.map(({ limit }) => limit?.period ?? null)),
  ]);
}
