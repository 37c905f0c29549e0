import { loadCatalog } from "../../store/cell/catalogs.ts";
import type { EnvironmentId } from "../../words/brand.ts";
import { type CatalogSource, readContent } from "./apply-catalog.ts";
import type { CatalogContent } from "./content.ts";
import { readDocument, toDocument } from "./document.ts";

/** Another environment's catalog as the file to apply: what was tried in test is what live gets. */
export function catalogOf(environmentId: EnvironmentId): CatalogSource {
  return async (tx, target) => {
    const content = await readContent(tx, environmentId, await loadCatalog(tx, environmentId));
    return readDocument(toDocument(withoutLeftovers(content, target)));
  };
}

/** What was given up before the other environment ever had it stays where it is, unless something promoted needs it. */
function withoutLeftovers(content: CatalogContent, target: CatalogContent): CatalogContent {
  const knownPlans = new Set(target.plans.map(({ key }) => key));
  const plans = content.plans.filter(({ key, archived }) => !archived || knownPlans.has(key));
  const knownFeatures = new Set(target.features.map(({ key }) => key));
  const needed = new Set(plans.flatMap(({ features }) => features.map(({ feature }) => feature)));
  const features = content.features.filter(
    ({ key, archived }) => !archived || knownFeatures.has(key) || needed.has(key),
  );
  return { ...content, plans, features };
}
