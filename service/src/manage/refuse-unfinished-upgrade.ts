import { Problem } from "../edge/problem.ts";
import type { Tx } from "../postgres/statement.ts";
import { single } from "../postgres/transaction.ts";
import { readDataFormat } from "../store/cell/data-format.ts";
import type { ManageParts } from "./parts.ts";

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

/** The first data format in which members can have roles in projects. Release 0.1 reads only the role in the whole workspace. */
const DATA_FORMAT_OF_PROJECT_ROLES = 2;

/** Rejects roles in projects until the upgrade is finished. */
export function refuseEarlyProjectRoles(tx: Tx): Promise<void> {
  const dataFormat = DATA_FORMAT_OF_PROJECT_ROLES;
  return refuseUnfinishedUpgrade(tx, { feature: "A role in a project", dataFormat });
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

/** The first data format whose releases ask for a second factor. Earlier releases log in every member with a password alone. */
const DATA_FORMAT_OF_PASSKEYS = 2;
/** The cell whose data format counts for the whole installation. */
const MAIN_CELL = "main";

/** Rejects passkeys, and requiring them, until the upgrade is finished. */
export function refuseEarlySecondFactor(cellNamed: ManageParts["cellNamed"]): Promise<void> {
  return single(cellNamed(MAIN_CELL), (tx) =>
    refuseUnfinishedUpgrade(tx, { feature: "A second factor", dataFormat: DATA_FORMAT_OF_PASSKEYS }),
  );
}
