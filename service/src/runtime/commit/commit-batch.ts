import { exceededLimit } from "../../entitlement/metadata.ts";
import { DATA_FORMAT_OF_ITEMS } from "../../entitlement/stored-answer.ts";
import { OutcomeUnknown } from "../../postgres/commit.ts";
import { MissingData } from "../../postgres/missing-data.ts";
import type { Session } from "../../postgres/session.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { clocksAgree } from "../../primitives/clocks-agree.ts";
import { readCatalogRevisions } from "../../store/cell/catalog-row.ts";
import type { CatalogCache } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  type CustomerName,
  compareCustomers,
  customerKey,
  findCustomers,
  insertCustomers,
  insertMissingCustomers,
  reserveCustomerNumbers,
} from "../../store/cell/customers.ts";
import { readDataFormat } from "../../store/cell/data-format.ts";
import { insertDenials } from "../../store/cell/denials.ts";
import { addDueHolds } from "../../store/cell/due-holds.ts";
import { type EventName, insertEvents, lockStoredEvents } from "../../store/cell/events.ts";
import { findLatestHolds, type HoldName } from "../../store/cell/hold-list.ts";
import {
  compareKeys,
  deleteKeyedRequests,
  insertKeyedRequests,
  type KeyName,
  lockKeyedRequests,
} from "../../store/cell/keyed-requests.ts";
import { writeChanges } from "../../store/cell/wallet-changes.ts";
import { insertEmptyWallets, lockFreeWallets, lockWallets } from "../../store/cell/wallets.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import { keyId } from "./decide-batch.ts";
import type { Pending } from "./pending.ts";
import { type ConsumeRequest, needsNewFormat, type RuntimeRequest } from "./request.ts";

// A batch is one transaction with two round trips. `readFacts` locks and reads. `writePlan` writes and commits. The requests are
// decided between the two calls. If the store cannot encode a row, it throws synchronously, so that the commit is not sent without
// the row.
// Lock order: wallets, keyed requests, new customers, new keyed requests, each sorted. Only the blocking lane waits for
// wallet locks, and each of its batches has one customer.

type FactsOptions = {
  readonly catalogs: CatalogCache;
  /** Whether to wait for locked wallets. If false, requests for these wallets stay undecided. */
  readonly waits: boolean;
  /** How long idempotency keys are kept. If null, keys are kept permanently. */
  readonly idempotencyDays: number | null;
};

const NO_REVISIONS: ReadonlyMap<EnvironmentId, string> = new Map();
/** If edits make this many fetches stale, the catalog is read in the batch's transaction, while wallets are locked. */
const FETCHES_MAX = 3;

/** Reads the clock and the catalog revisions in separate statements after acquiring the locks, so that a wait cannot make them stale. */
export async function readFacts(
  session: Session,
  batch: readonly Pending[],
  { catalogs, waits, idempotencyDays }: FactsOptions,
): Promise<BatchFacts> {
  const keys = new Map<string, KeyName>();
  const uncertain: EventName[] = [];
  const consumers: CustomerName[] = [];
  const reporters: CustomerName[] = [];
  const named: HoldName[] = [];
  const environments = new Set<EnvironmentId>();
  const urgent = new Set<EnvironmentId>();
  for (const { request, name, isUncertain, fetches } of batch) {
    if (request.keyed !== null) keys.set(keyId(request.keyed), request.keyed);
    else if (name !== null && isUncertain) uncertain.push(name);
    if (request.endpoint === "events") reporters.push(request);
    else {
      if (request.endpoint === "hold_change")
        named.push({ ...request.hold, environmentId: request.environmentId });
      consumers.push(request);
      environments.add(request.environmentId);
      if (fetches >= FETCHES_MAX) urgent.add(request.environmentId);
    }
  }
  const lock = waits ? lockWallets : lockFreeWallets;
  const names = distinctCustomers(consumers);
  const [dataFormat, , locked, foundKeys, storedEvents, holds, customers, revisions, now] =
    await session.roundTrip(() => [
      // Read before the transaction begins, so that the format's table is not locked during the transaction. The format never
      // decreases, so once it is high enough it is not read again.
      session.dataFormat < DATA_FORMAT_OF_ITEMS ? readDataFormat(session) : session.dataFormat,
      session.begin(),
      names.length > 0 ? lock(session, names) : [],
      keys.size > 0 ? lockKeyedRequests(session, [...keys.values()].sort(compareKeys), idempotencyDays) : [],
      uncertain.length > 0 ? lockStoredEvents(session, uncertain) : new Set<never>(),
      named.length > 0 ? findLatestHolds(session, named) : [],
      reporters.length > 0 ? findCustomers(session, distinctCustomers(reporters)) : [],
      environments.size > 0 ? readCatalogRevisions(session, [...environments]) : NO_REVISIONS,
      readClock(session),
    ]);
  session.dataFormat = dataFormat;
  const hasNewFormats = dataFormat >= DATA_FORMAT_OF_ITEMS;
  const current = await catalogs.findAll(session, environments, revisions, urgent);
  const known = [...current.values()].flatMap((catalog) => (catalog instanceof MissingData ? [] : [catalog]));
  const wallets = await addDueHolds(session, locked, { clock: now, catalogs: known });
  const keyedRequests = clocksAgree(now) ? foundKeys : foundKeys.map((key) => ({ ...key, isEnded: false }));
  const found = { wallets, keyedRequests, storedEvents, holds, customers };
  const facts = { ...found, catalogs: current, now, hasNewFormats };
  // The usual case: all customers exist.
  if (wallets.length === names.length) return { ...facts, reservedNumbers: new Map<never, never>() };
  return { ...facts, reservedNumbers: await reserveNumbers(session, batch, facts) };
}

