import type { Catalog } from "../../entitlement/catalog.ts";
import type { Entry } from "../../entitlement/entry.ts";
import { Fold, type ReversedConsume } from "../../entitlement/fold.ts";
import { reversedConsumes } from "../../entitlement/reversed-consumes.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { loadCatalog, readCatalogVersions } from "../../store/cell/catalogs.ts";
import { listGrants } from "../../store/cell/verify/grants.ts";
import { type ConsumePlace, listEntries, listReversed, type Run } from "../../store/cell/verify/ledger.ts";
import { BEFORE_ALL } from "../../store/cell/verify/walk.ts";
import { listWallets, type WalletRow } from "../../store/cell/verify/wallets.ts";
import type { EnvironmentId } from "../../words/brand.ts";
import type { Checked, Mismatch } from "./report.ts";

const WALLETS_MAX = 250;
/** Of ledger entries or grants: even from a cold disk a statement stays well below a second. */
const ROWS_MAX = 500;

type Catalogs = ReadonlyMap<EnvironmentId, Catalog>;
type ReadableRow = WalletRow & { readonly wallet: Wallet };

/**
 * Every wallet against its ledger, while the service goes on writing both. A wallet is read with its last entry's
 * number; the entries up to there never change, so that they can be read afterwards, a few at a time.
 */
export async function verifyWallets(tx: Tx, checked: Checked): Promise<Mismatch | null> {
  let catalogs: Catalogs = new Map();
  let page = await listWallets(tx, BEFORE_ALL, WALLETS_MAX);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    // After the wallets, so that every version which they name is there.
    catalogs = await readCatalogs(tx, page, catalogs);
    const readable: ReadableRow[] = [];
    for (const row of page) {
      const { wallet } = row;
      const flaw = findFlaw(row);
      if (wallet === null || flaw !== null)
        return { ...row, text: flaw ?? "its wallet is in a form that cannot be read" };
      readable.push({ ...row, wallet });
    }
    for (const batch of batchesOf(readable)) {
      const mismatch = await verifyBatch(tx, batch, catalogs, checked);
      if (mismatch !== null) return mismatch;
    }
    page = await listWallets(tx, last, WALLETS_MAX);
  }
  return null;
}

/** What one row shows by itself, so that what is read afterwards is as much as it says. */
function findFlaw({ customerId, wallet, lastEntry, lastGrant }: WalletRow): string | null {
  if (customerId === null) return "there is a wallet, and no customer";
  if (wallet === null) return null;
  if (lastEntry !== wallet.sequence)
    return `the wallet is at entry ${wallet.sequence}, its ledger at ${lastEntry}`;
  if (lastGrant !== wallet.grantCount)
    return `the wallet counts ${wallet.grantCount} grants, and the last one is ${lastGrant}`;
  return null;
}

/** Only those of the page: an installation may have thousands. */
async function readCatalogs(tx: Tx, page: readonly WalletRow[], known: Catalogs): Promise<Catalogs> {
  const environments = [...new Set(page.map(({ environmentId }) => environmentId))];
  const versions = await readCatalogVersions(tx, environments);
  const catalogs = new Map<EnvironmentId, Catalog>();
  for (const environmentId of environments) {
    const catalog = known.get(environmentId);
    const isCurrent = catalog !== undefined && catalog.version === (versions.get(environmentId) ?? 0);
    catalogs.set(environmentId, isCurrent ? catalog : await loadCatalog(tx, environmentId));
  }
  return catalogs;
}

/** As many wallets as have rows for one statement; a larger one is alone. */
function* batchesOf(page: readonly ReadableRow[]): Generator<readonly ReadableRow[]> {
  let batch: ReadableRow[] = [];
  let entries = 0;
  let grants = 0;
  for (const row of page) {
    const { sequence, grantCount } = row.wallet;
    if (batch.length > 0 && (entries + sequence > ROWS_MAX || grants + grantCount > ROWS_MAX)) {
      yield batch;
      batch = [];
      entries = 0;
      grants = 0;
    }
    batch.push(row);
    entries += sequence;
    grants += grantCount;
  }
  if (batch.length > 0) yield batch;
}

