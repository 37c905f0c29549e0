import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type CustomerNumber, type Instant } from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { highestLogId, type LoggedEndpoint, lowestLogId } from "../../store/cell/request-log.ts";
import {
  isWithin,
  type LogColumn,
  type LogRecord,
  listLogRecords,
} from "../../store/cell/request-log-list.ts";
import type { Scope } from "../../store/control/scopes.ts";
import { describeRequests, type LoggedRequest } from "./describe-request.ts";
import { hasOutcome, type OutcomeFilter } from "./outcome-filter.ts";

export type RequestFilter = OutcomeFilter & {
  readonly endpoint: LoggedEndpoint | null;
  /** Feature key. */
  readonly feature: string | null;
  readonly customerId: CustomerId | null;
  readonly since: Instant | null;
  readonly until: Instant | null;
  /** Start of the history window. */
  readonly start: Instant | null;
};

export type RequestPage = {
  readonly items: LoggedRequest[];
  /** Cursor for older requests. Null if there are no older requests. */
  readonly next: Uuid | null;
  /** Cursor for newer requests. Null on older pages, and if there are no requests yet. */
  readonly latest: Uuid | null;
};

/** Maximum rows to scan for one page. If few requests match, the page is short but has a cursor. */
const SCANNED_MAX = 2_000;

/** Lists logged requests, newest first. */
export function listRequests(
  cell: Pool,
  scope: Scope,
  filter: RequestFilter,
  page: { readonly before: Uuid | null; readonly after: Uuid | null; readonly limit: number },
): Promise<RequestPage> {
  return single(cell, async (tx) => {
    const { environmentId } = scope;
    const { customerId } = filter;
    const [customer] = customerId === null ? [] : await findCustomers(tx, [{ environmentId, customerId }]);
    if (customerId !== null && customer === undefined) return { items: [], next: null, latest: page.after };
    const number = customer === undefined ? null : brandAs<CustomerNumber>(customer.number);
    const by = chooseColumn(filter, number);
    const after = laterOf(page.after, filter.since);
    const count = isByIndexAlone(filter, by) ? page.limit : SCANNED_MAX;
    const before = earlierOf(page.before, filter.until);
    const range = { by, before, after, limit: count + 1 };
    const scanned = await listLogRecords(tx, environmentId, range);
    const { found, last } = pick(scanned.slice(0, count), filter, page.limit);
    const isLast = last === (scanned.at(-1) ?? null);
    const latest = page.before === null ? (scanned[0]?.id ?? page.after) : page.after;
    const items = await describeRequests(tx, scope, found);
    return { items, next: isLast ? null : (last?.id ?? null), latest };
  });
}

/** Chooses the most selective condition for an index scan. The other conditions are checked row by row. */
function chooseColumn({ code, reason }: RequestFilter, customer: CustomerNumber | null): LogColumn | null {
  if (customer !== null) return { column: "customer_number", value: customer };
  if (code !== null) return { column: "code", value: code };
  return reason === null ? null : { column: "reason", value: reason };
}

function isByIndexAlone(filter: RequestFilter, by: LogColumn | null): boolean {
  const { endpoint, feature, outcome, status, code, reason } = filter;
  return (
    endpoint === null &&
    feature === null &&
    outcome === null &&
    status === null &&
    (code === null || by?.column === "code") &&
    (reason === null || by?.column === "reason")
  );
}

/** The later of `after` and the lowest log ID at `since`. A log ID contains the logging time, which is never before the request. */
function laterOf(after: Uuid | null, since: Instant | null): Uuid | null {
  if (since === null) return after;
  const lowest = lowestLogId(since);
  return after !== null && Buffer.compare(after, lowest) > 0 ? after : lowest;
}

function earlierOf(before: Uuid | null, until: Instant | null): Uuid | null {
  if (until === null) return before;
  const highest = highestLogId(until);
  return before !== null && Buffer.compare(before, highest) < 0 ? before : highest;
}

/** Returns the matches up to the limit, and the last scanned row. */
function pick(
  scanned: readonly LogRecord[],
  filter: RequestFilter,
  limit: number,
): { found: LogRecord[]; last: LogRecord | null } {
  const found: LogRecord[] = [];
  let last: LogRecord | null = null;
  for (const record of scanned) {
    if (found.length === limit) break;
    last = record;
    if (matches(record, filter)) found.push(record);
  }
  return { found, last };
}

function matches(record: LogRecord, filter: RequestFilter): boolean {
  const { endpoint, feature, since, until, start } = filter;
  return (
    (endpoint === null || record.endpoint === endpoint) &&
    (feature === null || (record.subject === feature && !record.endpoint.startsWith("events"))) &&
    hasOutcome(record, filter) &&
    (since === null || record.recordedAt >= since) &&
    (until === null || record.recordedAt < until) &&
    isWithin(record, start)
  );
}
