import type { Pool } from "../postgres/pool.ts";
import { single } from "../postgres/transaction.ts";
import { ensurePartitions } from "../store/cell/partitions.ts";

const MONTHS_AHEAD = 3;

/** Partitions of the next three months exist before anything is written into them. Cheap when they do. */
export function keepPartitions(cell: Pool): Promise<number> {
  return single(cell, (tx) => ensurePartitions(tx, { monthsBack: 0, monthsAhead: MONTHS_AHEAD }));
}
