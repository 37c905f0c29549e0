import type { Catalog } from "../entitlement/catalog.ts";
import type { Change } from "../entitlement/entry.ts";
import type { Wallet } from "../entitlement/wallet.ts";
import { MissingData } from "../postgres/missing-data.ts";
import type { Tx } from "../postgres/statement.ts";
import type { Instant } from "../primitives/brand.ts";
import { loadCatalogs } from "../store/cell/catalogs.ts";
import { readClock } from "../store/cell/clock.ts";
import { latestDecision, viewDueHolds } from "../store/cell/due-holds.ts";
import { WalletChanges, writeChanges } from "../store/cell/wallet-changes.ts";
import { lockSweptWallets, type SweptWallet } from "../store/cell/wallet-sweep.ts";
import type { WalletName } from "../store/cell/wallets.ts";

type Decide = (catalog: Catalog, wallet: Wallet, clock: Instant) => Change | null;

type IdleChanges = {
  /** Locked wallets for which nothing was due. */
  readonly unchanged: readonly SweptWallet[];
  readonly changed: number;
  /** How many damaged wallets were skipped. */
  readonly undecided: number;
};

/** Writes what is due for wallets without requests. Skips locked wallets, because the transaction that holds the lock writes it. */
export async function changeIdleWallets(
  tx: Tx,
  names: readonly WalletName[],
  decide: Decide,
): Promise<IdleChanges> {
  if (names.length === 0) return { unchanged: [], changed: 0, undecided: 0 };
  const environments = [...new Set(names.map(({ environmentId }) => environmentId))];
  await loadCatalogs(tx, environments);
  const found = await lockSweptWallets(tx, names);
  // Reads the catalogs and clock after locking, as for a consume request, because the catalogs may have changed.
  const catalogs = await loadCatalogs(tx, environments);
  const clock = await readClock(tx);
  const decided = found.map(({ wallet }) => wallet);
  const until = latestDecision(decided, { clock, catalogs: [...catalogs.values()] });
  const locked = await viewDueHolds(tx, found, (wallet) => wallet, until);
  const changes = new WalletChanges();
  const unchanged: SweptWallet[] = [];
  let undecided = 0;
  for (const { environmentId, customerNumber, wallet } of locked) {
    const catalog = catalogs.get(environmentId);
    let change: Change | null = null;
    try {
      if (catalog !== undefined) change = decide(catalog, wallet, clock);
    } catch (error) {
      if (error instanceof MissingData) throw error;
      // A damaged wallet, such as a wallet with an unknown plan, must not stop the job.
      undecided += 1;
    }
    if (change === null) unchanged.push({ environmentId, customerNumber, wallet });
    else changes.add({ environmentId, customerNumber }, change);
  }
  for (const written of writeChanges(tx, changes, clock)) await written;
  return { unchanged, changed: changes.wallets.size, undecided };
}
