import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { readDataFormat } from "../store/cell/data-format.ts";

/** Rejects a change that an older release could not read, until an administrator has finished the upgrade (decision 19). */
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

/** The first data format in which changes to wallets can have notices. */
const DATA_FORMAT_OF_NOTICES = 2;

/** Rejects a feature that makes changes to wallets have notices, until the upgrade is finished. */
export function refuseEarlyNotices(tx: Tx, feature: "Low balances" | "Webhooks" | "Alerts"): Promise<void> {
  return refuseUnfinishedUpgrade(tx, { feature, dataFormat: DATA_FORMAT_OF_NOTICES });
}

/** The first data format in which charges can have overage. */
const DATA_FORMAT_OF_OVERAGE = 2;

/** Rejects terms with overage until the upgrade is finished. */
export async function refuseEarlyOverage(
  tx: Tx,
  allowances: readonly { readonly overage: number | null }[],
): Promise<void> {
  if (allowances.some(({ overage }) => overage !== 0))
    await refuseUnfinishedUpgrade(tx, { feature: "Overage", dataFormat: DATA_FORMAT_OF_OVERAGE });
}
