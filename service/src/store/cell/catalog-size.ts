import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../words/brand.ts";

// Bytes as JSON, rounded up: 160 for the names of a feature's fields and its numbers, 60 for those of the smaller ones.
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

export type CatalogSize = {
  readonly counts: {
    readonly pools: number;
    readonly features: number;
    readonly plans: number;
    readonly "event keys": number;
  };
  /** Of its document, at most. */
  readonly bytes: number;
};

export async function measureCatalog(tx: Tx, environmentId: EnvironmentId): Promise<CatalogSize> {
  const { rows } = await tx.run(MEASURE, [environmentId]);
  const [pools = 0, features = 0, plans = 0, eventKeys = 0, bytes = 0] = (rows[0] ?? []).map(readInteger);
  return { counts: { pools, features, plans, "event keys": eventKeys }, bytes };
}