/**
 * Reserves numbers for unknown customers that this batch may create. If a consume request may create a customer, unknown customers
 * in events get numbers too. A single sorted insert then creates all new customers, which prevents deadlocks.
 */
async function reserveNumbers(
  session: Session,
  batch: readonly Pending[],
  facts: Omit<BatchFacts, "reservedNumbers">,
): Promise<Map<string, CustomerNumber>> {
  const known = new Set([...facts.wallets, ...facts.customers].map(customerKey));
  const answered = new Set(facts.keyedRequests.filter(({ isEnded }) => !isEnded).map(keyId));
  const unknown = batch.map(({ request }) => request).filter((request) => !known.has(customerKey(request)));
  const isConsumer = (request: RuntimeRequest): boolean =>
    "consumption" in request && !answered.has(keyId(request.keyed)) && mayCreate(request, facts);
  const consumers = unknown.filter(isConsumer);
  if (consumers.length === 0) return new Map();
  const reporters = unknown.filter(({ endpoint }) => endpoint === "events");
  const created = distinctCustomers([...consumers, ...reporters]);
  const numbers = await reserveCustomerNumbers(session, created.length);
  return new Map(numbers.map((number, index) => [nameOf(created[index]), number]));
}

/**
 * Whether the request may create its customer. A request that would be rejected regardless of the customer reserves no number,
 * because the supply of numbers is limited.
 */
function mayCreate(
  request: ConsumeRequest,
  { catalogs, hasNewFormats }: Pick<BatchFacts, "catalogs" | "hasNewFormats">,
): boolean {
  if (!hasNewFormats && needsNewFormat(request)) return false;
  const { environmentId, consumption, metadataLimits } = request;
  const catalog = catalogs.get(environmentId);
  if (catalog === undefined || catalog instanceof MissingData || catalog.defaultPlan.plan === null)
    return false;
  return (
    consumption.items.every(({ feature }) => catalog.features.has(feature)) &&
    exceededLimit(consumption.metadata, metadataLimits) === null
  );
}

function nameOf(name: CustomerName | undefined): string {
  assert(name !== undefined, "one number is reserved for each new customer");
  return customerKey(name);
}

/**
 * Writes and commits a plan. Throws `OutcomeUnknown` if the commit may or may not have taken effect. On any other error, nothing was
 * written. All statements are sent before the first await.
 */
export async function writePlan(session: Session, plan: BatchPlan, now: Instant): Promise<void> {
  session.requireTransaction();
  const newCustomers = [...plan.newCustomers.values()].sort(compareCustomers);
  const reporters = [...plan.reporters.values()].sort(compareCustomers);
  const write = <T>(rows: readonly T[], into: (tx: Session, rows: readonly T[], at: Instant) => unknown) =>
    rows.length > 0 ? into(session, rows, now) : null;
  try {
    await session.roundTrip(() =>
      orDecisionFailed(() => [
        write(newCustomers, insertCustomers),
        write(reporters, insertMissingCustomers),
        write([...newCustomers, ...plan.newWallets], insertEmptyWallets),
        ...writeChanges(session, plan.changes, now),
        write(plan.denials, insertDenials),
        write(plan.events, insertEvents),
        write(plan.endedKeys, deleteKeyedRequests),
        write(plan.keyedRequests.toSorted(compareKeys), insertKeyedRequests),
        session.commit(),
      ]),
    );
  } catch (error) {
    if (error instanceof DecisionFailed) throw error;
    // The connection broke after the commit was sent.
    if (decodeSqlError(error).kind === "lost") throw new OutcomeUnknown("batch", { cause: error });
    throw error;
  }
}

/** Thrown when a bug makes a decision or its encoding fail. Nothing was committed, and the connection is still usable. */
export class DecisionFailed extends Error {
  override readonly name = "DecisionFailed";
}

export function orDecisionFailed<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new DecisionFailed("a batch could not be decided or written", { cause: error });
  }
}

function distinctCustomers(names: readonly CustomerName[]): CustomerName[] {
  return [...new Map(names.map((name) => [customerKey(name), name])).values()].sort(compareCustomers);
}
