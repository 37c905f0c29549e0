import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { findWholeLedgerSince } from "../store/cell/usage/attached-months.ts";
import type { Instant } from "../words/brand.ts";
import { formatTimestamp } from "../words/timestamp.ts";

/** For what needs every entry since a moment, or, without one, since the first: else it would be told wrong figures. */
export async function refuseDetachedLedger(tx: Tx, from: Instant | null): Promise<void> {
  const wholeSince = await findWholeLedgerSince(tx);
  if (wholeSince === null || (from !== null && wholeSince <= from)) return;
  throw new Problem("not_found", {
    detail: `Months of the ledger before ${formatTimestamp(wholeSince)} are detached: nothing that needs them can be told until they are attached again.`,
  });
}
