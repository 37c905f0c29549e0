import { integers } from "../../postgres/binary-array.ts";
import { readInstant, readInteger, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type EnvironmentId,
  type FeatureKey,
  type Instant,
  type PlanId,
  type ProjectId,
} from "../../primitives/brand.ts";

const READ_REVISIONS = statement(
  "catalogs.read_revisions",
  `
  select c.environment_id, c.revision::text
  from unnest($1::integer[]) as n (environment_id)
  join cell.catalogs as c on c.environment_id = n.environment_id`,
);

/**
 * The current revision of each environment's catalog. Omits environments without a catalog. Every edit gets a new revision. If a failover
 * loses an edit, the version number is assigned again, but the revision is never reused.
 */
export async function readCatalogRevisions(
  tx: Tx,
  environments: readonly EnvironmentId[],
): Promise<Map<EnvironmentId, string>> {
  const { rows } = await tx.run(READ_REVISIONS, [integers(environments)]);
  return new Map(
    rows.map(([environment, revision]) => [
      brandAs<EnvironmentId>(readInteger(environment)),
      readText(revision),
    ]),
  );
}

const ENSURE = statement(
  "catalogs.ensure",
  `
  insert into cell.catalogs (environment_id, project_id, version, changed_at, default_plan_since)
  values ($1, $2, 0, date_trunc('milliseconds', clock_timestamp()), date_trunc('milliseconds', clock_timestamp()))
  on conflict on constraint catalogs_pkey do nothing`,
);

/** Returns whether this call created the catalog row. */
export async function ensureCatalog(
  tx: Tx,
  { environmentId, projectId }: { environmentId: EnvironmentId; projectId: ProjectId },
): Promise<boolean> {
  const { rowCount } = await tx.run(ENSURE, [environmentId, projectId]);
  return rowCount === 1;
}

const RAISE = statement(
  "catalogs.raise",
  `
  update cell.catalogs
  set
    version = version + 1,
    changed_at = greatest(changed_at, date_trunc('milliseconds', clock_timestamp()))
  where environment_id = $1
  returning (extract(epoch from changed_at) * 1000)::bigint`,
);

/**
 * Increments the version. The updated row stays locked until this transaction ends, so edits are serialized. Returns the time at which
 * the edit takes effect. This time is never before the time of an earlier edit.
 */
export async function raiseCatalogVersion(tx: Tx, environmentId: EnvironmentId): Promise<Instant> {
  const { rows } = await tx.run(RAISE, [environmentId]);
  return readInstant(rows[0]?.[0]);
}

const LOCK = statement(
  "catalogs.lock",
  `
  select version
  from cell.catalogs
  where environment_id = $1
  for update`,
);

/** Blocks other edits until this transaction ends, without incrementing the version. */
export function lockCatalog(tx: Tx, environmentId: EnvironmentId): Promise<Rows> {
  return tx.run(LOCK, [environmentId]);
}

const SET_DEFAULT_PLAN = statement(
  "catalogs.set_default_plan",
  `
  update cell.catalogs
  set
    default_plan_id = $2,
    default_plan_since = changed_at
  where environment_id = $1`,
);

/** The default plan takes effect at the time of the catalog's latest version, which this transaction must have created. */
export function setDefaultPlan(tx: Tx, environmentId: EnvironmentId, plan: PlanId | null): Promise<Rows> {
  return tx.run(SET_DEFAULT_PLAN, [environmentId, plan]);
}

const FIND_FEATURE_ELSEWHERE = statement(
  "catalogs.find_feature_elsewhere",
  `
  select f.id
  from cell.catalogs as c
  join cell.features as f on f.environment_id = c.environment_id
  where c.project_id = $1
    and c.environment_id <> $2
    and f.key = $3
  limit 1`,
);

/** Whether the project's other environment has this feature, which usually explains why this environment does not have it. */
export async function isFeatureElsewhere(
  tx: Tx,
  where: { projectId: ProjectId; environmentId: EnvironmentId },
  key: FeatureKey,
): Promise<boolean> {
  const { rowCount } = await tx.run(FIND_FEATURE_ELSEWHERE, [where.projectId, where.environmentId, key]);
  return rowCount > 0;
}

// Estimates the JSON size, rounded up. Field names and numbers take 160 bytes per feature, and 60 bytes per pool or event key.
const MEASURE = statement(
  "catalogs.measure",
  `
  select
    pools.count,
    features.count,
    plans.count,
    event_keys.count,
    pools.bytes + features.bytes + plans.bytes + event_keys.bytes
  from
    (
      select count(*), coalesce(sum(60 + octet_length(key) + octet_length(to_json(name)::text)), 0) as bytes
      from cell.pools
      where environment_id = $1
    ) as pools,
    (
      select
        count(*),
        coalesce(sum(
          160 + octet_length(f.key) + octet_length(to_json(f.name)::text)
          + coalesce(octet_length(to_json(f.unit)::text), 4) + octet_length(p.key)
        ), 0) as bytes
      from cell.features as f
      join cell.pools as p
        on p.environment_id = f.environment_id
        and p.id = f.pool_id
      where f.environment_id = $1
    ) as features,
    (
      select count(*), coalesce(sum(document_bytes + octet_length(to_json(name)::text)), 0) as bytes
      from cell.plans
      where environment_id = $1
    ) as plans,
    (
      select
        count(*),
        coalesce(sum(
          60 + octet_length(to_json(key)::text) + octet_length(to_json(name)::text)
          + coalesce(octet_length(to_json(unit)::text), 4)
        ), 0) as bytes
      from cell.event_keys
      where environment_id = $1
    ) as event_keys`,
);

type CatalogSize = {
  readonly counts: {
    readonly pools: number;
    readonly features: number;
    readonly plans: number;
    readonly "event keys": number;
  };
  /** Upper bound for the size of the exported catalog. */
  readonly bytes: number;
};

export async function measureCatalog(tx: Tx, environmentId: EnvironmentId): Promise<CatalogSize> {
  const { rows } = await tx.run(MEASURE, [environmentId]);
  const [pools = 0, features = 0, plans = 0, eventKeys = 0, bytes = 0] = (rows[0] ?? []).map(readInteger);
  return { counts: { pools, features, plans, "event keys": eventKeys }, bytes };
}
