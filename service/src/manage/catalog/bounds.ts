import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../primitives/brand.ts";
import { measureCatalog } from "../../store/cell/catalog-row.ts";
import type { PlanContent } from "./content.ts";

// Edits and documents have the same limits, so that every catalog can be exported and every export can be applied.

/** Maximum number of each kind of item (pools, features, plans, event keys) in an environment, and of features in a plan. */
export const THINGS_MAX = 2_000;
/** Maximum number of thresholds of a pool. */
export const LOW_BALANCES_MAX = 10;
/** Size in bytes of a pool's thresholds in a document. Each has at most 13 digits. */
const LOW_BALANCES_BYTES_MAX = LOW_BALANCES_MAX * 14;
/** Maximum size of the whole catalog as a document. 200 plans with 1,000 features each take up to 25 MB. */
export const DOCUMENT_BYTES_MAX = 32 * 1024 * 1024;
/** Body limit for a document and its options. */
export const DOCUMENT_BODY_BYTES_MAX = DOCUMENT_BYTES_MAX + 64 * 1024;
/** Body limit for a plan. Enough for 2,000 features with keys of maximum length. */
export const PLAN_BODY_BYTES_MAX = 1024 * 1024;

/** Size in bytes of a plan in a document, without the plan's name. Assumes that all costs are pinned, which takes the most space. */
export function planBytes({ key, allowances, features }: PlanContent): number {
  const pinned = features.map(({ feature, limit, ...terms }) => ({ feature, limit, pinned: terms }));
  return Buffer.byteLength(
    `${JSON.stringify({ key, name: "", allowances, features: pinned, archived: true })},`,
  );
}

/** Rolls back the edit by throwing a problem if the catalog exceeds its limits. */
export async function refuseLargeCatalog(tx: Tx, environmentId: EnvironmentId): Promise<void> {
  const { bytes: bytesWithoutThresholds, counts } = await measureCatalog(tx, environmentId);
  for (const [noun, count] of Object.entries(counts)) {
    if (count > THINGS_MAX) throw tooLarge(`An environment can have at most ${THINGS_MAX} ${noun}.`);
  }
  const bytes = bytesWithoutThresholds + counts.pools * LOW_BALANCES_BYTES_MAX;
  if (bytes > DOCUMENT_BYTES_MAX)
    throw tooLarge(`The catalog document would have ${bytes} bytes. The limit is ${DOCUMENT_BYTES_MAX}.`);
}

function tooLarge(detail: string): Problem {
  return new Problem("catalog_too_large", { detail });
}
