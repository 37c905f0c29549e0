import type { Cost } from "../../entitlement/catalog.ts";
import { readInteger } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type EnvironmentId,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

export type FeatureDefinition = {
  readonly key: FeatureKey;
  readonly name: string;
  readonly unit: string | null;
  readonly pool: PoolId;
  readonly cost: Cost;
};

const UPSERT = statement(
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

/** Defines a feature, or changes the one that is there; plan versions keep what they have pinned. */
export async function upsertFeature(
  tx: Tx,
  environmentId: EnvironmentId,
  feature: FeatureDefinition,
): Promise<FeatureId> {
  const { key, name, unit, pool, cost } = feature;
  const { rows } = await tx.run(UPSERT, [environmentId, key, name, unit, pool, cost.credits, cost.per]);
  return brandAs<FeatureId>(readInteger(rows[0]?.[0]));
}

const ARCHIVE = statement(
  "features.archive",
  `
  update cell.features
  set archived_at = $3
  where environment_id = $1
    and id = $2`,
);

/** Null: it is offered again. */
export function archiveFeature(
  tx: Tx,
  { environmentId, id }: { readonly environmentId: EnvironmentId; readonly id: FeatureId },
  archivedAt: Instant | null,
): Promise<Rows> {
  return tx.run(ARCHIVE, [environmentId, id, archivedAt === null ? null : formatTimestamp(archivedAt)]);
}
