import type { Catalog, PinnedFeatures, PlanFeature, PlanVersion } from "../../entitlement/catalog.ts";
import { MissingData } from "../../postgres/missing-data.ts";
import type { Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { EnvironmentId, FeatureId, PlanVersionId } from "../../primitives/brand.ts";
import { BytesCache } from "../../primitives/bytes-cache.ts";
import { EMPTY_CATALOG, loadOutline, type VersionLine } from "./catalog-outline.ts";
import { readCatalogRevisions } from "./catalog-row.ts";
import { loadPlanTerms, type PlanTermsTable } from "./plan-terms.ts";

const OUTLINES_BYTES_MAX = 64 * 1024 * 1024;
const TERMS_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Maximum plan versions per statement. With a thousand features per version, a statement reads 32,000 rows in about 50 ms.
 */
const VERSIONS_AT_ONCE = 32;

type Read = (work: (tx: Tx) => Promise<void>) => Promise<void>;
type Known = { readonly revision: string; readonly catalog: Catalog };

/**
 * A cache of catalogs for this process, bounded in bytes. After acquiring its locks, a decision reads the catalog's revision from the
 * database and accepts only that revision from the cache. So an edit applies to the next request. A stale cache costs an extra read, but
 * never causes a wrong response. The pinned features of a version never change and are cached under the version's identity.
 */
export class CatalogCache {
  readonly #outlines = new BytesCache<EnvironmentId, Known>(OUTLINES_BYTES_MAX);
  readonly #terms = new BytesCache<string, PlanTermsTable>(TERMS_BYTES_MAX);
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #read: Read | null;

  /** `read` runs its callback on a connection that holds no locks. */
  constructor(read: Read | null = null) {
    this.#read = read;
  }

  /** The catalog of this revision. An undefined revision means that the environment has no catalog. */
  find(environmentId: EnvironmentId, revision: string | undefined): Catalog | MissingData {
    if (revision === undefined) return EMPTY_CATALOG;
    const known = this.#outlines.find(environmentId);
    return known?.revision === revision ? known.catalog : new MissingOutline(this, environmentId, revision);
  }

  /** Returns each environment's catalog. If it is not cached, reads it for environments in `now`, and otherwise returns `MissingData`. */
  async findAll(
    tx: Tx,
    environments: Iterable<EnvironmentId>,
    revisions: ReadonlyMap<EnvironmentId, string>,
    now: ReadonlySet<EnvironmentId>,
  ): Promise<Map<EnvironmentId, Catalog | MissingData>> {
    const catalogs = new Map<EnvironmentId, Catalog | MissingData>();
    for (const environmentId of environments) {
      const known = this.find(environmentId, revisions.get(environmentId));
      const isRead = known instanceof MissingData && now.has(environmentId);
      catalogs.set(environmentId, isRead ? await this.load(tx, environmentId) : known);
    }
    return catalogs;
  }

  /** Reads the current catalog. Uncommitted edits made in this transaction are not cached. */
  async load(tx: Tx, environmentId: EnvironmentId): Promise<Catalog> {
    const outline = await loadOutline(
      tx,
      environmentId,
      (version, plan) => new PinnedElsewhere(this, environmentId, version, plan),
    );
    if (outline === null) return EMPTY_CATALOG;
    const { revision, catalog, bytes, isOwn } = outline;
    if (!isOwn) this.#outlines.set(environmentId, { revision, catalog }, bytes);
    return catalog;
  }

  findTerms(identity: string): PlanTermsTable | undefined {
    return this.#terms.find(identity);
  }

  /** The pinned features of these versions, from the cache or the database. */
  async loadTerms(
    tx: Tx,
    environmentId: EnvironmentId,
    versions: readonly VersionLine[],
  ): Promise<Map<PlanVersionId, PinnedFeatures>> {
    const found = new Map<PlanVersionId, PinnedFeatures>();
    const missing: VersionLine[] = [];
    for (const version of versions) {
      const terms = this.#terms.find(version.identity);
      if (terms === undefined) missing.push(version);
      else found.set(version.id, terms);
    }
    for (let start = 0; start < missing.length; start += VERSIONS_AT_ONCE) {
      const some = missing.slice(start, start + VERSIONS_AT_ONCE);
      const ids = some.map(({ id }) => id);
      for (const { version, identity, isOwn, terms } of await loadPlanTerms(tx, environmentId, ids)) {
        if (!isOwn) this.#terms.set(identity, terms, terms.bytes);
        if (some.some((wanted) => wanted.identity === identity)) found.set(version, terms);
      }
    }
    return found;
  }

  /** Fetches the missing data. Concurrent callers share one fetch. */
  fetch(missing: MissingData): Promise<void> {
    const { what } = missing;
    let fetching = this.#underWay.get(what);
    if (fetching === undefined) {
      assert(this.#read !== null, "a cache that fetches has a read function");
      fetching = this.#read((tx) => missing.fetch(tx)).finally(() => this.#underWay.delete(what));
      this.#underWay.set(what, fetching);
    }
    return fetching;
  }
}

class MissingOutline extends MissingData {
  readonly what: string;
  readonly #cache: CatalogCache;
  readonly #environmentId: EnvironmentId;

  constructor(cache: CatalogCache, environmentId: EnvironmentId, revision: string) {
    super("a catalog is not in memory");
    this.what = `catalog ${environmentId} ${revision}`;
    this.#cache = cache;
    this.#environmentId = environmentId;
  }

  async fetch(tx: Tx): Promise<void> {
    await this.#cache.load(tx, this.#environmentId);
  }
}

class MissingTerms extends MissingData {
  readonly what: string;
  readonly #load: (tx: Tx) => Promise<unknown>;

  constructor(identity: string, load: (tx: Tx) => Promise<unknown>) {
    super("the features of a plan version are not in memory");
    this.what = `terms ${identity}`;
    this.#load = load;
  }

  async fetch(tx: Tx): Promise<void> {
    await this.#load(tx);
  }
}

/** A version's features, looked up in the cache on each access. Keeps no reference to them, so the cache stays within its bound. */
class PinnedElsewhere implements PinnedFeatures {
  readonly #cache: CatalogCache;
  readonly #environmentId: EnvironmentId;
  readonly #version: VersionLine;
  readonly #plan: readonly VersionLine[];

  constructor(
    cache: CatalogCache,
    environmentId: EnvironmentId,
    version: VersionLine,
    plan: readonly VersionLine[],
  ) {
    this.#cache = cache;
    this.#environmentId = environmentId;
    this.#version = version;
    this.#plan = plan;
  }

  get(feature: FeatureId): PlanFeature | undefined {
    return this.#terms().get(feature);
  }

  has(feature: FeatureId): boolean {
    return this.#terms().has(feature);
  }

  values(): Iterable<PlanFeature> {
    return this.#terms().values();
  }

  #terms(): PlanTermsTable {
    const { identity } = this.#version;
    const terms = this.#cache.findTerms(identity);
    if (terms !== undefined) return terms;
    throw new MissingTerms(identity, (tx) =>
      this.#cache.loadTerms(tx, this.#environmentId, this.#withFollowing()),
    );
  }

  /** Includes later versions, because a customer who was inactive for a long time moves through them one by one. */
  #withFollowing(): VersionLine[] {
    const following = this.#plan.filter(
      ({ number, reach }) => number > this.#version.number && reach !== "new_assignments",
    );
    return [this.#version, ...following].slice(0, VERSIONS_AT_ONCE);
  }
}

