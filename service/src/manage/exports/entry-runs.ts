import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { type EntryRun, type LedgerOwner, listLedgerOwners } from "../../store/cell/export-rows.ts";
import { findLastBefore } from "../../store/cell/ledger-balances.ts";
import { type Position, ROWS_MAX } from "./source.ts";

const OWNERS_MAX = 500;

/** Splits the ledgers of an environment into runs of one statement. Sometimes yields none, so that the export can be ended. */
export async function* entryRuns(
  { cell, environmentId, from }: { cell: Pool; environmentId: EnvironmentId; from: Instant },
  start: Position | null,
): AsyncGenerator<readonly EntryRun[]> {
  const [firstOwner, firstEntry] = start ?? [0, 0];
  let runs: EntryRun[] = [];
  let room = ROWS_MAX;
  for (let next: number | null = firstOwner; next !== null; ) {
    const page: LedgerOwner[] = await single(cell, (tx) =>
      listLedgerOwners(tx, environmentId, { from: next ?? 0, limit: OWNERS_MAX }),
    );
    for (const owner of page) {
      const done = owner.customerNumber === firstOwner ? Number(firstEntry) : 0;
      let after = Math.max(done, await skipTo(cell, { environmentId, owner, from }));
      while (after < owner.sequence) {
        const until = Math.min(owner.sequence, after + room);
        runs.push({ owner, after, until });
        room -= until - after;
        after = until;
        if (room > 0) continue;
        yield runs;
        runs = [];
        room = ROWS_MAX;
      }
    }
    yield [];
    const last = page.at(-1);
    next = last === undefined || page.length < OWNERS_MAX ? null : last.customerNumber + 1;
  }
  if (runs.length > 0) yield runs;
}

/** The entry before the export's start, so that a long ledger is not read from its beginning. */
async function skipTo(
  cell: Pool,
  { environmentId, owner, from }: { environmentId: EnvironmentId; owner: LedgerOwner; from: Instant },
): Promise<number> {
  if (from === 0 || owner.sequence <= ROWS_MAX) return 0;
  const { customerNumber, sequence: last } = owner;
  return single(cell, (tx) =>
    findLastBefore(tx, { environmentId, customerNumber }, { last, at: from, isWholeSince: false }),
  );
}
