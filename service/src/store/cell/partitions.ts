import { readInteger } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";

const ENSURE = statement("partitions.ensure", "select cell.ensure_monthly_partitions($1, $2)");

/** Creates missing partitions for this month, `monthsBack` earlier and `monthsAhead` later months. Returns how many were created. */
export async function ensurePartitions(
  tx: Tx,
  options: { monthsBack: number; monthsAhead: number },
): Promise<number> {
  const { rows } = await tx.run(ENSURE, [options.monthsBack, options.monthsAhead]);
  return readInteger(rows[0]?.[0]);
}
