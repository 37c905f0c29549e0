import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { type Charge, listCharges } from "../../store/cell/charges.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { type Denial, type DenialName, listDenials } from "../../store/cell/denials.ts";
import { listKeyUses } from "../../store/cell/key-records.ts";
import { findLastBefore } from "../../store/cell/ledger-balances.ts";
import { highestLogId } from "../../store/cell/request-log.ts";
import { type LogRecord, listLogRecords } from "../../store/cell/request-log-list.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import type { Scope } from "../../store/control/scopes.ts";
import type { CustomerRequest } from "./describe-request.ts";
import { hasOutcome, type OutcomeFilter } from "./outcome-filter.ts";

/** A position in each of the three sources: ledger, denials and request log. */
export type CustomerRequestCursor = {
  readonly charge: number;
  readonly denial: DenialName;
  readonly logged: Uuid | null;
};

type Found =
  | { readonly kind: "charge"; readonly at: Instant; readonly row: Charge }
  | { readonly kind: "denial"; readonly at: Instant; readonly row: Denial }
  | { readonly kind: "logged"; readonly at: Instant; readonly row: LogRecord };

/** Maximum log rows to read for one page. Most log rows are charges and denials, which are listed from other tables. */
const LOGGED_MAX = 1_000;

/** Maximum rows in one read of a filtered list. */
const SCANNED_MAX = 200;
/** Maximum reads for one page of a filtered list. If few requests match, the page is short but has a cursor. */
const SCANS_MAX = 10;

type Times = {
  /** Start of the history window. */
  readonly start: Instant | null;
  /** Only requests at or after this time. Never before the history window. */
  readonly since: Instant | null;
  /** Only requests before this time. */
  readonly until: Instant | null;
};

type CustomerRequestPage = {
  /** Null for the first page. */
  readonly from: CustomerRequestCursor | null;
  readonly limit: number;
  readonly times: Times;
  readonly filter: OutcomeFilter & { readonly feature: string | null };
};

/** Lists charges, denials and other logged requests, newest first. Null if the customer does not exist. */
export function listCustomerRequests(
  cell: Pool,
  scope: Scope,
  customerId: CustomerId,
  { from, limit, times, filter }: CustomerRequestPage,
): Promise<{ items: CustomerRequest[]; next: CustomerRequestCursor | null } | null> {
  return single(cell, async (tx) => {
    const { environmentId } = scope;
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const name = { environmentId, customerNumber: customer.customerNumber };
    const isFiltered = Object.values(filter).some((value) => value !== null);
    const found: Found[] = [];
    let next: CustomerRequestCursor | null =
      from ?? (await firstCursor(tx, name, customer.wallet.sequence, times.until));
    for (let scans = 0; next !== null && scans < (isFiltered ? SCANS_MAX : 1); scans++) {
      const page: Wanted = { from: next, limit: isFiltered ? SCANNED_MAX : limit, ...times };
      const read: Read = await readNext(tx, name, page);
      const count = countUntilFull(read.found, limit - found.length, (one) => matches(one, filter));
      const scanned = read.found.slice(0, count);
      found.push(...scanned.filter((one) => matches(one, filter)));
      next = count < read.found.length ? advance(page.from, scanned, null) : read.next;
      if (found.length === limit) break;
    }
    return { items: await describe(tx, scope, found), next };
  });
}

/** Returns the cursor for the first page, which starts at the newest rows, or with `until` at the newest rows before that time. */
async function firstCursor(
  tx: Tx,
  name: WalletName,
  last: number,
  until: Instant | null,
): Promise<CustomerRequestCursor> {
  if (until === null) {
    const denial = { recordedAt: brandAs<Instant>(TIME_MAX), id: Buffer.alloc(16, 0xff) };
    return { charge: Number.MAX_SAFE_INTEGER, denial, logged: null };
  }
  const charge = 1 + (await findLastBefore(tx, name, { last, at: until, isWholeSince: true }));
  return { charge, denial: { recordedAt: until, id: Buffer.alloc(16) }, logged: highestLogId(until) };
}

/** Counts the rows up to and including the match that fills the page. */
function countUntilFull(found: readonly Found[], wanted: number, isMatch: (one: Found) => boolean): number {
  let matched = 0;
  const last = found.findIndex((one) => {
    if (isMatch(one)) matched += 1;
    return matched === wanted;
  });
  return last < 0 ? found.length : last + 1;
}

function matches(one: Found, { feature, ...outcome }: CustomerRequestPage["filter"]): boolean {
  const request = describeOne(one, false);
  return (feature === null || request.feature === feature) && hasOutcome(request, outcome);
}

type Wanted = Times & { readonly from: CustomerRequestCursor; readonly limit: number };
type Read = { readonly found: Found[]; readonly next: CustomerRequestCursor | null };

