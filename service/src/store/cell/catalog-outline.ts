import type {
  Catalog,
  Feature,
  NoticeType,
  PinnedFeatures,
  Plan,
  PlanVersion,
  Pool,
} from "../../entitlement/catalog.ts";
import { readBoolean, readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant, type PlanId } from "../../primitives/brand.ts";

// Reads the catalog without the pinned features of plan versions, which make up most of its size. All published versions are included, with
// a few hundred bytes each, because customers on older versions may still have to move through them.
const LOAD = statement(
  "catalogs.load_outline",
  `
  select
    c.revision::text,
    coalesce(c.xmin = pg_current_xact_id_if_assigned()::xid, false),
    c.version,
    (extract(epoch from c.changed_at) * 1000)::bigint,
    c.default_plan_id,
    (extract(epoch from c.default_plan_since) * 1000)::bigint,
    (
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'key', p.key, 'name', p.name, 'lowBalances', p.low_balances
      ) order by p.id), '[]')
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
        'id', v.id, 'plan', v.plan_id, 'number', v.number, 'identity', v.identity, 'reach', v.reach,
        'publishedAt', (extract(epoch from v.published_at) * 1000)::bigint,
        'allowances', (
          select coalesce(json_agg(json_build_object(
            'pool', a.pool_id, 'credits', a.credits, 'period', a.period, 'rollover', a.rollover,
            'overage', a.overage
          ) order by a.pool_id), '[]')
          from cell.plan_allowances as a
          where a.environment_id = v.environment_id
            and a.plan_version_id = v.id
        )
      ) order by v.number), '[]')
      from cell.plan_versions as v
      where v.environment_id = c.environment_id
    )::text,
    array_to_json(c.notice_types)::text
  from cell.catalogs as c
  where c.environment_id = $1`,
);

export type CatalogOutline = {
  readonly catalog: Catalog;
  readonly revision: string;
  /** True if this transaction edited the catalog. The transaction may change it again, and may never be committed. */
  readonly isOwn: boolean;
  /** Approximate size in memory. */
  readonly bytes: number;
};

export type VersionLine = Omit<PlanVersion, "features">;

/** Approximate bytes in memory for each byte of JSON. */
const BYTES_OF_JSON = 3;

/**
 * Loads the catalog without the features of plan versions. Uses one statement, so that revision and content come from the same snapshot.
 * `pin` returns a version's features. Its second argument lists all versions of the plan. Null if the environment has no catalog yet.
 */
export async function loadOutline(
  tx: Tx,
  environmentId: EnvironmentId,
  pin: (version: VersionLine, plan: readonly VersionLine[]) => PinnedFeatures,
): Promise<CatalogOutline | null> {
  const { rows } = await tx.run(LOAD, [environmentId]);
  const row = rows[0];
  if (row === undefined) return null;
  const [revision, isOwn, version, changedAt, defaultPlan, defaultSince, ...lists] = row;
  const [pools = "", features = "", plans = "", lines = "", noticeTypes = ""] = lists.map(readText);
  const published = Map.groupBy(parse<VersionLine>(lines), ({ plan }) => plan);
  const complete = parse<Omit<Plan, "versions">>(plans).map((plan): Plan => {
    const ofPlan = published.get(plan.id) ?? [];
    return { ...plan, versions: ofPlan.map((line) => ({ ...line, features: pin(line, ofPlan) })) };
  });
  const catalog: Catalog = {
    version: readInteger(version),
    changedAt: readInstant(changedAt),
    pools: byId(parse<Pool>(pools)),
    features: new Map(parse<Feature>(features).map((feature) => [feature.key, feature])),
    plans: byId(complete),
    versions: byId(complete.flatMap(({ versions }) => versions)),
    defaultPlan: {
      plan: defaultPlan === null ? null : brandAs<PlanId>(readInteger(defaultPlan)),
      since: readInstant(defaultSince),
    },
    noticeTypes: new Set(parse<NoticeType>(noticeTypes)),
  };
  const bytes = BYTES_OF_JSON * (pools.length + features.length + plans.length + lines.length) + 2_000;
  return { catalog, revision: readText(revision), isOwn: readBoolean(isOwn), bytes };
}

/** The catalog of an environment that has no catalog row. */
export const EMPTY_CATALOG: Catalog = {
  version: 0,
  changedAt: brandAs<Instant>(0),
  pools: new Map(),
  features: new Map(),
  plans: new Map(),
  versions: new Map(),
  defaultPlan: { plan: null, since: brandAs<Instant>(0) },
  noticeTypes: new Set(),
};

/** Parses JSON built by the statement above. */
function parse<T>(text: string): T[] {
  return JSON.parse(text);
}

function byId<T extends { readonly id: unknown }>(values: readonly T[]): Map<T["id"], T> {
  return new Map(values.map((value) => [value.id, value]));
}