const caches = new WeakMap<object, CatalogCache>();

/** Makes connections to the same database use one cache. */
export function shareCatalogs(cache: CatalogCache, sources: readonly object[]): void {
  for (const source of sources) caches.set(source, cache);
}

function cacheOf({ source }: Tx): CatalogCache {
  const cache = caches.get(source) ?? new CatalogCache();
  caches.set(source, cache);
  return cache;
}

/** Returns the current catalog, including edits made in this transaction. */
export async function loadCatalog(tx: Tx, environmentId: EnvironmentId): Promise<Catalog> {
  const catalogs = await loadCatalogs(tx, [environmentId]);
  return catalogs.get(environmentId) ?? EMPTY_CATALOG;
}

export async function loadCatalogs(
  tx: Tx,
  environments: readonly EnvironmentId[],
): Promise<Map<EnvironmentId, Catalog>> {
  const cache = cacheOf(tx);
  const revisions = await readCatalogRevisions(tx, environments);
  const catalogs = new Map<EnvironmentId, Catalog>();
  for (const environmentId of environments) {
    const known = cache.find(environmentId, revisions.get(environmentId));
    catalogs.set(environmentId, known instanceof MissingData ? await cache.load(tx, environmentId) : known);
  }
  return catalogs;
}

/** Returns a copy of the catalog that contains the pinned features of these versions, for use after the transaction. */
export async function withTerms(
  tx: Tx,
  environmentId: EnvironmentId,
  catalog: Catalog,
  wanted: readonly PlanVersion[],
): Promise<Catalog> {
  const terms = await cacheOf(tx).loadTerms(tx, environmentId, wanted);
  const complete = (version: PlanVersion): PlanVersion => {
    const features = terms.get(version.id);
    return features === undefined ? version : { ...version, features };
  };
  const plans = new Map(
    [...catalog.plans].map(([id, plan]) => [id, { ...plan, versions: plan.versions.map(complete) }]),
  );
  const versions = new Map(
    [...plans.values()].flatMap((plan) => plan.versions.map((version) => [version.id, version])),
  );
  return { ...catalog, plans, versions };
}
