import type { Catalog } from "../entitlement/catalog.ts";
import type { Tx } from "../postgres/statement.ts";
import { loadCatalog } from "../store/cell/catalogs.ts";
import { BoundedMap } from "../words/bounded-map.ts";
import type { EnvironmentId } from "../words/brand.ts";

const ENVIRONMENTS_MAX = 10_000;

/**
 * Catalogs by version. Whoever decides reads the version from the database, after its locks, and takes only that one
 * from here: an edit is in force at the next request, and a cache that is behind costs a read, never a wrong answer.
 */
export class CatalogCache {
  readonly #catalogs = new BoundedMap<EnvironmentId, Catalog>(ENVIRONMENTS_MAX);

  /** The catalogs of these environments, in these versions or newer; where nothing is defined, an empty one. */
  async get(
    tx: Tx,
    environments: Iterable<EnvironmentId>,
    versions: ReadonlyMap<EnvironmentId, number>,
  ): Promise<Map<EnvironmentId, Catalog>> {
    const catalogs = new Map<EnvironmentId, Catalog>();
    for (const environmentId of environments) {
      let catalog = this.#catalogs.find(environmentId);
      if (catalog === undefined || catalog.version !== (versions.get(environmentId) ?? 0)) {
        catalog = await loadCatalog(tx, environmentId);
        this.#catalogs.set(environmentId, catalog);
      }
      catalogs.set(environmentId, catalog);
    }
    return catalogs;
  }
}
