import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import type { Session } from "../../postgres/session.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerName, compareCustomers, insertMissingCustomers } from "../../store/cell/customers.ts";
import { type EventRow, insertEvents, lockStoredEvents } from "../../store/cell/events.ts";
import { compareKeys, insertKeyedRequests, lockKeyedRequests } from "../../store/cell/keyed-requests.ts";
import type { BoundedMap } from "../../words/bounded-map.ts";
import { type BatchFacts, decideBatch, keyId } from "./decide-batch.ts";
import type { Outcome, Pending } from "./request.ts";

/** Customers that this lane has seen committed. Only a hint: it saves an insert that would find its row there. */
export type KnownCustomers = BoundedMap<string, true>;

/**
 * One transaction in two trips: locks and facts, then writes and commit. Returns an outcome for each request, all of
 * them durable. Throws `OutcomeUnknown` when the commit may or may not have taken effect; on any other error nothing did.
 *
 * Lock order: keyed requests, then customers, then new keyed requests, each sorted.
 */
export async function commitBatch(
  session: Session,
  batch: readonly Pending[],
  known: KnownCustomers,
): Promise<readonly Outcome[]> {
  const facts = await lockAndRead(session, batch);
  const plan = decideBatch(batch, facts);
  const missing = customersToInsert(plan.events, known);
  try {
    await session.trip(() => [
      missing.length > 0 ? insertMissingCustomers(session, missing) : null,
      plan.events.length > 0 ? insertEvents(session, plan.events) : null,
      plan.keyedRequests.length > 0
        ? insertKeyedRequests(session, plan.keyedRequests.toSorted(compareKeys), facts.now)
        : null,
      session.commit(),
    ]);
  } catch (error) {
    for (const event of plan.events) known.delete(customerKey(event));
    // The commit was on its way when the connection broke.
    if (decodeSqlError(error).kind === "lost") throw new OutcomeUnknown("batch", { cause: error });
    throw error;
  }
  for (const customer of missing) known.set(customerKey(customer), true);
  return plan.outcomes;
}

/** The clock is read last, by a statement of its own: one in the locking statement would be from before its wait. */
async function lockAndRead(session: Session, batch: readonly Pending[]): Promise<BatchFacts> {
  const keys = new Map(
    batch.flatMap(({ request }) => (request.keyed ? [[keyId(request.keyed), request.keyed]] : [])),
  );
  const uncertain = batch.flatMap(({ name, isUncertain, request }) =>
    name !== null && isUncertain && request.keyed === null ? [name] : [],
  );
  const [, keyedRequests, storedEvents, now] = await session.trip(() => [
    session.begin(),
    keys.size > 0 ? lockKeyedRequests(session, [...keys.values()].sort(compareKeys)) : [],
    uncertain.length > 0 ? lockStoredEvents(session, uncertain) : new Set<never>(),
    readClock(session),
  ]);
  return { keyedRequests, storedEvents, now };
}

function customersToInsert(events: readonly EventRow[], known: KnownCustomers): CustomerName[] {
  const missing = new Map<string, CustomerName>();
  for (const event of events) {
    const key = customerKey(event);
    if (known.find(key) === undefined) missing.set(key, event);
  }
  return [...missing.values()].sort(compareCustomers);
}

function customerKey(customer: CustomerName): string {
  return `${customer.environmentId}:${customer.customerId}`;
}
