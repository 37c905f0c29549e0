import { type Static, Type } from "typebox";
import { type Catalog, type Feature as CatalogFeature, latestVersion } from "../../entitlement/catalog.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { compareKeys, featureContent } from "../catalog/content.ts";
import { Cost } from "../catalog/schema.ts";
import { nullable, timeField } from "../fields.ts";

export const Feature = Type.Object({
  key: Type.String({ examples: ["image.generate"] }),
  name: Type.String({ examples: ["Image rendering"] }),
  unit: nullable(Type.String({ description: "What is counted.", examples: ["image"] })),
  pool: Type.String({ description: "The key of the pool that it draws from.", examples: ["credits"] }),
  cost: Cost,
  archivedAt: nullable(timeField),
  usedBy: Type.Array(Type.String(), {
    description: "The keys of the plans whose latest version includes it.",
    examples: [["pro"]],
  }),
});

export type Feature = Static<typeof Feature>;

export function describeFeature(catalog: Catalog, feature: CatalogFeature): Feature {
  const { key, name, unit, pool, cost } = featureContent(catalog, feature);
  const { archivedAt } = feature;
  return {
    key,
    name,
    unit,
    pool,
    cost,
    archivedAt: archivedAt === null ? null : formatTimestamp(archivedAt),
    usedBy: [...catalog.plans.values()]
      .filter((plan) => latestVersion(plan).features.has(feature.id))
      .map((plan) => plan.key)
      .sort(compareKeys),
  };
}