/** Reads the next rows of all sources. */
async function readNext(tx: Tx, name: WalletName, page: Wanted): Promise<Read> {
  const { from, limit, start, since, until } = page;
  const charges = await listCharges(tx, name, { before: from.charge, limit: limit + 1 });
  const denials = await listDenials(tx, name, { before: from.denial, limit: limit + 1 });
  const logged = await listLogRecords(tx, name.environmentId, {
    by: { column: "customer_number", value: name.customerNumber },
    before: from.logged,
    after: null,
    limit: LOGGED_MAX,
  });
  const others = logged.filter(
    (record) =>
      isNowhereElse(record) && isInSight(record, start) && (until === null || record.recordedAt < until),
  );
  const isMoreLogged = logged.length === LOGGED_MAX;
  const end = isMoreLogged ? (logged.at(-1) ?? null) : null;
  const merged = merge({ charges, denials, others }, limit, end?.recordedAt ?? null);
  const found = merged.filter(({ at }) => since === null || at >= since);
  // The list ends at the first row before `since`.
  if (found.length < merged.length) return { found, next: null };
  const count = charges.length + denials.length + others.length;
  const isThrough = found.filter(({ kind }) => kind === "logged").length === others.length;
  const next = found.length === count && end === null ? null : advance(from, found, isThrough ? end : null);
  return { found, next };
}

/** False if the request's event occurred before the history window. The list skips such an event and continues. */
function isInSight({ occurredAt }: LogRecord, since: Instant | null): boolean {
  return occurredAt === null || occurredAt >= (since ?? 0);
}

/**
 * Whether the request must be listed from the log. Charges and settlements are in the ledger. The denials table does not contain
 * denied hold extensions, or denials for `customer_not_found` and `no_active_plan`.
 */
function isNowhereElse({ endpoint, code, reason, isReplay }: LogRecord): boolean {
  if (code !== null || isReplay) return true;
  if (reason === "customer_not_found" || reason === "no_active_plan") return true;
  if (endpoint === "holds") return reason === null;
  return endpoint !== "consume" && endpoint !== "holds/settle";
}

/**
 * Merges the sources, newest first. Each source keeps its own order. Stops before rows older than `floor`, the time of the oldest
 * log row that was read, because unread log rows may come first.
 */
function merge(
  { charges, denials, others }: { charges: Charge[]; denials: Denial[]; others: LogRecord[] },
  limit: number,
  floor: Instant | null,
): Found[] {
  const sources: Found[][] = [
    charges.map((row) => ({ kind: "charge", at: row.recordedAt, row })),
    denials.map((row) => ({ kind: "denial", at: row.recordedAt, row })),
    others.map((row) => ({ kind: "logged", at: row.recordedAt, row })),
  ];
  const merged: Found[] = [];
  while (merged.length < limit) {
    const fronts = sources.filter(([front]) => front !== undefined);
    const source = fronts.sort(([a], [b]) => (b?.at ?? 0) - (a?.at ?? 0))[0];
    const isLogThrough = sources[2]?.length === 0;
    const [next] = source ?? [];
    if (next === undefined || (isLogThrough && floor !== null && next.at < floor)) break;
    merged.push(next);
    source?.shift();
  }
  return merged;
}

function advance(
  from: CustomerRequestCursor,
  found: readonly Found[],
  lastLogged: LogRecord | null,
): CustomerRequestCursor {
  let { charge, denial, logged } = from;
  for (const { kind, row } of found) {
    if (kind === "charge") charge = row.sequence;
    else if (kind === "denial") denial = row;
    else logged = row.id;
  }
  return { charge, denial, logged: lastLogged?.id ?? logged };
}

async function describe(tx: Tx, scope: Scope, found: readonly Found[]): Promise<CustomerRequest[]> {
  const hashes = found.flatMap(({ row }) => row.keyHash ?? []);
  const keys = await listKeyUses(tx, scope, hashes);
  return found.map((one) => {
    const { keyHash } = one.row;
    const shared = {
      recordedAt: formatTimestamp(one.at),
      idempotencyKey: keyHash === null ? null : (keys.get(keyHash)?.key ?? null),
    };
    const isOfHold = keyHash !== null && keys.get(keyHash)?.endpoint === "holds";
    return { ...shared, ...describeOne(one, isOfHold) };
  });
}

type Own = Omit<CustomerRequest, "recordedAt" | "idempotencyKey">;

const DECIDED = { status: 200, code: null, isReplay: false, event: null } as const;

function describeOne({ kind, row }: Found, isOfHold: boolean): Own {
  if (kind === "logged") {
    const isEvent = row.endpoint === "events";
    return {
      kind,
      id: publicId("log", row.id),
      endpoint: row.endpoint,
      status: row.status,
      code: row.code,
      reason: row.reason,
      isReplay: row.isReplay,
      feature: isEvent ? null : row.subject,
      event: isEvent ? row.subject : null,
      quantity: null,
      credits: null,
      balance: null,
      memberId: null,
      reversedQuantity: null,
    };
  }
  const { feature, quantity, memberId } = row;
  if (kind === "charge") {
    const { id, credits, balanceAfter, reversedQuantity } = row;
    const amounts = { quantity, credits, balance: balanceAfter, reversedQuantity };
    const endpoint = row.hold === null ? "consume" : "holds/settle";
    return {
      kind,
      id: publicId("con", id),
      endpoint,
      ...DECIDED,
      reason: null,
      feature,
      memberId,
      ...amounts,
    };
  }
  const { id, reason, creditsRequired, balance } = row;
  const amounts = { quantity, credits: creditsRequired, balance, reversedQuantity: null };
  const endpoint = isOfHold ? "holds" : "consume";
  return { kind, id: publicId("den", id), endpoint, ...DECIDED, reason, feature, memberId, ...amounts };
}
