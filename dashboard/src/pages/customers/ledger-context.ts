import type { Whose } from "./audit-actors.ts";
import type { Entry, FeatureName, Grant, LedgerLine } from "./ledger-queries.ts";
import type { Twin } from "./ledger-twins.ts";

/** What a line of the ledger is told with. */
export type LedgerContext = {
  readonly whose: Whose;
  readonly lines: readonly LedgerLine[];
  readonly grants: readonly Grant[];
  readonly features: readonly FeatureName[];
  readonly twins: ReadonlyMap<number, Twin>;
  readonly mayReverse: boolean;
};

/** How much of a charge's quantity was not reversed. */
export function leftOf({ kind, quantity, reversedQuantity }: Entry): number {
  return kind === "consume" ? (quantity ?? 0) - (reversedQuantity ?? 0) : 0;
}