async function verifyBatch(
  tx: Tx,
  batch: readonly ReadableRow[],
  catalogs: Catalogs,
  checked: Checked,
): Promise<Mismatch | null> {
  const grants = await readGrants(tx, batch);
  const folds = batch.map(({ environmentId, wallet, balance }, index) => {
    const versions = catalogs.get(environmentId)?.versions ?? new Map();
    return new Fold({ wallet, balance, grants: grants[index] ?? [], versions });
  });
  for (const runs of runsOf(batch, ({ wallet }) => wallet.sequence)) {
    const ledgers = await listEntries(tx, runs);
    const reversed = await readReversed(tx, runs, ledgers);
    for (const [position, { index, after, until }] of runs.entries()) {
      const row = batch[index];
      const fold = folds[index];
      const entries = ledgers[position] ?? null;
      if (row === undefined || fold === undefined) continue;
      if (entries === null) return { ...row, text: `entries ${after + 1} to ${until} cannot all be read` };
      for (const entry of entries) {
        const text = fold.add(entry, reversed.get(entry));
        if (text !== null) return { ...row, text };
      }
      checked.entries += entries.length;
    }
    checked.reversals += reversed.size;
  }
  for (const [index, row] of batch.entries()) {
    const text = folds[index]?.finish() ?? null;
    if (text !== null) return { ...row, text };
    checked.wallets += 1;
    checked.grants += row.wallet.grantCount;
  }
  return null;
}

type IndexedRun = Run & { readonly index: number; readonly isWhole: boolean };

/** Cuts the rows of a batch, so many of each wallet, into runs of at most one statement's worth. */
function* runsOf(
  batch: readonly ReadableRow[],
  countOf: (row: ReadableRow) => number,
): Generator<readonly IndexedRun[]> {
  let runs: IndexedRun[] = [];
  let room = ROWS_MAX;
  for (const [index, row] of batch.entries()) {
    const count = countOf(row);
    const { environmentId, customerNumber } = row;
    for (let after = 0; after < count; ) {
      const until = Math.min(count, after + room);
      const isWhole = after === 0 && until === count;
      runs.push({ index, environmentId, customerNumber, after, until, isWhole });
      room -= until - after;
      after = until;
      if (room > 0) continue;
      yield runs;
      runs = [];
      room = ROWS_MAX;
    }
  }
  if (runs.length > 0) yield runs;
}

async function readGrants(tx: Tx, batch: readonly ReadableRow[]): Promise<GrantFacts[][]> {
  const grants: GrantFacts[][] = batch.map(() => []);
  for (const runs of runsOf(batch, ({ wallet }) => wallet.grantCount)) {
    const readAt = batch[0]?.readAt;
    if (readAt === undefined) break;
    for (const [position, some] of (await listGrants(tx, runs, readAt)).entries()) {
      const { index } = runs[position] ?? {};
      if (index !== undefined) grants[index]?.push(...some);
    }
  }
  return grants;
}

/** What reversals among these entries name: in the run itself where it is a whole ledger, else it is looked up. */
async function readReversed(
  tx: Tx,
  runs: readonly IndexedRun[],
  ledgers: readonly (readonly Entry[] | null)[],
): Promise<Map<Entry, ReversedConsume | null>> {
  const reversed = new Map<Entry, ReversedConsume | null>();
  const reversals: Entry[] = [];
  const places: ConsumePlace[] = [];
  for (const [position, { customerNumber, isWhole }] of runs.entries()) {
    const entries = ledgers[position] ?? [];
    if (isWhole) {
      for (const [entry, consume] of reversedConsumes(entries)) reversed.set(entry, consume);
      continue;
    }
    for (const entry of entries) {
      const sequence = entry.usage?.reverses ?? null;
      if (sequence === null) continue;
      reversals.push(entry);
      places.push({ customerNumber, sequence });
    }
  }
  if (places.length === 0) return reversed;
  const found = await listReversed(tx, places);
  for (const [index, entry] of reversals.entries()) reversed.set(entry, found[index] ?? null);
  return reversed;
}
