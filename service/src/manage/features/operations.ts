import { type Static, Type } from "typebox";
import {
  type Catalog,
  type Feature as CatalogFeature,
  getPlan,
  getVersion,
  latestVersion,
} from "../../entitlement/catalog.ts";
import { single } from "../../postgres/transaction.ts";
import { assert, assertNever } from "../../primitives/assert.ts";
import { brandAs, type FeatureKey, type PlanVersionId } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findVersionsWith } from "../../store/cell/plan-terms.ts";
import { compareKeys, featureContent, sortByKey } from "../catalog/content.ts";
import {
  etagOf,
  preconditionHeaders,
  preconditionProblem,
  readPreconditions,
} from "../catalog/preconditions.ts";
import { missing, unknownKey } from "../catalog/problems.ts";
import { archiveInput, Cost, featureInput } from "../catalog/schema.ts";
import { afterCommit } from "../database-trouble.ts";
import { keyField, nullable, strictObject, timeField, timeOrNull } from "../fields.ts";
import {
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { archivableQuery, isWanted, pageByKey, pageOf } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { archiveFeature, defineFeature } from "./define-feature.ts";

const NOUN = "Features";
const FEATURE_PATH = `${ENVIRONMENT_PATH}/features/:key`;
const featureParams = Type.Object({ ...environmentParams, key: keyField });

export function featureOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/features`,
      access: { role: "viewer", in: "environment" },
      id: "listFeatures",
      noun: NOUN,
      summary: "List features",
      description: "Lists features sorted by key, each with the plans that include it.",
      params: Type.Object(environmentParams),
      query: archivableQuery,
      answer: pageOf(Feature),
      handle: async (call) => {
        const { archived } = call.query;
        const catalog = await readCatalog(cellOf, call);
        const features = [...catalog.features.values()].filter(({ archivedAt }) =>
          isWanted(archived, archivedAt),
        );
        const { items, nextCursor } = pageByKey(sortByKey(features), call.query);
        return { items: await describeFeatures(cellOf, call, catalog, items), nextCursor };
      },
    }),
    operation({
      method: "GET",
      path: FEATURE_PATH,
      access: { role: "viewer", in: "environment" },
      id: "readFeature",
      noun: NOUN,
      summary: "Read a feature",
      description: "When you edit the feature, send the `ETag` header of this response as `If-Match`.",
      params: featureParams,
      answer: Feature,
      handle: async (call) => answer(cellOf, call, await readCatalog(cellOf, call)),
    }),
    operation({
      method: "PUT",
      path: FEATURE_PATH,
      access: { role: "admin", in: "environment" },
      id: "putFeature",
      noun: NOUN,
      summary: "Create or edit a feature",
      description:
        "To edit a feature, send its `ETag` as `If-Match`. To create a feature, omit the header. A new cost or pool applies to a plan only " +
        "after the plan is published again. Until then, the plan uses the cost and pool pinned in its version.",
      params: featureParams,
      headers: preconditionHeaders,
      body: strictObject(featureInput),
      answer: Feature,
      codes: ["unknown_key", "changed_meanwhile", "precondition_required", "catalog_too_large"],
      handle: async (call) => {
        const { name, unit = null, pool = "credits", cost } = call.body;
        const { key } = call.params;
        const outcome = await defineFeature(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key, name, unit, pool, cost: { credits: cost.credits, per: cost.per ?? 1 } },
          readPreconditions(call.request),
        );
        switch (outcome.kind) {
          case "defined":
            return afterCommit(() => answer(cellOf, call, outcome.catalog));
          case "pool_not_found":
            throw unknownKey({ noun: "pool", key: pool });
          case "changed_meanwhile":
          case "precondition_required":
            throw preconditionProblem(outcome);
          default:
            return assertNever(outcome);
        }
      },
    }),
    operation({
      method: "POST",
      path: `${FEATURE_PATH}/archive`,
      access: { role: "admin", in: "environment" },
      id: "archiveFeature",
      noun: NOUN,
      summary: "Archive or unarchive a feature",
      description:
        "An archived feature cannot be added to more plans. Plans that include the feature keep it.",
      params: featureParams,
      headers: preconditionHeaders,
      body: archiveInput,
      answer: Feature,
      codes: ["changed_meanwhile"],
      handle: async (call) => {
        const outcome = await archiveFeature(
          cellOf(scopeOf(call)),
          contextOf(call),
          { key: call.params.key, archived: call.body?.archived ?? true },
          readPreconditions(call.request),
        );
        switch (outcome.kind) {
          case "archived":
            return afterCommit(() => answer(cellOf, call, outcome.catalog));
          case "feature_not_found":
            throw missing("feature");
          case "changed_meanwhile":
          case "precondition_required":
            throw preconditionProblem(outcome);
          default:
            return assertNever(outcome);
        }
      },
    }),
  ];
}

function readCatalog(cellOf: ManageParts["cellOf"], call: Call): Promise<Catalog> {
  const { environmentId } = scopeOf(call);
  return single(cellOf(scopeOf(call)), (tx) => loadCatalog(tx, environmentId));
}

async function answer(
  cellOf: ManageParts["cellOf"],
  call: Call<{ key: string }>,
  catalog: Catalog,
): Promise<Feature> {
  const feature = catalog.features.get(brandAs<FeatureKey>(call.params.key));
  if (feature === undefined) throw missing("feature");
  call.reply.header("etag", etagOf(featureContent(catalog, feature)));
  const [described] = await describeFeatures(cellOf, call, catalog, [feature]);
  assert(described !== undefined, "each feature is described");
  return described;
}

/** Describes features with the plans that include them. The query result matches the loaded catalog, because plan versions never change. */
async function describeFeatures(
  cellOf: ManageParts["cellOf"],
  call: Call,
  catalog: Catalog,
  features: readonly CatalogFeature[],
): Promise<Feature[]> {
  const { environmentId } = scopeOf(call);
  const versions = [...catalog.plans.values()].map((plan) => latestVersion(plan).id);
  const ids = features.map(({ id }) => id);
  const users = await single(cellOf(scopeOf(call)), (tx) =>
    findVersionsWith(tx, environmentId, versions, ids),
  );
  return features.map((feature) => describeFeature(catalog, feature, users.get(feature.id) ?? []));
}

export const Feature = Type.Object({
  key: Type.String({ examples: ["image.generate"] }),
  name: Type.String({ examples: ["Image rendering"] }),
  unit: nullable(Type.String({ description: "The unit in which usage is counted.", examples: ["image"] })),
  pool: Type.String({ description: "Key of the pool to spend from.", examples: ["credits"] }),
  cost: Cost,
  archivedAt: nullable(timeField),
  usedBy: Type.Array(Type.String(), {
    description: "Keys of the plans whose latest version includes the feature.",
    examples: [["pro"]],
  }),
});

type Feature = Static<typeof Feature>;

/** `users` are the plan versions that include the feature. */
function describeFeature(
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
    archivedAt: timeOrNull(archivedAt),
    usedBy: users.map((id) => getPlan(catalog, getVersion(catalog, id).plan).key).sort(compareKeys),
  };
}
