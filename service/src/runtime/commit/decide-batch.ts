import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import { type BatchFacts, BatchPlan } from "./batch-plan.ts";
import { decideConsume } from "./decide-consume.ts";
import { decideUsageEvent } from "./decide-event.ts";
import type { KeyConflict, Outcome, Pending, RuntimeRequest, Undecided } from "./request.ts";

/** Settles requests in arrival order. A copy of a key in the same batch meets its original in `answered`. */
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
    plan.outcomes.push(decideNew(pending, facts, plan));
    const stored = plan.keyedRequests[count];
    if (key !== null && stored !== undefined) answered.set(key, stored);
  }
  const isTaken = (ended: FoundKey): boolean => ended.isEnded && answered.has(keyId(ended));
  plan.endedKeys = facts.keyedRequests.filter(isTaken);
  return plan;
}

function decideNew(pending: Pending, facts: BatchFacts, plan: BatchPlan): Outcome | Undecided {
  const { request } = pending;
  return request.endpoint === "events"
    ? decideUsageEvent(request, pending, facts, plan)
    : decideConsume(request, pending, facts, plan);
}

/** By its hash, as in the table: of an erased customer's key the text is gone. */
export function keyId(key: KeyName): string {
  return `${key.projectId}:${key.keyHash}`;
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
