import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { measureCatalog } from "../../store/cell/catalog-row.ts";
import type { PlanContent } from "./content.ts";

// One bound for all ways into a catalog: what edits could put there can be exported, and what was exported can be applied.

/** Of each kind: pools, features, plans, names of event keys; and features in a plan. */
export const THINGS_MAX = 2_000;
/** Of the whole catalog as a document. 200 plans that include 1,000 features each take up to 25 MB. */
export const DOCUMENT_BYTES_MAX = 32 * 1024 * 1024;
/** Of a body with a document in it, beside which it says little else. */
export const DOCUMENT_BODY_BYTES_MAX = DOCUMENT_BYTES_MAX + 64 * 1024;
/** Of a body with a plan in it: 2,000 features by keys of any length. */
export const PLAN_BODY_BYTES_MAX = 1024 * 1024;

/** Of a plan's part of a document, its name left aside: with all that it pins, as other costs of features may make necessary. */
export function planBytes({ key, allowances, features }: PlanContent): number {
  const pinned = features.map(({ feature, limit, ...terms }) => ({ feature, limit, pinned: terms }));
  return Buffer.byteLength(
    `${JSON.stringify({ key, name: "", allowances, features: pinned, archived: true })},`,
  );
}

/** Throws, so that the edit is taken back, when it has left more than an environment may have. */
export async function refuseLargeCatalog(tx: Tx, environmentId: EnvironmentId): Promise<void> {
  const { bytes, counts } = await measureCatalog(tx, environmentId);
  for (const [noun, count] of Object.entries(counts)) {
    if (count > THINGS_MAX)
      throw tooLarge(`An environment may have ${THINGS_MAX} ${noun}, and this would be one more than that.`);
  }
  if (bytes > DOCUMENT_BYTES_MAX)
    throw tooLarge(
      `As a document the catalog would have ${bytes} bytes. It may have ${DOCUMENT_BYTES_MAX}, so that it can be applied again.`,
    );
}

function tooLarge(detail: string): Problem {
  return new Problem("catalog_too_large", { detail });
}
