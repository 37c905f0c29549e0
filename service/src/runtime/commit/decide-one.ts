import type { Catalog } from "../../entitlement/catalog.ts";
import { MissingData } from "../../postgres/missing-data.ts";
import { assert } from "../../primitives/assert.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import type { BatchFacts } from "./batch-plan.ts";
import type { Pending } from "./pending.ts";
import type { LOCKED, Outcome, Undecided } from "./request.ts";

// Steps shared by all kinds of decisions.

export type Missing = Exclude<Undecided, typeof LOCKED>;

/** Calls `work` with the environment's catalog. Returns `missing_data` if a part of the catalog is not in memory. */
export function withCatalog<T>(
  { catalogs }: BatchFacts,
  environmentId: EnvironmentId,
  work: (catalog: Catalog) => T,
): T | Missing {
  const catalog = catalogs.get(environmentId);
  assert(catalog !== undefined, "a batch reads the catalog of each environment in it");
  if (catalog instanceof MissingData) return { kind: "missing_data", missing: catalog };
  try {
    return work(catalog);
  } catch (error) {
    if (error instanceof MissingData) return { kind: "missing_data", missing: error };
    throw error;
  }
}

/** Rejects a request without storing anything. Reports the outcome as unknown if an earlier attempt may have been committed. */
export function refuse(pending: Pending, outcome: Outcome): Outcome {
  return pending.isUncertain ? { kind: "outcome_unknown" } : outcome;
}
