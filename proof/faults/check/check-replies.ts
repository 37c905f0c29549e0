import { charge } from "../../../service/test/model/credits.ts";
import { FEATURES, isFeatureKey } from "../catalog.ts";
import { type Call, type ClientRequest, claimedKey, findDueRefusal } from "../history/call.ts";
import { findDecision } from "./answers.ts";
import type { Violation } from "./violation.ts";

/** Why this run's consumes may be denied: its customers are never blocked, and always have a plan. */
const REASONS = new Set(["feature_not_in_plan", "limit_reached", "insufficient_credits"]);

/** Clients sent only requests whose possible answers are known: anything else is a broken promise. */
export function checkReplies(calls: readonly Call[]): Violation[] {
  return calls.flatMap((call): Violation[] => {
    const problem = findProblem(call);
    if (problem === null) return [];
    const { client, request, outcome } = call;
    const text = `${request.marker} of ${client} ${problem}: ${JSON.stringify(outcome)}`;
    return [{ invariant: "replies", text }];
  });
}

function findProblem(call: Call): string | null {
  const { request, outcome } = call;
  switch (outcome.kind) {
    case "ok":
      if (findDueRefusal(request) !== null) return "can only be refused, and was accepted";
      return request.endpoint === "events" ? null : findWrongDecision(call);
    case "fail":
      return isExpectedRefusal(request, outcome) ? null : "was refused without reason";
    case "info":
      // An outage has its own codes; any other 5xx is a fault nobody foresaw.
      return outcome.status === null || outcome.status === 503 ? null : "met a fault";
  }
}

function isExpectedRefusal(
  request: ClientRequest,
  { status, code }: { status: number; code: string },
): boolean {
  const due = findDueRefusal(request);
  if (due !== null) return status === due.status && code === due.code;
  return claimedKey(request) !== null && status === 409 && code === "idempotency_key_reused";
}

/** What the answer alone can be held to: it repeats the request, and its numbers agree with the price list. */
function findWrongDecision(call: Call): string | null {
  const { request } = call;
  const decision = findDecision(call);
  if (decision === null || request.endpoint === "events") return "has an answer that cannot be read";
  for (const field of ["customerId", "feature", "quantity"] as const)
    if (decision[field] !== request[field]) return `is answered with another ${field}`;
  if (!isFeatureKey(request.feature)) return null;
  const due = charge(FEATURES[request.feature], request.quantity);
  if (decision.allowed !== (decision.reason === null)) return "is allowed with a reason, or denied without";
  if (decision.reason !== null && !REASONS.has(decision.reason)) return "is denied for no reason of this run";
  if (decision.reason !== "feature_not_in_plan" && decision.creditsRequired !== due)
    return `should require ${due} credits`;
  const { balance } = decision;
  if (balance === null || !Number.isSafeInteger(balance) || balance < 0) return "leaves no balance";
  if (request.endpoint === "check") return null;
  if ((decision.consumeId !== null) !== decision.allowed) return "names a consume without having charged";
  return decision.creditsCharged === (decision.allowed ? due : 0) ? null : `should charge ${due} credits`;
}
