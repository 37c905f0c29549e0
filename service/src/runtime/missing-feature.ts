import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import type { FeatureKey } from "../primitives/brand.ts";
import { isFeatureElsewhere } from "../store/cell/catalog-row.ts";
import type { Caller } from "./runtime-route.ts";

/** Builds the problem for an unknown feature. */
export type FeatureFinder = (key: Caller, feature: FeatureKey) => Promise<Problem>;

/** Adds a hint for backends if the other environment defines the feature. */
export function findMissingFeature(read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>): FeatureFinder {
  return async (key, feature) => {
    // If the lookup for the hint fails, the response is sent without a hint.
    const isElsewhere = await read((tx) => isFeatureElsewhere(tx, key, feature)).catch(() => false);
    const [here, there] = key.environmentKind === "test" ? ["test", "live"] : ["live", "test"];
    const hint = isElsewhere
      ? ` It exists in ${there}: this API key belongs to ${here}.`
      : DEFINED_IN_CATALOG;
    return featureNotFound(here, feature, hint);
  };
}

/** Adds no hint, because people may have a role in only one of the environments. */
export const missingForPeople: FeatureFinder = async (key, feature) =>
  featureNotFound(key.environmentKind, feature, DEFINED_IN_CATALOG);

const DEFINED_IN_CATALOG = " Features are defined in the catalog.";

function featureNotFound(here: string, feature: FeatureKey, hint: string): Problem {
  return new Problem("feature_not_found", {
    detail: `There is no feature ${JSON.stringify(feature)} in the ${here} environment.${hint}`,
  });
}
