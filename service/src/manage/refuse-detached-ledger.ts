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
    detail: `Months of the ledger before ${formatTimestamp(wholeSince)} are detached: nothing that needs them can be told until they are attached again.`,
  });
}

const DAY_MS = 24 * 3_600_000;

/**
 * For whoever reads a charge of that moment with its reversals, of which one may be in a month that is out. To be made before they
 * are read, and asked once they were: a month may come or go meanwhile.
 */
export class KnownReversals {
  readonly #tx: Tx;
  readonly #wholeSince: Instant | null;

  private constructor(tx: Tx, wholeSince: Instant | null) {
    this.#tx = tx;
    this.#wholeSince = wholeSince;
  }

  static async before(tx: Tx): Promise<KnownReversals> {
    return new KnownReversals(tx, await findWholeLedgerSince(tx));
  }

  /** After a failover to a slower clock a reversal may have been recorded before its charge. */
  async refuseUnknown(chargedAt: Instant): Promise<void> {
    const since = brandAs<Instant>(chargedAt - DAY_MS);
    refuse(this.#wholeSince, since);
    await refuseDetachedLedger(this.#tx, since);
  }
}
