import { Problem } from "../../edge/problem.ts";
import { releaseAllHolds } from "../../entitlement/change-hold.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { setAlerts } from "../../entitlement/set-alerts.ts";
import type { Pool } from "../../postgres/pool.ts";
import { findDatabaseTrouble } from "../../postgres/sql-error.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { listCustomerTransactions } from "../../store/cell/clock.ts";
import {
  eraseGrantText,
  eraseKeys,
  eraseRequestLog,
  findKeysOfEvents,
  forgetCustomer,
  type HiddenCustomer,
  hideCustomer,
  listHiddenCustomers,
  readKeyExtent,
} from "../../store/cell/erase-customers.ts";
import {
  type ErasedPage,
  type EventsToErase,
  eraseDenialsPage,
  eraseEvents,
  eraseHoldsPage,
  eraseLedgerPage,
  FIRST_MOMENT,
  listEventsToErase,
  type Moment,
} from "../../store/cell/erase-history.ts";
import { addOpenHolds } from "../../store/cell/holds.ts";
import { eraseNotices } from "../../store/cell/notices.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

/** `rows` counts the charges, hold changes, denials and events that had metadata or a member. */
export type EraseOutcome = { kind: "erased"; rows: number } | { kind: "customer_not_found" };

type Input = { readonly customerId: CustomerId };

const WRITERS_END_MS = 12_000;
/** An erasure that is still unfinished after this time is treated as interrupted. */
const HIDDEN_MS = 5 * 60_000;

// Each batch is a transaction of a few tens of milliseconds, even in large tables. The old snapshot of a long
// transaction would slow down busy wallets, and a long statement could reach the timeout.
const ROWS_MAX = 1_000;
/** Maximum number of events per scan of the idempotency keys. */
const EVENTS_MAX = 20_000;
/** Number of pages of keyed requests scanned per statement. A busy disk reads these 32 MB within a second. */
const PAGES_MAX = 4_000;

/**
 * Erases a customer's ID, profile, members, all metadata, notes, references and the text of idempotency keys. Amounts are kept under
 * an anonymous customer number. The ID is erased first, so that no new request finds the customer. After all requests in flight have
 * ended, a sweep erases the remaining data. A background job finishes interrupted erasures (decision 18).
 */
export async function eraseCustomer(cell: Pool, context: Context, input: Input): Promise<EraseOutcome> {
  const hidden = await hide(cell, context, input);
  if (hidden === null) return { kind: "customer_not_found" };
  try {
    return { kind: "erased", rows: await finishErasure(cell, hidden) };
  } catch (error) {
    if (!(error instanceof StillInUse) && findDatabaseTrouble(error) === null) throw error;
    throw new Problem("unavailable", {
      detail:
        "The customer and their ID were erased. Erasing their history was interrupted and will continue in the background.",
      retryAfterSeconds: 60,
      cause: error,
    });
  }
}

/** Finishes erasures that were interrupted. Several processes may work on the same erasure, because every step can be repeated. */
export async function finishErasures(cell: Pool, { hiddenMs = HIDDEN_MS } = {}): Promise<number> {
  const hidden = await single(cell, (tx) => listHiddenCustomers(tx, hiddenMs));
  const failures: unknown[] = [];
  for (const customer of hidden) {
    await finishErasure(cell, customer).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return hidden.length;
}

/**
 * Hides the customer while holding the wallet's lock, so that an operation that waits for the lock finds no customer and writes nothing.
 * Open holds are released first, because nobody could settle them later. Rules for top-ups are removed.
 */
function hide(cell: Pool, context: Context, { customerId }: Input): Promise<HiddenCustomer | null> {
  const { projectId } = context;
  return walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    if (open === null) return null;
    const { environmentId, customerNumber, catalog, clock } = open;
    const { wallet } = await addOpenHolds(tx, open);
    const released = wallet.openHolds === 0 ? null : releaseAllHolds(catalog, wallet, clock);
    const cleared =
      wallet.alerts.pools.length === 0
        ? null
        : setAlerts(catalog, released?.wallet ?? wallet, [], clock).change;
    await hideCustomer(tx, { environmentId, customerId, customerNumber, projectId });
    const audit = { action: "customer.erased", subject: "customer", before: null, after: null };
    await saveEdits(tx, { ...context, clock }, [
      { ...open, change: released, audits: [] },
      { ...open, change: cleared, audits: [audit] },
    ]);
    return { environmentId, customerNumber, projectId };
  });
}

async function finishErasure(cell: Pool, customer: HiddenCustomer): Promise<number> {
  await letWritersEnd(cell);
  const rows = await sweepTraces({ cell, projectId: customer.projectId, customer });
  await transaction(cell, (tx) => forgetCustomer(tx, customer));
  return rows;
}

class StillInUse extends Error {
  override readonly name = "StillInUse";
}

