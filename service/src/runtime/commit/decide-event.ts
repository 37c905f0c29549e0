import { ANSWER_FORMAT_EVENT } from "../../entitlement/answer.ts";
import { decideEvent } from "../../entitlement/usage-event.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import { uuidV7 } from "../../words/uuid.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import type { EventRequest, Outcome, Pending } from "./request.ts";

/** Records an event whose key, if it has one, is new. */
export function decideUsageEvent(
  request: EventRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome {
  const decision = decideEvent(request.event, request.metadataLimits, facts.now);
  const isStored = pending.name !== null && facts.storedEvents.has(pending.name);
  if (decision.kind !== "accepted" && !isStored) {
    // An earlier attempt may still land: then a refusal would leave a row.
    return pending.isUncertain ? { kind: "outcome_unknown" } : decision;
  }
  pending.name ??= { recordedAt: facts.now, id: uuidV7(facts.now) };
  const answer = { format: ANSWER_FORMAT_EVENT, subjectId: pending.name.id, verdict: null };
  if (!isStored) {
    plan.events.push(toRow(request, pending.name, facts, plan));
    plan.remember(request, answer);
  }
  return { kind: "answered", answer, replayed: false };
}

function toRow(request: EventRequest, name: EventName, facts: BatchFacts, plan: BatchPlan): EventRow {
  const { environmentId, customerId, event } = request;
  const customer = { environmentId, customerId };
  const key = customerKey(customer);
  const newcomer = facts.newcomers.get(key);
  if (newcomer !== undefined) plan.newCustomers.set(key, { ...customer, customerNumber: newcomer });
  const customerNumber = plan.numbers.get(key) ?? newcomer ?? null;
  if (customerNumber === null) plan.reporters.set(key, customer);
  return {
    ...name,
    ...customer,
    customerNumber,
    event: event.event,
    quantity: event.quantity,
    occurredAt: event.timestamp ?? name.recordedAt,
    metadata: event.metadata?.canonical ?? null,
    requestId: request.requestId,
  };
}
