import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { findWholeLedgerSince } from "../store/cell/usage/attached-months.ts";
import { brandAs, type Instant } from "../words/brand.ts";
import { formatTimestamp } from "../words/timestamp.ts";

/** For what needs every entry since a moment, or, without one, since the first: else it would be told wrong figures. */
export async function refuseDetachedLedger(tx: Tx, from: Instant | null): Promise<void> {
  refuse(await findWholeLedgerSince(tx), from);
}

function refuse(wholeSince: Instant | null, from: Instant | null): void {
  if (wholeSince === null || (from !== null && wholeSince <= from)) return;
  throw new Problem("ledger_detached", {
    detail: `The ledger is whole only since ${formatTimestamp(wholeSince)}, as months before are detached: nothing that needs them can be told until they are attached again.`,
  });
}

const DAY_MS = 24 * 3_600_000;

/**
 * Of a charge of that moment, whose reversals were read: one may be in a month that is out. After a failover to a slower clock a
 * reversal may have been recorded before its charge.
 */
export function refuseUnknownReversals(tx: Tx, chargedAt: Instant): Promise<void> {
  return refuseDetachedLedger(tx, dayBefore(chargedAt));
}

/**
 * The same for who reads them by several statements, none of which sees what another one saw: a month may come or go meanwhile. To
 * be called before them, and what it returns after them.
 */
export async function watchReversals(tx: Tx, chargedAt: Instant): Promise<() => Promise<void>> {
  const wholeBefore = await findWholeLedgerSince(tx);
  return async () => {
    refuse(wholeBefore, dayBefore(chargedAt));
    await refuseUnknownReversals(tx, chargedAt);
  };
}

function dayBefore(at: Instant): Instant {
  return brandAs<Instant>(at - DAY_MS);
}
