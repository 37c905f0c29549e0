import { ANSWER_FORMAT_EVENT } from "../../entitlement/answer.ts";
import { decideEvent } from "../../entitlement/usage-event.ts";
import { type Customer, customerKey } from "../../store/cell/customers.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import type { Instant } from "../../words/brand.ts";
import { uuidV7 } from "../../words/uuid.ts";
import type { KeyConflict, Outcome, Pending, RuntimeRequest } from "./request.ts";

export type BatchPlan = {
  readonly outcomes: readonly Outcome[];
  readonly events: readonly EventRow[];
  readonly keyedRequests: readonly KeyedRequest[];
};

/** What the database said in the first trip: known keys, events stored by an earlier attempt, customers, its clock. */
export type BatchFacts = {
  readonly keyedRequests: readonly KeyedRequest[];
  readonly storedEvents: ReadonlySet<EventName>;
  readonly customers: readonly Customer[];
  readonly now: Instant;
};

/** Settles requests in arrival order. A copy of a key in the same batch meets its original in `answered`. */
export function decideBatch(batch: readonly Pending[], facts: BatchFacts): BatchPlan {
  const answered = new Map(facts.keyedRequests.map((request) => [keyId(request), request]));
  const numbers = new Map(facts.customers.map((customer) => [customerKey(customer), customer.number]));
  const outcomes: Outcome[] = [];
  const events: EventRow[] = [];
  const keyedRequests: KeyedRequest[] = [];
  for (const pending of batch) {
    const { request } = pending;
    const earlier = request.keyed === null ? undefined : answered.get(keyId(request.keyed));
    if (earlier !== undefined) {
      outcomes.push(answerAgain(pending, earlier));
      continue;
    }
    const decision = decideEvent(request.event, request.metadataLimits, facts.now);
    const isStored = pending.name !== null && facts.storedEvents.has(pending.name);
    if (decision.kind !== "accepted" && !isStored) {
      // An earlier attempt may still land: then a refusal would leave a row.
      outcomes.push(pending.isUncertain ? { kind: "outcome_unknown" } : decision);
      continue;
    }
    pending.name ??= { recordedAt: facts.now, id: uuidV7(facts.now) };
    const answer = { format: ANSWER_FORMAT_EVENT, subjectId: pending.name.id };
    outcomes.push({ kind: "answered", answer, replayed: false });
    if (isStored) continue;
    events.push(toRow(request, pending.name, numbers));
    if (request.keyed !== null) {
      const keyed = {
        ...request.keyed,
        environmentId: request.environmentId,
        endpoint: request.endpoint,
        answer,
      };
      keyedRequests.push(keyed);
      answered.set(keyId(keyed), keyed);
    }
  }
  return { outcomes, events, keyedRequests };
}

export function keyId(key: KeyName): string {
  return `${key.projectId}:${key.key}`;
}

/** Spec 4.1: the same request gets the original answer; any other gets 409 and learns nothing of it. */
function answerAgain(pending: Pending, earlier: KeyedRequest): Outcome {
  const conflict = findConflict(pending.request, earlier);
  if (conflict !== null) return { kind: "key_reused", conflict };
  // After an unknown outcome the row may be our own: then this is the first answer, not a replay.
  const isOwn = pending.name?.id.equals(earlier.answer.subjectId) ?? false;
  return { kind: "answered", answer: earlier.answer, replayed: !isOwn };
}

function findConflict(request: RuntimeRequest, earlier: KeyedRequest): KeyConflict | null {
  if (request.endpoint !== earlier.endpoint) return "endpoint";
  if (request.environmentId !== earlier.environmentId) return "environment";
  if (request.keyed?.fingerprint !== earlier.fingerprint) return "payload";
  return null;
}

function toRow(request: RuntimeRequest, name: EventName, numbers: ReadonlyMap<string, number>): EventRow {
  const customer = { environmentId: request.environmentId, customerId: request.event.customerId };
  return {
    ...name,
    ...customer,
    customerNumber: numbers.get(customerKey(customer)) ?? null,
    event: request.event.event,
    quantity: request.event.quantity,
    occurredAt: request.event.timestamp ?? name.recordedAt,
    metadata: request.event.metadata?.canonical ?? null,
    requestId: request.requestId,
  };
}
