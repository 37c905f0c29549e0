import {
  type CatalogContent,
  compareKeys,
  completePool,
  type EventKeyContent,
  type FeatureContent,
  isSame,
  type PlanContent,
  type PoolContent,
  sortByKey,
} from "./content.ts";
import type { GivenCatalog, GivenPlan } from "./document.ts";
import type { CatalogNoun } from "./problems.ts";

type ChangeKind = "create" | "change" | "archive" | "unchanged";
type ChangeOf<N extends string, T> = {
  readonly noun: N;
  readonly key: string;
  readonly change: ChangeKind;
  /** Null if the item does not exist yet. */
  readonly before: T | null;
  readonly after: T;
};

export type CatalogChange =
  | ChangeOf<"pool", PoolContent>
  | ChangeOf<"feature", FeatureContent>
  | ChangeOf<"plan", PlanContent>
  | ChangeOf<"event_key", EventKeyContent>
  | ChangeOf<"default_plan", { readonly plan: string | null }>;

export type CatalogComparison =
  | { kind: "comparable"; changes: readonly CatalogChange[] }
  | { kind: "unknown_key"; noun: CatalogNoun; key: string }
  /** The default plan would be archived. */
  | { kind: "still_default"; key: string };

/**
 * Lists the changes that applying a file would make. Each item comes after the items it refers to.
 *
 * - Nothing is deleted. Items missing from the file are kept.
 * - With `archiveMissing`, missing plans and features are archived instead. If a list is omitted, its items are kept.
 */
export function compareCatalogs(
  current: CatalogContent,
  given: GivenCatalog,
  { archiveMissing }: { readonly archiveMissing: boolean },
): CatalogComparison {
  const knownPools = new Map(current.pools.map((pool) => [pool.key, pool]));
  const givenPools = given.pools?.map((pool) => completePool(pool, knownPools.get(pool.key) ?? null)) ?? null;
  const pools = overlay(current.pools, givenPools, keep);
  const features = overlay(current.features, given.features, archiveMissing ? archive : keep);
  const missing = findMissing({ ...current, pools, features }, given, current);
  if (missing !== null) return missing;
  const pinned = given.plans?.map((plan) => pin(plan, features)) ?? null;
  const plans = overlay(current.plans, pinned, archiveMissing ? archive : keep);
  const eventKeys = overlay(current.eventKeys, given.eventKeys, keep);
  const defaultPlan = given.defaultPlan === undefined ? current.defaultPlan : given.defaultPlan;
  if (defaultPlan !== null) {
    const plan = plans.find(({ key }) => key === defaultPlan);
    if (plan === undefined) return { kind: "unknown_key", noun: "plan", key: defaultPlan };
    if (plan.archived) return { kind: "still_default", key: defaultPlan };
  }
  return {
    kind: "comparable",
    changes: [
      ...compare("pool", current.pools, pools),
      ...compare("feature", current.features, features),
      ...compare("event_key", current.eventKeys, eventKeys),
      ...compare("plan", current.plans, plans),
      compareDefault(current.defaultPlan, defaultPlan),
    ],
  };
}

const keep = <T>(value: T): T => value;
const archive = <T extends { readonly archived: boolean }>(value: T): T => ({ ...value, archived: true });

function overlay<T extends { readonly key: string }>(
  current: readonly T[],
  given: readonly T[] | null,
  lack: (value: T) => T,
): T[] {
  if (given === null) return [...current];
  const keys = new Set(given.map(({ key }) => key));
  return sortByKey([...given, ...current.filter(({ key }) => !keys.has(key)).map(lack)]);
}

/** Finds the first referenced key that neither the file nor the catalog defines. */
function findMissing(
  known: CatalogContent,
  given: GivenCatalog,
  current: CatalogContent,
): CatalogComparison | null {
  const pools = new Set(known.pools.map(({ key }) => key));
  const drawn = [
    ...(given.features ?? []).map(({ pool }) => pool),
    ...(given.plans ?? []).flatMap(({ allowances, features }) => [
      ...allowances.map(({ pool }) => pool),
      ...features.flatMap(({ pinned }) => (pinned === null ? [] : [pinned.pool])),
    ]),
  ];
  const pool = drawn.find((key) => !pools.has(key));
  if (pool !== undefined) return { kind: "unknown_key", noun: "pool", key: pool };

  const named = new Set(given.features?.map(({ key }) => key));
  const offered = current.features.filter(({ archived }) => !archived).map(({ key }) => key);
  for (const plan of given.plans ?? []) {
    // A plan can use active features, features listed in the file, and archived features that it already includes.
    const kept = current.plans.find(({ key }) => key === plan.key)?.features.map(({ feature }) => feature);
    const usable = new Set([...named, ...offered, ...(kept ?? [])]);
    const missing = plan.features.find(({ feature }) => !usable.has(feature));
    if (missing !== undefined) return { kind: "unknown_key", noun: "feature", key: missing.feature };
  }
  return null;
}

function pin(plan: GivenPlan, features: readonly FeatureContent[]): PlanContent {
  const byKey = new Map(features.map((feature) => [feature.key, feature]));
  const { key, name, allowances, archived } = plan;
  const included = plan.features.flatMap(({ feature, limit, pinned }) => {
    const terms = pinned ?? byKey.get(feature);
    return terms === undefined ? [] : [{ feature, limit, pool: terms.pool, cost: terms.cost }];
  });
  return {
    key,
    name,
    allowances: allowances.toSorted((a, b) => compareKeys(a.pool, b.pool)),
    features: included.sort((a, b) => compareKeys(a.feature, b.feature)),
    archived,
  };
}

function compare<N extends "pool" | "feature" | "event_key" | "plan", T extends { readonly key: string }>(
  noun: N,
  current: readonly T[],
  next: readonly T[],
): ChangeOf<N, T>[] {
  const known = new Map(current.map((value) => [value.key, value]));
  return next.map((after) => {
    const before = known.get(after.key) ?? null;
    return { noun, key: after.key, change: kindOf(before, after), before, after };
  });
}

function kindOf(before: object | null, after: object): ChangeKind {
  if (before === null) return "create";
  if (isSame(before, after)) return "unchanged";
  return isArchived(after) && !isArchived(before) ? "archive" : "change";
}

function isArchived(value: object): boolean {
  return "archived" in value && value.archived === true;
}

function compareDefault(current: string | null, next: string | null): CatalogChange {
  return {
    noun: "default_plan",
    key: "default_plan",
    change: current === next ? "unchanged" : "change",
    before: { plan: current },
    after: { plan: next },
  };
}
