import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { findWholeLedgerSince } from "../store/cell/usage/attached-months.ts";

/** Throws if a ledger month with entries at or after `from` is detached. If `from` is null, throws if any month is detached. */
export async function refuseDetachedLedger(tx: Tx, from: Instant | null): Promise<void> {
  const wholeSince = await findWholeLedgerSince(tx);
  if (wholeSince === null || (from !== null && wholeSince <= from)) return;
  throw detached(wholeSince, "attach them again to get this result");
}

function detached(wholeSince: Instant, consequence: string): Problem {
  return new Problem("ledger_detached", {
    detail: `Ledger months before ${formatTimestamp(wholeSince)} are detached: ${consequence}.`,
  });
}

/** After a failover to a server whose clock is behind, a reversal may be recorded with an earlier time than its charge. */
const AHEAD_MAX_MS = 24 * 3_600_000;

/** Rejects reversing a charge if earlier reversals of this charge may be in a detached month. */
export async function refuseUnknownReversals(tx: Tx, chargedAt: Instant): Promise<void> {
  refuseReversal(await findWholeLedgerSince(tx), chargedAt);
}

function refuseReversal(wholeSince: Instant | null, chargedAt: Instant): void {
  if (wholeSince === null) return;
  const reversibleSince = brandAs<Instant>(wholeSince + AHEAD_MAX_MS);
  if (chargedAt >= reversibleSince) return;
  const since = formatTimestamp(reversibleSince);
  throw detached(wholeSince, `a charge before ${since} may already have been reversed in them`);
}

/**
 * Like `refuseUnknownReversals`, but checks before and after several statements. A month may be detached or attached between
 * two statements, because each statement has a separate snapshot. Call this function before the statements, and the returned function
 * afterward.
 */
export async function watchReversals(tx: Tx, chargedAt: Instant): Promise<() => Promise<void>> {
  const wholeBefore = await findWholeLedgerSince(tx);
  return async () => {
    refuseReversal(wholeBefore, chargedAt);
    await refuseUnknownReversals(tx, chargedAt);
  };
}
