import type { Catalog } from "../../entitlement/catalog.ts";
import type { Change } from "../../entitlement/entry.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { insertAssignmentChanges } from "../../store/cell/assignments.ts";
import { insertAudit } from "../../store/cell/audit.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerId, insertMissingCustomers } from "../../store/cell/customers.ts";
import { type GrantOrigin, insertGrants } from "../../store/cell/grants.ts";
import { appendToLedger } from "../../store/cell/ledger.ts";
import { insertEmptyWallets, lockWallets, updateWallets, type WalletName } from "../../store/cell/wallets.ts";
import { assert } from "../../words/assert.ts";
import type { CustomerId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { Context } from "../context.ts";

/** A customer's wallet, locked, with everything a decision about it needs. */
export type OpenWallet = WalletName & {
  readonly wallet: Wallet;
  readonly catalog: Catalog;
  readonly clock: Instant;
};

/** Catalog and clock are read after the lock, as for a consume. Null: there is no such customer. */
export async function openWallet(
  tx: Tx,
  context: Context,
  customerId: CustomerId,
): Promise<OpenWallet | null> {
  const { environmentId } = context;
  // What is not in memory is read before anybody has to wait for us.
  await loadCatalog(tx, environmentId);
  const [found] = await lockWallets(tx, [{ environmentId, customerId }]);
  if (found === undefined) return null;
  if (found.isMissing) {
    await insertEmptyWallets(tx, [found]);
    return openWallet(tx, context, customerId);
  }
  const { customerNumber, readWallet } = found;
  assert(readWallet !== null, "a wallet that was waited for is locked");
  // Whoever was erased while this waited is nobody any more, and nothing may be written about them.
  if ((await findCustomerId(tx, { environmentId, customerNumber })) !== customerId) return null;
  const catalog = await loadCatalog(tx, environmentId);
  return { environmentId, customerNumber, wallet: readWallet(), catalog, clock: await readClock(tx) };
}

/** The same for a customer who may not be known yet, and is created then. Looks first: an insert that finds them takes a number, too. */
export async function openOrCreateWallet(
  tx: Tx,
  context: Context,
  customerId: CustomerId,
): Promise<OpenWallet & { readonly isNew: boolean }> {
  let isNew = false;
  // A customer that another request created meanwhile may be erased again, once.
  for (let inserts = 0; ; inserts++) {
    const open = await openWallet(tx, context, customerId);
    if (open !== null) return { ...open, isNew };
    assert(inserts < INSERTS_MAX, "a customer that was just made is there");
    const { environmentId } = context;
    isNew = (await insertMissingCustomers(tx, [{ environmentId, customerId }])).rowCount > 0;
  }
}

const INSERTS_MAX = 2;

/** What people said about a change: of a new grant, and of a reversal as JSON. An erasure takes both. */
export type Words = {
  readonly grant?: { readonly number: number; readonly origin: GrantOrigin };
  readonly reversal?: string | null;
};

/** Writes a change as a lane would: wallet, ledger, grants and plan history. */
export async function saveChange(
  tx: Tx,
  { environmentId, customerNumber, clock }: OpenWallet,
  change: Change | null,
  words: Words = {},
): Promise<void> {
  if (change === null) return;
  const name = { environmentId, customerNumber };
  await updateWallets(tx, [{ ...name, wallet: change.wallet }]);
  const entries = change.entries.map((entry) => ({
    ...name,
    entry,
    keyHash: null,
    metadata: entry.kind === "reverse" ? (words.reversal ?? null) : null,
  }));
  if (entries.length > 0) await appendToLedger(tx, entries, clock);
  const grants = change.grants.map((grant) => ({
    ...name,
    grant,
    origin: grant.number === words.grant?.number ? words.grant.origin : null,
  }));
  if (grants.length > 0) await insertGrants(tx, grants, clock);
  const assignments = change.assignments.map((assignment) => ({ ...name, change: assignment }));
  if (assignments.length > 0) await insertAssignmentChanges(tx, assignments, clock);
}

export type CustomerAudit = {
  readonly action: string;
  readonly subject: string;
  readonly before: object | null;
  readonly after: object | null;
};

/** Before and after, without the customer's own id: an erased person must not live on in the audit. */
export async function auditCustomer(
  tx: Tx,
  { actor }: Context,
  { environmentId, customerNumber, clock }: OpenWallet,
  audit: CustomerAudit,
): Promise<void> {
  await insertAudit(tx, { environmentId, customerNumber, recordedAt: clock, actor, ...audit });
}

/** The wallet as this operation finds it: with all that is due applied, which it did not do itself. */
export function summarizeBefore({ wallet, catalog, clock }: OpenWallet): object {
  return summarize(viewWallet(catalog, wallet, clock), catalog);
}

/** What people compare: each pool's balance and the plan. */
export function summarize(wallet: Wallet, catalog: Catalog): object {
  const plan = wallet.assignment === null ? undefined : catalog.plans.get(wallet.assignment.plan);
  const endsAt = wallet.assignment?.endsAt ?? null;
  const balances = [...catalog.pools.values()].map(({ id, key }) => [key, balanceOf(wallet, id)]);
  return {
    plan: plan?.key ?? null,
    endsAt: endsAt === null ? null : formatTimestamp(endsAt),
    balances: Object.fromEntries(balances),
  };
}
