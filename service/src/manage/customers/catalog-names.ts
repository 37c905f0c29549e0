import { type Static, Type } from "typebox";
import { type Catalog, getFeatureKey, getPlan, getPool, getVersion } from "../../entitlement/catalog.ts";
import type { FeatureId, PlanVersionId, PoolId } from "../../primitives/brand.ts";

export const PlanName = Type.Object({
  key: Type.String({ examples: ["pro"] }),
  version: Type.Integer({ examples: [3] }),
});

export type PlanName = Static<typeof PlanName>;

/** Translates internal IDs to the keys that callers use. */
export class CatalogNames {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  pool(id: PoolId): string {
    return getPool(this.#catalog, id).key;
  }

  feature(id: FeatureId): string {
    return getFeatureKey(this.#catalog, id);
  }

  plan(id: PlanVersionId): PlanName {
    const { plan, number } = getVersion(this.#catalog, id);
    return { key: getPlan(this.#catalog, plan).key, version: number };
  }
}
