import { type Static, Type } from "typebox";
import {
  type Catalog,
  type Feature as CatalogFeature,
  getPlan,
  getVersion,
} from "../../entitlement/catalog.ts";
import type { PlanVersionId } from "../../words/brand.ts";
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

/** `users` are versions that include it. */
export function describeFeature(
  catalog: Catalog,
  feature: CatalogFeature,
  users: readonly PlanVersionId[],
): Feature {
  const { key, name, unit, pool, cost } = featureContent(catalog, feature);
  const { archivedAt } = feature;
  return {
    key,
    name,
    unit,
    pool,
    cost,
    archivedAt: archivedAt === null ? null : formatTimestamp(archivedAt),
    usedBy: users.map((id) => getPlan(catalog, getVersion(catalog, id).plan).key).sort(compareKeys),
  };
}
