import { type Static, Type } from "typebox";
import { type Catalog, getPlan, getPool, getVersion } from "../../entitlement/catalog.ts";
import { assert } from "../../primitives/assert.ts";
import type { FeatureId, PlanVersionId, PoolId } from "../../primitives/brand.ts";

export const PlanName = Type.Object({
  key: Type.String({ examples: ["pro"] }),
  version: Type.Integer({ examples: [3] }),
});

export type PlanName = Static<typeof PlanName>;

/** Translates internal IDs to the keys that callers use. */
export class CatalogNames {
  readonly #catalog: Catalog;
  readonly #features: ReadonlyMap<FeatureId, string>;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#features = new Map([...catalog.features.values()].map(({ id, key }) => [id, key]));
  }

  pool(id: PoolId): string {
    return getPool(this.#catalog, id).key;
  }

  feature(id: FeatureId): string {
    const key = this.#features.get(id);
    assert(key !== undefined, "a feature is never deleted");
    return key;
  }

  plan(id: PlanVersionId): PlanName {
    const { plan, number } = getVersion(this.#catalog, id);
    return { key: getPlan(this.#catalog, plan).key, version: number };
  }
}
