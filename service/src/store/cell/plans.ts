import type { Allowance, PlanFeature, VersionReach } from "../../entitlement/catalog.ts";
import { bigints, integers, smallints, texts } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type EnvironmentId,
  type Instant,
  type PlanId,
  type PlanVersionId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

const UPSERT = statement(
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

/** `documentBytes` is what its latest version takes as a part of a document; null: that stays. */
export async function upsertPlan(
  tx: Tx,
  environmentId: EnvironmentId,
  plan: { readonly key: string; readonly name: string },
  documentBytes: number | null = null,
): Promise<PlanId> {
  const { rows } = await tx.run(UPSERT, [environmentId, plan.key, plan.name, documentBytes]);
  return brandAs<PlanId>(readInteger(rows[0]?.[0]));
}

const ARCHIVE = statement(
  "plans.archive",
  `
  update cell.plans
  set archived_at = $3
  where environment_id = $1
    and id = $2`,
);

/** Null: it is offered again. */
export function archivePlan(
  tx: Tx,
  { environmentId, id }: { readonly environmentId: EnvironmentId; readonly id: PlanId },
  archivedAt: Instant | null,
): Promise<Rows> {
  return tx.run(ARCHIVE, [environmentId, id, archivedAt === null ? null : formatTimestamp(archivedAt)]);
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
  insert into cell.plan_allowances (environment_id, plan_version_id, pool_id, credits, period, rollover)
  select $1, $2, a.pool_id, a.credits, a.period, a.rollover
  from unnest($3::integer[], $4::bigint[], $5::text[], $6::smallint[]) as a (pool_id, credits, period, rollover)`,
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
