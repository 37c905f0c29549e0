import { canonicalItems } from "../../entitlement/consumption.ts";
import { type Decided, decide, type Reason } from "../../entitlement/decide.ts";
import { exceededLimit } from "../../entitlement/metadata.ts";
import { ANSWER_FORMAT_EVENT, storeAnswer } from "../../entitlement/stored-answer.ts";
import { decideEvent } from "../../entitlement/usage-event.ts";
import { newWallet, type Wallet } from "../../entitlement/wallet.ts";
import { MissingData } from "../../postgres/missing-data.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import { consumeId } from "../../primitives/consume-id.ts";
import { type Uuid, uuidV7 } from "../../primitives/uuid.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import type { FoundWallet } from "../../store/cell/wallets.ts";
import { type BatchFacts, BatchPlan } from "./batch-plan.ts";
import {
  type ConsumeRequest,
  type EventRequest,
  HELD,
  type KeyConflict,
  needsNewFormat,
  type Outcome,
  type Pending,
  type RuntimeRequest,
  type Undecided,
} from "./request.ts";

/** Decides requests in arrival order. A request whose key appeared earlier in the same batch finds that response in `answered`. */
export function decideBatch(batch: readonly Pending[], facts: BatchFacts): BatchPlan {
  const plan = new BatchPlan(facts);
  const answered = new Map<string, KeyedRequest>();
  for (const found of facts.keyedRequests) if (!found.isEnded) answered.set(keyId(found), found);
  for (const pending of batch) {
    const { keyed } = pending.request;
    const key = keyed === null ? null : keyId(keyed);
    const earlier = key === null ? undefined : answered.get(key);
    if (earlier !== undefined) {
      plan.outcomes.push(answerAgain(pending, earlier));
      continue;
    }
    const count = plan.keyedRequests.length;
    const { request } = pending;
    plan.outcomes.push(
      request.endpoint === "events"
        ? decideUsageEvent(request, pending, facts, plan)
        : decideConsume(request, pending, facts, plan),
    );
    const stored = plan.keyedRequests[count];
    if (key !== null && stored !== undefined) answered.set(key, stored);
  }
  const isTaken = (ended: FoundKey): boolean => ended.isEnded && answered.has(keyId(ended));
  plan.endedKeys = facts.keyedRequests.filter(isTaken);
  return plan;
}

/** Identifies a key by its hash, as the table does, because the text of an erased customer's key is deleted. */
export function keyId(key: KeyName): string {
  return `${key.projectId}:${key.keyHash}`;
}

/** The same request gets the original response. A different request gets 409, without details about the original. */
function answerAgain(pending: Pending, earlier: KeyedRequest): Outcome {
  const conflict = findConflict(pending.request, earlier);
  if (conflict !== null) return { kind: "key_reused", conflict };
  // After an unknown outcome, this request may have written the row itself. In that case this is the first response, not a
  // replay.
  const isOwn = pending.name?.id.equals(earlier.answer.subjectId) ?? false;
  return { kind: "answered", answer: earlier.answer, replayed: !isOwn };
}

function findConflict(request: RuntimeRequest, earlier: KeyedRequest): KeyConflict | null {
  if (request.endpoint !== earlier.endpoint) return "endpoint";
  if (request.environmentId !== earlier.environmentId) return "environment";
  if (request.keyed?.fingerprint !== earlier.fingerprint) return "payload";
  return null;
}

/** Denials that are not stored under the key, so that a consume request that arrives before the customer's plan can be retried. */
const PASSING_REASONS: ReadonlySet<Reason | null> = new Set(["customer_not_found", "no_active_plan"]);

