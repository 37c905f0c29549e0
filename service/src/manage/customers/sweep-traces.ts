import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { Instant } from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { eraseRequestLog, eraseWordsOfGrants } from "../../store/cell/erase/customers.ts";
import { eraseDenialsPage, momentBefore } from "../../store/cell/erase/denials.ts";
import { eraseEvents, eventsBefore, listEventsToErase } from "../../store/cell/erase/events.ts";
import { eraseKeys, findKeysOfEvents, readExtentOfKeys } from "../../store/cell/erase/keys.ts";
import { eraseLedgerPage } from "../../store/cell/erase/ledger.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";

/** From where on to look: the ledger by its numbers, everything else by when it was recorded. */
export type SweepStart = { readonly fromSequence: number; readonly since: Instant };

export type Swept = {
  /** Charges, denials and events that had metadata. */
  readonly rows: number;
  readonly lastSequence: number;
};

// Each change of rows is a transaction of its own, of some tens of milliseconds: no old snapshot holds up a busy wallet, and
// no statement comes near its time-out however large the tables are.
const ROWS_MAX = 1_000;
/** Events whose keys are looked for in one go. */
const EVENTS_MAX = 20_000;
/** Pages of keyed requests likewise: 32 MB, which a busy disk has read in a second. */
const PAGES_MAX = 4_000;

/**
 * Takes away whatever was written about a customer, but for what stands in the customer's own row. All of it
 * is found by the customer's indexes, but for the keys of events: where there are events, all keyed requests are looked at.
 */
export async function sweepTraces(
  cell: Pool,
  { projectId }: Context,
  customer: WalletName,
  { fromSequence, since }: SweepStart,
): Promise<Swept> {
  const place = { cell, projectId, customer };
  await transaction(cell, (tx) => eraseWordsOfGrants(tx, customer));
  const ledger = await sweepLedger(place, fromSequence);
  const denials = await sweepDenials(place, since);
  const events = await sweepEvents(place, since);
  for (let erased = ROWS_MAX; erased === ROWS_MAX; ) {
    erased = await transaction(cell, (tx) => eraseRequestLog(tx, customer, ROWS_MAX));
  }
  return { rows: ledger.rows + denials + events, lastSequence: ledger.lastSequence };
}

type Place = {
  readonly cell: Pool;
  readonly projectId: Context["projectId"];
  readonly customer: WalletName;
};

async function sweepLedger(place: Place, fromSequence: number): Promise<Swept> {
  let rows = 0;
  let lastSequence = fromSequence;
  await walk(fromSequence, async (after) => {
    const page = await transaction(place.cell, (tx) =>
      eraseLedgerPage(tx, place.customer, { after, rowsMax: ROWS_MAX }),
    );
    await sweepKeys(place, page.keyHashes);
    rows += page.erased;
    lastSequence = page.last ?? lastSequence;
    return page.last;
  });
  return { rows, lastSequence };
}

async function sweepDenials(place: Place, since: Instant): Promise<number> {
  let rows = 0;
  await walk(momentBefore(since), async (after) => {
    const page = await transaction(place.cell, (tx) =>
      eraseDenialsPage(tx, place.customer, { after, rowsMax: ROWS_MAX }),
    );
    await sweepKeys(place, page.keyHashes);
    rows += page.erased;
    return page.last;
  });
  return rows;
}

async function sweepEvents(place: Place, since: Instant): Promise<number> {
  const { cell, customer } = place;
  let rows = 0;
  let ids: Uuid[] = [];
  let rowsMax = ROWS_MAX;
  await walk(eventsBefore(since), async (after) => {
    const page = await single(cell, (tx) => listEventsToErase(tx, customer, { after, since, rowsMax }));
    // The index lacks their ids: each page reads all events of its last moment, and should therefore take many of them.
    rowsMax = page.areOfOneMoment ? EVENTS_MAX : ROWS_MAX;
    const doomed = page.events.filter(({ hasMetadata }) => hasMetadata);
    for (let at = 0; at < doomed.length; at += ROWS_MAX) {
      rows += await transaction(cell, (tx) => eraseEvents(tx, doomed.slice(at, at + ROWS_MAX)));
    }
    for (const { id } of page.events) ids.push(id);
    if (ids.length >= EVENTS_MAX || page.last === null) {
      await sweepKeysOfEvents(place, ids);
      ids = [];
    }
    return page.last;
  });
  return rows;
}

/** Page after page, until one says that there is nothing after it. */
async function walk<Cursor>(start: Cursor, step: (after: Cursor) => Promise<Cursor | null>): Promise<void> {
  for (let after: Cursor | null = start; after !== null; ) after = await step(after);
}

async function sweepKeysOfEvents(place: Place, events: readonly Uuid[]): Promise<void> {
  if (events.length === 0) return;
  const { cell, projectId } = place;
  const { partitions, pages } = await single(cell, readExtentOfKeys);
  const step = Math.max(1, Math.floor(PAGES_MAX / partitions));
  for (let from = 0; from < pages; from += step) {
    const range = { from, to: from + step };
    await sweepKeys(place, await single(cell, (tx) => findKeysOfEvents(tx, projectId, events, range)));
  }
}

async function sweepKeys({ cell, projectId }: Place, keyHashes: readonly ShortHash[]): Promise<void> {
  for (let at = 0; at < keyHashes.length; at += ROWS_MAX) {
    await transaction(cell, (tx) => eraseKeys(tx, projectId, keyHashes.slice(at, at + ROWS_MAX)));
  }
}
