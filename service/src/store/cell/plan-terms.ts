import type { PinnedFeatures, PlanFeature } from "../../entitlement/catalog.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readBoolean, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type EnvironmentId,
  type FeatureId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { PERIODS } from "./overrides-state.ts";

const LOAD = statement(
  "plan_features.load",
  `
  select
    v.id,
    v.identity::text,
    coalesce(v.xmin = pg_current_xact_id_if_assigned()::xid, false),
    f.ids,
    f.pools,
    f.credits,
    f.pers,
    f.quantities,
    f.periods
  from unnest($2::integer[]) as n (id)
  join cell.plan_versions as v
    on v.environment_id = $1
    and v.id = n.id
  cross join lateral (
    select
      string_agg(o.feature_id::text, ',') as ids,
      string_agg(o.pool_id::text, ',') as pools,
      string_agg(o.cost_credits::text, ',') as credits,
      string_agg(o.cost_per::text, ',') as pers,
      string_agg(coalesce(o.limit_quantity, -1)::text, ',') as quantities,
      string_agg(coalesce(o.limit_period, ''), ',') as periods
    from (
      select *
      from cell.plan_features as t
      where t.environment_id = $1
        and t.plan_version_id = v.id
      order by t.feature_id
    ) as o
  ) as f`,
);

export type LoadedTerms = {
  readonly version: PlanVersionId;
  readonly identity: string;
  /** True if this transaction wrote the version. The transaction may change it again, and may never be committed. */
  readonly isOwn: boolean;
  readonly terms: PlanTermsTable;
};

/** The pinned features of these versions. */
export async function loadPlanTerms(
  tx: Tx,
  environmentId: EnvironmentId,
  versions: readonly PlanVersionId[],
): Promise<LoadedTerms[]> {
  const { rows } = await tx.run(LOAD, [environmentId, integers(versions)]);
  return rows.map(([version, identity, isOwn, ...columns]) => ({
    version: brandAs<PlanVersionId>(readInteger(version)),
    identity: readText(identity),
    isOwn: readBoolean(isOwn),
    terms: new PlanTermsTable(columns.map((column) => readNullable(column, readText) ?? "")),
  }));
}

const FIND_WITH = statement(
  "plan_features.find_with",
  `
  select f.feature_id, f.plan_version_id
  from unnest($2::integer[]) as v (id)
  cross join unnest($3::integer[]) as n (id)
  join cell.plan_features as f
    on f.environment_id = $1
    and f.plan_version_id = v.id
    and f.feature_id = n.id`,
);

/** Returns which of `versions` include each feature. */
export async function findVersionsWith(
  tx: Tx,
  environmentId: EnvironmentId,
  versions: readonly PlanVersionId[],
  features: readonly FeatureId[],
): Promise<Map<FeatureId, PlanVersionId[]>> {
  const { rows } = await tx.run(FIND_WITH, [environmentId, integers(versions), integers(features)]);
  const found = new Map<FeatureId, PlanVersionId[]>();
  for (const [feature, version] of rows) {
    const id = brandAs<FeatureId>(readInteger(feature));
    const known = found.get(id) ?? [];
    known.push(brandAs<PlanVersionId>(readInteger(version)));
    found.set(id, known);
  }
  return found;
}

const PERIOD_NAMES: readonly string[] = PERIODS;
/** Size of an empty table. */
const TABLE_BYTES = 1_000;

/** A version's features, stored in columns. Each feature takes 25 bytes, a tenth of what an object would take. */
export class PlanTermsTable implements PinnedFeatures {
  readonly #ids: Int32Array;
  readonly #pools: Int32Array;
  readonly #credits: Int32Array;
  readonly #pers: Int32Array;
  /** A negative number means no limit. */
  readonly #quantities: Float64Array;
  readonly #periods: Uint8Array;

  /** Each column as comma-separated text, ordered by feature ID. */
  constructor([ids = "", pools = "", credits = "", pers = "", quantities = "", periods = ""]: string[]) {
    this.#ids = Int32Array.from(numbersOf(ids));
    this.#pools = Int32Array.from(numbersOf(pools));
    this.#credits = Int32Array.from(numbersOf(credits));
    this.#pers = Int32Array.from(numbersOf(pers));
    this.#quantities = Float64Array.from(numbersOf(quantities));
    this.#periods = Uint8Array.from(
      periods.split(",").map((kind) => Math.max(0, PERIOD_NAMES.indexOf(kind))),
    );
  }

  get bytes(): number {
    return TABLE_BYTES + this.#ids.length * 25;
  }

  get(feature: FeatureId): PlanFeature | undefined {
    const row = this.#find(feature);
    return row === null ? undefined : this.#at(row);
  }

  has(feature: FeatureId): boolean {
    return this.#find(feature) !== null;
  }

  *values(): Generator<PlanFeature> {
    for (let row = 0; row < this.#ids.length; row++) yield this.#at(row);
  }

  #find(feature: FeatureId): number | null {
    let low = 0;
    let high = this.#ids.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const id = numberAt(this.#ids, middle);
      if (id === feature) return middle;
      if (id < feature) low = middle + 1;
      else high = middle - 1;
    }
    return null;
  }

  #at(row: number): PlanFeature {
    const quantity = numberAt(this.#quantities, row);
    const period = PERIODS[numberAt(this.#periods, row)];
    assert(period !== undefined, "a period is known");
    return {
      feature: brandAs<FeatureId>(numberAt(this.#ids, row)),
      pool: brandAs<PoolId>(numberAt(this.#pools, row)),
      cost: { credits: numberAt(this.#credits, row), per: numberAt(this.#pers, row) },
      limit: quantity < 0 ? null : { quantity, period },
    };
  }
}

function numbersOf(column: string): number[] {
  return column === "" ? [] : column.split(",").map(Number);
}

function numberAt(column: Int32Array | Float64Array | Uint8Array, row: number): number {
  const value = column[row];
  assert(value !== undefined, "every column has a value for every row");
  return value;
}
