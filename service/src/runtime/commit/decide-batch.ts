import { findConflict } from "../../entitlement/key-conflict.ts";
import { ANSWER_FORMAT_EVENT } from "../../entitlement/stored-answer.ts";
import { decideEvent } from "../../entitlement/usage-event.ts";
import { assertNever } from "../../primitives/assert.ts";
import { uuidV7 } from "../../primitives/uuid.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import { type BatchFacts, BatchPlan } from "./batch-plan.ts";
import { decideConsume } from "./decide-consume.ts";
import { decideHoldChange } from "./decide-hold.ts";
import { refuse } from "./decide-one.ts";
import type { Pending } from "./pending.ts";
import { type EventRequest, needsNewFormat, type Outcome, type Undecided } from "./request.ts";

/**
 * Decides requests in arrival order. `answered` also contains the responses from earlier in the batch, so that a later request with
 * the same key gets the same response.
 */
export function decideBatch(batch: readonly Pending[], facts: BatchFacts): BatchPlan {
  const plan = new BatchPlan(facts);
  const answered = new Map<string, KeyedRequest>();
  for (const found of facts.keyedRequests) if (!found.isEnded) answered.set(keyId(found), found);
  for (const pending of batch) {
    const { keyed, span } = pending.request;
    span?.enterWrite();
    const key = keyed === null ? null : keyId(keyed);
    const earlier = key === null ? undefined : answered.get(key);
    if (earlier !== undefined) {
      plan.outcomes.push(answerAgain(pending, earlier));
      continue;
    }
    const count = plan.keyedRequests.length;
    plan.outcomes.push(decideNew(pending, facts, plan));
    const stored = plan.keyedRequests[count];
    if (key !== null && stored !== undefined) answered.set(key, stored);
  }
  const isTaken = (ended: FoundKey): boolean => ended.isEnded && answered.has(keyId(ended));
  plan.endedKeys = facts.keyedRequests.filter(isTaken);
  return plan;
}

/** Decides a request without a key or with a new key. */
function decideNew(pending: Pending, facts: BatchFacts, plan: BatchPlan): Outcome | Undecided {
  const { request } = pending;
  switch (request.endpoint) {
    case "events":
      return decideUsageEvent(request, pending, facts, plan);
    case "consume":
    case "holds":
      return decideConsume(request, pending, facts, plan);
    case "hold_change":
      return decideHoldChange(request, pending, facts, plan);
    default:
      return assertNever(request);
  }
}

/** Identifies a key by its hash, as the table does, because erasing a customer deletes the text of the key. */
export function keyId(key: KeyName): string {
  return `${key.projectId}:${key.keyHash}`;
}

/** The same request gets the original response. A different request gets 409, without details about the original request. */
function answerAgain(pending: Pending, earlier: KeyedRequest): Outcome {
  const { endpoint, environmentId, keyed } = pending.request;
  const conflict = findConflict({ endpoint, environmentId, fingerprint: keyed?.fingerprint }, earlier);
  if (conflict !== null) return { kind: "key_reused", conflict };
  // After an unknown outcome, this request may have written the row itself. In that case this is the first response, not a
  // replay.
  const isOwn = pending.name?.id.equals(earlier.answer.subjectId) ?? false;
  return { kind: "answered", answer: earlier.answer, replayed: !isOwn };
}

/** Decides an event without a key or with a new key. */
function decideUsageEvent(
  request: EventRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome {
  const decision = decideEvent(request.event, request.metadataLimits, facts.now);
  const isStored = pending.name !== null && facts.storedEvents.has(pending.name);
  if (!isStored) {
    if (decision.kind !== "accepted") return refuse(pending, decision);
    if (!facts.hasNewFormats && needsNewFormat(request))
      return refuse(pending, { kind: "upgrade_unfinished" });
  }
  pending.name ??= { recordedAt: facts.now, id: uuidV7(facts.now) };
  const answer = { format: ANSWER_FORMAT_EVENT, subjectId: pending.name.id, verdict: null };
  if (!isStored) {
    plan.events.push(toEventRow(request, pending.name, facts, plan));
    plan.remember(request, answer);
  }
  return { kind: "answered", answer, replayed: false };
}

function toEventRow(request: EventRequest, name: EventName, facts: BatchFacts, plan: BatchPlan): EventRow {
  const { environmentId, customerId, event } = request;
  const customer = { environmentId, customerId };
  const key = customerKey(customer);
  const reserved = facts.reservedNumbers.get(key);
  if (reserved !== undefined) plan.newCustomers.set(key, { ...customer, customerNumber: reserved });
  const customerNumber = plan.numbers.get(key) ?? reserved ?? null;
  if (customerNumber === null) plan.reporters.set(key, customer);
  return {
    ...name,
    ...customer,
    customerNumber,
    event: event.event,
    quantity: event.quantity,
    occurredAt: event.timestamp ?? name.recordedAt,
    memberId: event.memberId,
    metadata: event.metadata?.canonical ?? null,
    requestId: request.requestId,
  };
}
