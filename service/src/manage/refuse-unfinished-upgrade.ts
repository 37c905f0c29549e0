import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { readDataFormat } from "../store/cell/data-format.ts";

/** Rejects a change that an older release could not read, until the operator has finished the upgrade (decision 19). */
export async function refuseUnfinishedUpgrade(
  tx: Tx,
  { feature, dataFormat }: { readonly feature: string; readonly dataFormat: number },
): Promise<void> {
  const current = await readDataFormat(tx);
  if (current >= dataFormat) return;
  throw new Problem("upgrade_unfinished", {
    detail:
      `${feature} needs data format ${dataFormat}, and the database has ${current}. ` +
      "Finish the upgrade with `purser migrate --finish` once every process runs this release.",
  });
}
