import { type Static, Type } from "typebox";
import { single } from "../../postgres/transaction.ts";
import { assert, assertNever } from "../../primitives/assert.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findScope, type Scope } from "../../store/control/scopes.ts";
import type { Context } from "../context.ts";
import { nullable, strictObject } from "../fields.ts";
import {
  actorOf,
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  PROJECT_PATH,
  principalOf,
  projectParams,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import {
  type ApplyOutcome,
  applyCatalog,
  type CatalogSource,
  type DiffOutcome,
  diffCatalog,
  exportCatalog,
  readContent,
} from "./apply-catalog.ts";
import { DOCUMENT_BODY_BYTES_MAX } from "./bounds.ts";
import type { CatalogContent } from "./content.ts";
import { CatalogDocument, readDocument, toDocument } from "./document.ts";
import { etagOfText, preconditionProblem } from "./preconditions.ts";
import { stillDefault, unknownKey } from "./problems.ts";
import { applyOptions, CatalogApplied, CatalogDiff, diffOptions } from "./schema.ts";

const NOUN = "Catalog";
const CODES_OF_DIFF = ["unknown_key", "in_use"] as const;
const CODES_OF_APPLY = [
  ...CODES_OF_DIFF,
  "changed_meanwhile",
  "catalog_too_large",
  "upgrade_unfinished",
] as const;

/** Exports, compares and applies catalogs, and promotes Test to Live. */
export function catalogOperations({ control, cellOf }: ManageParts): Operation[] {
  /** Finds the live environment of a promotion, because the path names only the project. */
  const findLive = async (call: Call): Promise<Scope> => {
    const { projectId } = scopeOf(call);
    const { workspaceId } = principalOf(call);
    const sought = { workspaceId, projectId, environment: "live" } as const;
    const live = await single(control, (tx) => findScope(tx, sought));
    assert(live !== null, "a project has both its environments");
    return live;
  };
  const contextOfLive = async (call: Call): Promise<Context> => {
    const { projectId, environmentId } = await findLive(call);
    return { projectId, environmentId, actor: actorOf(call) };
  };
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/catalog`,
      access: { role: "viewer", in: "environment" },
      id: "exportCatalog",
      noun: NOUN,
      summary: "Export the catalog as one document",
      description:
        "Returns the catalog as a document, sorted by key, with the latest version of each plan. Environments with the same catalog " +
        "return the same document. You can keep the document in a repository, and apply it to any environment. Drafts are not included.",
      params: Type.Object(environmentParams),
      answer: CatalogDocument,
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const document = toDocument(await exportCatalog(cellOf(scopeOf(call)), environmentId));
        call.reply.header("etag", etagOfText(JSON.stringify(document)));
        return document;
      },
    }),
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/catalog/diff`,
      access: { role: "viewer", in: "environment" },
      id: "diffCatalog",
      noun: NOUN,
      summary: "Preview applying a document",
      description: "Returns what `apply` would change with the same body. Writes nothing.",
      params: Type.Object(environmentParams),
      body: strictObject({ catalog: CatalogDocument, ...diffOptions }),
      bodyBytesMax: DOCUMENT_BODY_BYTES_MAX,
      answer: CatalogDiff,
      codes: CODES_OF_DIFF,
      handle: async (call) => {
        const { catalog, archiveMissing = false } = call.body;
        const cell = cellOf(scopeOf(call));
        return answerDiff(await diffCatalog(cell, contextOf(call), fileOf(catalog), { archiveMissing }));
      },
    }),
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/catalog/apply`,
      access: { role: "admin", in: "environment" },
      id: "applyCatalog",
      noun: NOUN,
      summary: "Apply a document",
      description:
        "Applies the document in one transaction, either completely or not at all.\n\n" +
        "- Safe to repeat: items that already match are not changed.\n" +
        "- Nothing is deleted. Items missing from the document are kept.\n" +
        "- With `archiveMissing`, missing plans are archived if the document has `plans`. Missing features are archived if the document " +
        "has `features`.\n" +
        "- If a plan's terms differ, a new version is published. `reach` sets which customers get that version.",
      params: Type.Object(environmentParams),
      body: strictObject({ catalog: CatalogDocument, ...applyOptions }),
      bodyBytesMax: DOCUMENT_BODY_BYTES_MAX,
      answer: CatalogApplied,
      codes: CODES_OF_APPLY,
      handle: async (call) => {
        const { catalog, ...options } = call.body;
        const cell = cellOf(scopeOf(call));
        return answerApply(await applyCatalog(cell, contextOf(call), fileOf(catalog), readOptions(options)));
      },
    }),
    operation({
      method: "POST",
      path: `${PROJECT_PATH}/promote/diff`,
      access: { role: "viewer", in: "project" },
      id: "diffPromotion",
      noun: NOUN,
      summary: "Preview promoting Test to Live",
      description: "Returns what `promote` would change with the same body. Writes nothing.",
      params: Type.Object(projectParams),
      body: nullable(strictObject(diffOptions)),
      answer: CatalogDiff,
      codes: CODES_OF_DIFF,
      handle: async (call) => {
        const archiveMissing = call.body?.archiveMissing ?? false;
        const context = await contextOfLive(call);
        const source = catalogOf(scopeOf(call).environmentId);
        return answerDiff(await diffCatalog(cellOf(scopeOf(call)), context, source, { archiveMissing }));
      },
    }),
    operation({
      method: "POST",
      path: `${PROJECT_PATH}/promote`,
      access: { role: "admin", in: "project" },
      id: "promoteCatalog",
      noun: NOUN,
      summary: "Promote the test catalog to Live",
      description:
        "Applies the exported test catalog to Live, with the same rules as `apply`. Items that are archived in Test and do not exist " +
        "in Live are left out, except features that a promoted plan uses. Customers, balances and drafts are not copied.",
      params: Type.Object(projectParams),
      body: strictObject(applyOptions),
      answer: CatalogApplied,
      codes: CODES_OF_APPLY,
      handle: async (call) => {
        const context = await contextOfLive(call);
        const source = catalogOf(scopeOf(call).environmentId);
        return answerApply(
          await applyCatalog(cellOf(scopeOf(call)), context, source, readOptions(call.body)),
        );
      },
    }),
  ];
}

function fileOf(catalog: CatalogDocument): CatalogSource {
  const given = readDocument(catalog);
  return async () => given;
}

type Options = {
  readonly reach: Parameters<typeof applyCatalog>[3]["reach"];
  readonly archiveMissing?: boolean;
  readonly expectedVersion?: number;
};

function readOptions({ reach, archiveMissing = false, expectedVersion }: Options) {
  return { reach, archiveMissing, expectedVersion: expectedVersion ?? null };
}

function answerDiff(outcome: DiffOutcome): Static<typeof CatalogDiff> {
  switch (outcome.kind) {
    case "compared":
      return { version: outcome.version, changes: [...outcome.changes] };
    case "unknown_key":
      throw unknownKey(outcome);
    case "still_default":
      throw stillDefault(outcome.key);
    default:
      return assertNever(outcome);
  }
}

function answerApply(outcome: ApplyOutcome): Static<typeof CatalogApplied> {
  switch (outcome.kind) {
    case "applied":
    case "unchanged":
      return { outcome: outcome.kind, version: outcome.version, changes: [...outcome.changes] };
    case "unknown_key":
      throw unknownKey(outcome);
    case "still_default":
      throw stillDefault(outcome.key);
    case "changed_meanwhile":
    case "precondition_required":
      throw preconditionProblem(outcome);
    default:
      return assertNever(outcome);
  }
}

/** Reads another environment's catalog as the document to apply. */
function catalogOf(environmentId: EnvironmentId): CatalogSource {
  return async (tx, target) => {
    const content = await readContent(tx, environmentId, await loadCatalog(tx, environmentId));
    return readDocument(toDocument(withoutLeftovers(content, target)));
  };
}

/** Leaves out archived items that the target does not have, except features that a promoted plan uses. */
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
