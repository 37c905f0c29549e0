import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { CustomerId } from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { areWritersUnderWay, readClock } from "../../store/cell/clock.ts";
import {
  eraseKeys,
  eraseRequestLog,
  eraseWordsOfGrants,
  findKeysOfEvents,
  forgetCustomer,
  hideCustomer,
  listHiddenCustomers,
  readExtentOfKeys,
} from "../../store/cell/erase-customers.ts";
import {
  type ErasedPage,
  type EventsToErase,
  eraseDenialsPage,
  eraseEvents,
  eraseLedgerPage,
  FIRST_MOMENT,
  listEventsToErase,
  type Moment,
} from "../../store/cell/erase-history.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";

/** `rows`: charges, denials and events that had metadata. */
export type EraseOutcome = { kind: "erased"; rows: number } | { kind: "customer_not_found" };

type Input = { readonly customerId: CustomerId };

const WRITERS_END_MS = 12_000;

// Each change is a transaction of some tens of milliseconds: no old snapshot slows down a busy wallet, and no statement comes near
// its timeout, however large the tables are.
const ROWS_MAX = 1_000;
/** Events whose keys are found by one scan. */
const EVENTS_MAX = 20_000;
/** Pages of keyed requests that one statement scans: 32 MB, which a busy disk reads within a second. */
const PAGES_MAX = 4_000;

/**
 * Erases a customer's id, profile, all metadata, notes, references and the text of idempotency keys. Amounts stay, under a number
 * that identifies no person. The id goes first, so that no new request finds the customer; once the requests in flight have ended, one
 * sweep erases the rest. An interrupted erasure resumes when it is repeated under the same id (decision 18).
 */
export async function eraseCustomer(cell: Pool, context: Context, input: Input): Promise<EraseOutcome> {
  const { environmentId, projectId } = context;
  await hide(cell, context, input);
  const hidden = await single(cell, (tx) => listHiddenCustomers(tx, { environmentId, ...input }));
  if (hidden.length === 0) return { kind: "customer_not_found" };
  await letWritersEnd(cell);
  let rows = 0;
  for (const customer of hidden) {
    rows += await sweepTraces({ cell, projectId, customer });
    await transaction(cell, (tx) => forgetCustomer(tx, customer));
  }
  return { kind: "erased", rows };
}

/** Under the wallet's lock: an operation that waits for it finds no customer afterwards, and writes nothing. */
async function hide(cell: Pool, context: Context, { customerId }: Input): Promise<void> {
  await walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    if (open === null) return;
    await hideCustomer(tx, { ...open, customerId });
    const audit = { action: "customer.erased", subject: "customer", before: null, after: null };
    await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
  });
}

/** A transaction that began before the id was hidden may still write under the customer's number. None lasts longer than some seconds. */
async function letWritersEnd(cell: Pool): Promise<void> {
  const now = await single(cell, readClock);
  const giveUpAtMs = performance.now() + WRITERS_END_MS;
  while (performance.now() < giveUpAtMs && (await single(cell, (tx) => areWritersUnderWay(tx, now)))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

type Sweep = {
  readonly cell: Pool;
  readonly projectId: Context["projectId"];
  readonly customer: WalletName;
};

/**
 * Erases everything outside the customer's own row. The customer's indexes find all of it except the keys of events: a customer
 * with events costs a scan of all keyed requests.
 */
async function sweepTraces(sweep: Sweep): Promise<number> {
  const { cell, customer } = sweep;
  await transaction(cell, (tx) => eraseWordsOfGrants(tx, customer));
  const charges = await sweepPages(sweep, 0, (after) =>
    transaction(cell, (tx) => eraseLedgerPage(tx, customer, { after, rowsMax: ROWS_MAX })),
  );
  const denials = await sweepPages(sweep, FIRST_MOMENT, (after) =>
    transaction(cell, (tx) => eraseDenialsPage(tx, customer, { after, rowsMax: ROWS_MAX })),
  );
  const events = await sweepEvents(sweep);
  for (let erased = ROWS_MAX; erased === ROWS_MAX; ) {
    erased = await transaction(cell, (tx) => eraseRequestLog(tx, customer, ROWS_MAX));
  }
  return charges + denials + events;
}

/** Erases page after page, with the keys that its rows name. */
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
    // The index has no ids, so each page reads all events of its last moment: large pages read them less often.
    rowsMax = page.areOfOneMoment ? EVENTS_MAX : ROWS_MAX;
    const doomed = page.events.filter(({ hasMetadata }) => hasMetadata);
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
  const { partitions, pages } = await single(cell, readExtentOfKeys);
  const step = Math.max(1, Math.floor(PAGES_MAX / partitions));
  for (let from = 0; from < pages; from += step) {
    const range = { from, to: from + step };
    await sweepKeys(sweep, await single(cell, (tx) => findKeysOfEvents(tx, projectId, events, range)));
  }
}

async function sweepKeys({ cell, projectId }: Sweep, keyHashes: readonly ShortHash[]): Promise<void> {
  for (let at = 0; at < keyHashes.length; at += ROWS_MAX) {
    await transaction(cell, (tx) => eraseKeys(tx, projectId, keyHashes.slice(at, at + ROWS_MAX)));
  }
}
