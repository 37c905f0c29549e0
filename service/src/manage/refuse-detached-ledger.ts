import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { findWholeLedgerSince } from "../store/cell/usage/attached-months.ts";

/** For what needs every entry since a moment, or, without one, since the first: else it would be told wrong figures. */
export async function refuseDetachedLedger(tx: Tx, from: Instant | null): Promise<void> {
  const wholeSince = await findWholeLedgerSince(tx);
  if (wholeSince === null || (from !== null && wholeSince <= from)) return;
  throw detached(wholeSince, "nothing that needs them can be told until they are attached again");
}

function detached(wholeSince: Instant, consequence: string): Problem {
  return new Problem("ledger_detached", {
    detail: `The ledger is whole only since ${formatTimestamp(wholeSince)}, as months before are detached: ${consequence}.`,
  });
}

/** After a failover to a slower clock a reversal may have been recorded before its charge. */
const AHEAD_MAX_MS = 24 * 3_600_000;

/** Of a charge of that moment, whose reversals were read: one may be in a month that is out. */
export async function refuseUnknownReversals(tx: Tx, chargedAt: Instant): Promise<void> {
  refuseReversal(await findWholeLedgerSince(tx), chargedAt);
}

function refuseReversal(wholeSince: Instant | null, chargedAt: Instant): void {
  if (wholeSince === null) return;
  const reversibleSince = brandAs<Instant>(wholeSince + AHEAD_MAX_MS);
  if (chargedAt >= reversibleSince) return;
  const since = formatTimestamp(reversibleSince);
  throw detached(wholeSince, `a charge before ${since} may have been reversed in them already`);
}

/**
 * The same for who reads them by several statements, none of which sees what another one saw: a month may come or go meanwhile. To
 * be called before them, and what it returns after them.
 */
export async function watchReversals(tx: Tx, chargedAt: Instant): Promise<() => Promise<void>> {
  const wholeBefore = await findWholeLedgerSince(tx);
  return async () => {
    refuseReversal(wholeBefore, chargedAt);
    await refuseUnknownReversals(tx, chargedAt);
  };
}
