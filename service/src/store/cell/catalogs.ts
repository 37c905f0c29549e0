import type { Catalog, Feature, Plan, PlanFeature, PlanVersion, Pool } from "../../entitlement/catalog.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readInstant, readInteger, readText } from "../../postgres/column.ts";
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
  type ProjectId,
} from "../../words/brand.ts";

const READ_VERSIONS = statement(
  "catalogs.read_versions",
  `
  select c.environment_id, c.version
  from unnest($1::integer[]) as n (environment_id)
  join cell.catalogs as c on c.environment_id = n.environment_id`,
);

/** The version of each environment's catalog. Where nothing was defined yet there is none. */
export async function readCatalogVersions(
  tx: Tx,
  environments: readonly EnvironmentId[],
): Promise<Map<EnvironmentId, number>> {
  const { rows } = await tx.run(READ_VERSIONS, [integers(environments)]);
  return new Map(
    rows.map(([environment, version]) => [
      brandAs<EnvironmentId>(readInteger(environment)),
      readInteger(version),
    ]),
  );
}

const LOAD = statement(
  "catalogs.load",
  `
  select
    c.version,
    (extract(epoch from c.changed_at) * 1000)::bigint,
    c.default_plan_id,
    (extract(epoch from c.default_plan_since) * 1000)::bigint,
    (
      select coalesce(json_agg(json_build_object('id', p.id, 'key', p.key, 'name', p.name) order by p.id), '[]')
      from cell.pools as p
      where p.environment_id = c.environment_id
    )::text,
    (
      select coalesce(json_agg(json_build_object(
        'id', f.id, 'key', f.key, 'name', f.name, 'unit', f.unit, 'pool', f.pool_id,
        'cost', json_build_object('credits', f.cost_credits, 'per', f.cost_per),
        'archivedAt', (extract(epoch from f.archived_at) * 1000)::bigint
      )), '[]')
      from cell.features as f
      where f.environment_id = c.environment_id
    )::text,
    (
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'key', p.key, 'name', p.name,
        'archivedAt', (extract(epoch from p.archived_at) * 1000)::bigint
      )), '[]')
      from cell.plans as p
      where p.environment_id = c.environment_id
    )::text,
    (
      select coalesce(json_agg(json_build_object(
        'id', v.id, 'plan', v.plan_id, 'number', v.number, 'reach', v.reach,
        'publishedAt', (extract(epoch from v.published_at) * 1000)::bigint,
        'allowances', (
          select coalesce(json_agg(json_build_object(
            'pool', a.pool_id, 'credits', a.credits, 'period', a.period, 'rollover', a.rollover
          ) order by a.pool_id), '[]')
          from cell.plan_allowances as a
          where a.environment_id = v.environment_id
            and a.plan_version_id = v.id
        ),
        'features', (
          select coalesce(json_agg(json_build_object(
            'feature', f.feature_id, 'pool', f.pool_id,
            'cost', json_build_object('credits', f.cost_credits, 'per', f.cost_per),
            'limit', case
              when f.limit_quantity is not null
              then json_build_object('quantity', f.limit_quantity, 'period', f.limit_period)
            end
          )), '[]')
          from cell.plan_features as f
          where f.environment_id = v.environment_id
            and f.plan_version_id = v.id
        )
      ) order by v.number), '[]')
      from cell.plan_versions as v
      where v.environment_id = c.environment_id
    )::text
  from cell.catalogs as c
  where c.environment_id = $1`,
);

/** Of these environments, as they are now: those among `known` that have changed, or are missing there, are loaded. */
export async function loadCatalogs(
  tx: Tx,
  environments: readonly EnvironmentId[],
  known: ReadonlyMap<EnvironmentId, Catalog>,
): Promise<Map<EnvironmentId, Catalog>> {
  const versions = await readCatalogVersions(tx, environments);
  const catalogs = new Map<EnvironmentId, Catalog>();
  for (const environmentId of environments) {
    const catalog = known.get(environmentId);
    const isCurrent = catalog !== undefined && catalog.version === (versions.get(environmentId) ?? 0);
    catalogs.set(environmentId, isCurrent ? catalog : await loadCatalog(tx, environmentId));
  }
  return catalogs;
}

/** All of it by one statement, so by one snapshot: the version and what it names cannot disagree. */
export async function loadCatalog(tx: Tx, environmentId: EnvironmentId): Promise<Catalog> {
  const { rows } = await tx.run(LOAD, [environmentId]);
  const row = rows[0];
  if (row === undefined) return EMPTY;
  const [version, changedAt, defaultPlan, defaultSince, pools, features, plans, versions] = row;
  const published = parseVersions(readText(versions));
  return {
    version: readInteger(version),
    changedAt: readInstant(changedAt),
    pools: byId<PoolId, Pool>(parse(readText(pools))),
    features: new Map(parse<Feature>(readText(features)).map((feature) => [feature.key, feature])),
    plans: byId(
      parse<Omit<Plan, "versions">>(readText(plans)).map((plan) => ({
        ...plan,
        versions: published.filter((other) => other.plan === plan.id),
      })),
    ),
    versions: byId<PlanVersionId, PlanVersion>(published),
    defaultPlan: {
      plan: defaultPlan === null ? null : brandAs<PlanId>(readInteger(defaultPlan)),
      since: readInstant(defaultSince),
    },
  };
}

/** Where nothing was defined yet. */
const EMPTY: Catalog = {
  version: 0,
  changedAt: brandAs<Instant>(0),
  pools: new Map(),
  features: new Map(),
  plans: new Map(),
  versions: new Map(),
  defaultPlan: { plan: null, since: brandAs<Instant>(0) },
};

/** JSON that the statement above has built, column by column. */
function parse<T>(text: string): T[] {
  return JSON.parse(text);
}

function parseVersions(text: string): PlanVersion[] {
  type Parsed = Omit<PlanVersion, "features"> & { features: PlanFeature[] };
  return parse<Parsed>(text).map((version) => ({
    ...version,
    features: new Map<FeatureId, PlanFeature>(version.features.map((terms) => [terms.feature, terms])),
  }));
}

function byId<Id, T extends { readonly id: Id }>(values: readonly T[]): Map<Id, T> {
  return new Map(values.map((value) => [value.id, value]));
}

const ENSURE = statement(
  "catalogs.ensure",
  `
  insert into cell.catalogs (environment_id, project_id, version, changed_at, default_plan_since)
  values ($1, $2, 0, date_trunc('milliseconds', clock_timestamp()), date_trunc('milliseconds', clock_timestamp()))
  on conflict on constraint catalogs_pkey do nothing`,
);

/** Returns whether this call made it. */
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
 * Raises the version, and so locks the catalog until this transaction ends: edits come one after another. Returns when
 * the edit takes effect, never before an earlier one.
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

/** Holds up other edits until this transaction ends, and leaves the version as it is. */
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

/** From when the catalog was last raised, which must be in this transaction. */
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

/** Whether the project's other environment has a feature of this key: the usual reason why one is missing. */
export async function isFeatureElsewhere(
  tx: Tx,
  where: { projectId: ProjectId; environmentId: EnvironmentId },
  key: FeatureKey,
): Promise<boolean> {
  const { rowCount } = await tx.run(FIND_FEATURE_ELSEWHERE, [where.projectId, where.environmentId, key]);
  return rowCount > 0;
}
