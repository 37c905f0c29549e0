import { OutcomeUnknown } from "../../postgres/outcome-unknown.ts";
import type { Session } from "../../postgres/session.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import { readClock } from "../../store/cell/clock.ts";
import {
  type CustomerName,
  compareCustomers,
  customerKey,
  findCustomers,
  insertMissingCustomers,
} from "../../store/cell/customers.ts";
import { insertEvents, lockStoredEvents } from "../../store/cell/events.ts";
import { compareKeys, insertKeyedRequests, lockKeyedRequests } from "../../store/cell/keyed-requests.ts";
import { type BatchFacts, type BatchPlan, decideBatch, keyId } from "./decide-batch.ts";
import type { Outcome, Pending } from "./request.ts";

// One transaction in two trips: `openBatch` locks and reads, `closeBatch` decides, writes and commits. What the store
// cannot encode it throws at once, not as a promise, so that no commit follows a write that was never sent.
// Lock order: keyed requests, then customers, then new keyed requests, each sorted.

/** The clock is read last, by a statement of its own: one in the locking statement would be from before its wait. */
export async function openBatch(session: Session, batch: readonly Pending[]): Promise<BatchFacts> {
  const keys = new Map(
    batch.flatMap(({ request }) => (request.keyed ? [[keyId(request.keyed), request.keyed]] : [])),
  );
  const uncertain = batch.flatMap(({ name, isUncertain, request }) =>
    name !== null && isUncertain && request.keyed === null ? [name] : [],
  );
  const names = batch.map(({ request }) => ({
    environmentId: request.environmentId,
    customerId: request.event.customerId,
  }));
  const [, keyedRequests, storedEvents, customers, now] = await session.trip(() => [
    session.begin(),
    keys.size > 0 ? lockKeyedRequests(session, [...keys.values()].sort(compareKeys)) : [],
    uncertain.length > 0 ? lockStoredEvents(session, uncertain) : new Set<never>(),
    findCustomers(session, distinctCustomers(names)),
    readClock(session),
  ]);
  return { keyedRequests, storedEvents, customers, now };
}

/**
 * Returns an outcome for each request, all of them durable. Throws `OutcomeUnknown` when the commit may or may not have
 * taken effect; on any other error nothing did. Everything is sent before the first await.
 */
export async function closeBatch(
  session: Session,
  batch: readonly Pending[],
  facts: BatchFacts,
): Promise<readonly Outcome[]> {
  // Without its transaction each statement would commit by itself, an event without its key.
  if (!session.isInTransaction) throw new Error("the transaction was lost before anything was written");
  const plan = decide(batch, facts);
  const newCustomers = distinctCustomers(plan.events.filter((event) => event.customerNumber === null));
  try {
    await session.trip(() => [
      newCustomers.length > 0 ? insertMissingCustomers(session, newCustomers) : null,
      plan.events.length > 0 ? insertEvents(session, plan.events) : null,
      plan.keyedRequests.length > 0
        ? insertKeyedRequests(session, plan.keyedRequests.toSorted(compareKeys), facts.now)
        : null,
      session.commit(),
    ]);
  } catch (error) {
    // The commit was on its way when the connection broke.
    if (decodeSqlError(error).kind === "lost") throw new OutcomeUnknown("batch", { cause: error });
    throw error;
  }
  return plan.outcomes;
}

/** One of the requests met a mistake of ours. Nothing was written, and the connection is as good as before. */
export class DecisionFailed extends Error {
  override readonly name = "DecisionFailed";
}

function decide(batch: readonly Pending[], facts: BatchFacts): BatchPlan {
  try {
    return decideBatch(batch, facts);
  } catch (error) {
    throw new DecisionFailed("a batch could not be decided", { cause: error });
  }
}

function distinctCustomers(names: readonly CustomerName[]): CustomerName[] {
  return [...new Map(names.map((name) => [customerKey(name), name])).values()].sort(compareCustomers);
}