/** Decides a consume request with a new key, using the wallet as earlier requests in this batch left it. */
function decideConsume(
  request: ConsumeRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome | Undecided {
  const { environmentId, consumption } = request;
  const exceeded = exceededLimit(consumption.metadata, request.metadataLimits);
  if (exceeded !== null) return refuse(pending, exceeded);
  if (!facts.hasNewFormats && needsNewFormat(request)) return refuse(pending, { kind: "upgrade_unfinished" });
  const catalog = facts.catalogs.get(environmentId);
  assert(catalog !== undefined, "a batch reads the catalog of each environment in it");
  if (catalog instanceof MissingData) return { kind: "missing_data", missing: catalog };
  const key = customerKey(request);
  const found = plan.wallets.get(key) ?? findNewcomer(request, facts);
  if (found !== undefined && found.readWallet === null && !found.isMissing) return HELD;

  const isKnown = plan.wallets.has(key);
  // If a sequence is behind, a reserved number may belong to another customer. Only the insert proves that it is free.
  const hasNumber = isKnown || plan.newCustomers.has(key);
  const changed =
    found !== undefined && hasNumber ? plan.changes.wallets.get(found.customerNumber) : undefined;
  const wallet = changed?.wallet ?? found?.readWallet?.() ?? null;
  const known = wallet ?? (isKnown ? newWallet(facts.now) : null);
  const decision = orMissing(() => decide(catalog, known, consumption.items, facts.now));
  if (decision.kind === "missing_data") return decision;
  if (decision.kind !== "decided") return refuse(pending, decision);
  if (found !== undefined) applyChange(request, decision, found, plan);
  const isPassing = found === undefined || PASSING_REASONS.has(decision.reason);
  const id = decision.allowed ? nameConsume(decision, found, facts.now) : uuidV7(facts.now);
  const { hasNewFormats } = facts;
  const answer = storeAnswer(consumption, decision, { subjectId: id, hasNewFormats });
  if (isPassing) return refuse(pending, { kind: "answered", answer, replayed: false });
  if (!decision.allowed) plan.denials.push(toDenial(request, decision, found, { id, wallet }));
  pending.name = { recordedAt: facts.now, id };
  plan.remember(request, answer);
  return { kind: "answered", answer, replayed: false };
}

/** Returns `missing_data` if a part of the catalog is not in memory, such as the pinned features of a plan version. */
function orMissing<T>(work: () => T): T | Exclude<Undecided, typeof HELD> {
  try {
    return work();
  } catch (error) {
    if (error instanceof MissingData) return { kind: "missing_data", missing: error };
    throw error;
  }
}

/**
 * Rejects a request; nothing is stored. If an earlier attempt may have been committed, the outcome is reported as unknown instead.
 */
function refuse(pending: Pending, outcome: Outcome): Outcome {
  return pending.isUncertain ? { kind: "outcome_unknown" } : outcome;
}

/** Finds the number reserved for an unknown customer who gets the default plan. The same transaction creates the customer. */
function findNewcomer(request: ConsumeRequest, { newcomers }: BatchFacts): FoundWallet | undefined {
  const customerNumber = newcomers.get(customerKey(request));
  if (customerNumber === undefined) return undefined;
  const { environmentId, customerId } = request;
  const nothing = { readWallet: null, isMissing: true, mayHold: false, decidedAt: null };
  return { environmentId, customerId, customerNumber, ...nothing };
}

/** Plans the changes to the wallet. Due changes, such as a renewal, are written even if the request is denied. */
function applyChange(
  { keyed: { keyHash }, consumption }: ConsumeRequest,
  { change, allowed }: Decided,
  found: FoundWallet,
  plan: BatchPlan,
): void {
  if (change === null) return;
  const key = customerKey(found);
  if (!plan.wallets.has(key)) plan.newCustomers.set(key, found);
  else if (found.isMissing && !plan.changes.wallets.has(found.customerNumber)) plan.newWallets.push(found);
  const { memberId } = consumption;
  const metadata = consumption.metadata?.canonical ?? null;
  plan.changes.add(found, change, allowed ? { entry: { kind: "consume", keyHash, memberId, metadata } } : {});
}

/** The ID of a consume request, taken from its first ledger entry. */
function nameConsume({ items }: Decided, found: FoundWallet | undefined, recordedAt: Instant): Uuid {
  const entry = items[0]?.entry ?? null;
  assert(entry !== null && found !== undefined, "an allowed consume request has an entry in a wallet");
  return consumeId({ recordedAt, customerNumber: found.customerNumber, sequence: entry.sequence });
}

function toDenial(
  request: ConsumeRequest,
  decision: Decided,
  found: FoundWallet,
  { id, wallet: before }: { id: Uuid; wallet: Wallet | null },
): DenialRow {
  const { reason, deniedItem, planVersion, change } = decision;
  const { hasItems, memberId, metadata } = request.consumption;
  const wallet = change?.wallet ?? before;
  const item = deniedItem === null ? undefined : decision.items[deniedItem];
  const position = item?.before ?? null;
  assert(
    reason !== null && item !== undefined && position !== null && wallet !== null,
    "a denial has a reason, an item and a wallet",
  );
  return {
    environmentId: found.environmentId,
    customerNumber: found.customerNumber,
    id,
    sequence: wallet.sequence,
    creditsRequired: Math.min(Number.MAX_SAFE_INTEGER, item.creditsBefore + item.creditsRequired),
    position,
    keyHash: request.keyed.keyHash,
    feature: item.feature.id,
    quantity: item.quantity,
    request: hasItems
      ? { deniedItem: deniedItem ?? 0, items: canonicalItems(request.consumption.items) }
      : null,
    planVersion,
    overrides: item.overrides,
    reason,
    memberId,
    metadata: metadata?.canonical ?? null,
  };
}

/** Decides an event that has a new key or none. */
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
    memberId: event.memberId,
    metadata: event.metadata?.canonical ?? null,
    requestId: request.requestId,
  };
}