/**
 * Waits for transactions that read the customer number before the ID was hidden, because these transactions may still write rows for
 * the customer. Such transactions last at most a few seconds.
 */
async function letWritersEnd(cell: Pool): Promise<void> {
  const giveUpAtMs = performance.now() + WRITERS_END_MS;
  for (let writers = await single(cell, listCustomerTransactions); writers.length > 0; ) {
    if (performance.now() > giveUpAtMs)
      throw new StillInUse("a transaction may still write data for the customer");
    await new Promise((resolve) => setTimeout(resolve, 20));
    const still = new Set(await single(cell, listCustomerTransactions));
    writers = writers.filter((writer) => still.has(writer));
  }
}

type Sweep = {
  readonly cell: Pool;
  readonly projectId: Context["projectId"];
  readonly customer: WalletName;
};

/**
 * Erases the customer's data in all tables, except the customer's own row. Indexes on the customer find all data except the idempotency
 * keys of events. For a customer with events, all keyed requests are scanned.
 */
async function sweepTraces(sweep: Sweep): Promise<number> {
  const { cell, customer } = sweep;
  await transaction(cell, (tx) => eraseGrantText(tx, customer));
  await transaction(cell, (tx) => eraseNotices(tx, customer));
  const charges = await sweepPages(sweep, 0, (after) =>
    transaction(cell, (tx) => eraseLedgerPage(tx, customer, { after, rowsMax: ROWS_MAX })),
  );
  const holds = await sweepPages(sweep, 0, (after) =>
    transaction(cell, (tx) => eraseHoldsPage(tx, customer, { after, rowsMax: ROWS_MAX })),
  );
  const denials = await sweepPages(sweep, FIRST_MOMENT, (after) =>
    transaction(cell, (tx) => eraseDenialsPage(tx, customer, { after, rowsMax: ROWS_MAX })),
  );
  const events = await sweepEvents(sweep);
  for (let erased = 1; erased > 0; ) {
    erased = await transaction(cell, (tx) => eraseRequestLog(tx, customer, ROWS_MAX));
  }
  return charges + holds + denials + events;
}

/** Erases rows page by page, with the idempotency keys that the rows refer to. */
async function sweepPages<Cursor>(
  sweep: Sweep,
  start: Cursor,
  erasePage: (after: Cursor) => Promise<ErasedPage<Cursor>>,
): Promise<number> {
  let rows = 0;
  for (let after: Cursor | null = start; after !== null; ) {
    const page: ErasedPage<Cursor> = await erasePage(after);
    await sweepKeys(sweep, page.keyHashes);
    rows += page.erased;
    after = page.last;
  }
  return rows;
}

async function sweepEvents(sweep: Sweep): Promise<number> {
  const { cell, customer } = sweep;
  let rows = 0;
  let ids: Uuid[] = [];
  let rowsMax = ROWS_MAX;
  for (let after: Moment | null = FIRST_MOMENT; after !== null; ) {
    const start: Moment = after;
    const page: EventsToErase = await single(cell, (tx) =>
      listEventsToErase(tx, customer, { after: start, rowsMax }),
    );
    // The index does not contain IDs, so each page rereads all events with its start time. Larger pages reduce these rereads.
    rowsMax = page.haveSameTime ? EVENTS_MAX : ROWS_MAX;
    const doomed = page.events.filter(({ isErasable }) => isErasable);
    for (let at = 0; at < doomed.length; at += ROWS_MAX) {
      rows += await transaction(cell, (tx) => eraseEvents(tx, doomed.slice(at, at + ROWS_MAX)));
    }
    for (const { id } of page.events) ids.push(id);
    if (ids.length >= EVENTS_MAX || page.last === null) {
      await sweepKeysOfEvents(sweep, ids);
      ids = [];
    }
    after = page.last;
  }
  return rows;
}

async function sweepKeysOfEvents(sweep: Sweep, events: readonly Uuid[]): Promise<void> {
  if (events.length === 0) return;
  const { cell, projectId } = sweep;
  const { partitions, pages } = await single(cell, readKeyExtent);
  const step = Math.max(1, Math.floor(PAGES_MAX / partitions));
  for (let from = 0; from < pages; from += step) {
    const range = { from, to: from + step };
    await sweepKeys(sweep, await single(cell, (tx) => findKeysOfEvents(tx, projectId, events, range)));
  }
}

async function sweepKeys(
  { cell, projectId, customer: { environmentId } }: Sweep,
  keyHashes: readonly ShortHash[],
): Promise<void> {
  const where = { projectId, environmentId };
  for (let at = 0; at < keyHashes.length; at += ROWS_MAX) {
    await transaction(cell, (tx) => eraseKeys(tx, where, keyHashes.slice(at, at + ROWS_MAX)));
  }
}
