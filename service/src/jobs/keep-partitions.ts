import type { Pool } from "../postgres/pool.ts";
import { transaction } from "../postgres/transaction.ts";
import { ensurePartitions } from "../store/cell/partitions.ts";
import { countMonthsPassedBy, rememberFirstMonth } from "../store/cell/usage/attached-months.ts";

const MONTHS_AHEAD = 3;

/** Creates the partitions for the next three months, and missing partitions for past months. Cheap if no partition is missing. */
export function keepPartitions(cell: Pool): Promise<number> {
  return transaction(cell, async (tx) => {
    const monthsBack = await countMonthsPassedBy(tx);
    const made = await ensurePartitions(tx, { monthsBack, monthsAhead: MONTHS_AHEAD });
    await rememberFirstMonth(tx);
    return made;
  });
}
