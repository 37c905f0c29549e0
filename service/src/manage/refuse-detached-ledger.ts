import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { findWholeLedgerSince } from "../store/cell/usage/attached-months.ts";
import { brandAs, type Instant } from "../words/brand.ts";
import { formatTimestamp } from "../words/timestamp.ts";

/** For what needs every entry since a moment, or, without one, since the first: else it would be told wrong figures. */
export async function refuseDetachedLedger(tx: Tx, from: Instant | null): Promise<void> {
  const wholeSince = await findWholeLedgerSince(tx);
  if (wholeSince === null || (from !== null && wholeSince <= from)) return;
  throw new Problem("not_found", {
    detail: `Months of the ledger before ${formatTimestamp(wholeSince)} are detached: nothing that needs them can be told until they are attached again.`,
  });
}

const DAY_MS = 24 * 3_600_000;

/**
 * Of a charge of that moment, once it and its reversals were read: one may be in a month that is out. After a failover to a slower
 * clock a reversal may have been recorded before its charge.
 */
export function refuseUnknownReversals(tx: Tx, chargedAt: Instant): Promise<void> {
  return refuseDetachedLedger(tx, brandAs<Instant>(chargedAt - DAY_MS));
}
