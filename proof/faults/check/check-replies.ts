import { charge } from "../../../service/test/model/credits.ts";
import { FEATURES, isFeatureKey } from "../catalog.ts";
import { type Call, type ClientRequest, claimedKey, findDueRefusal } from "../history.ts";
import { findDecision } from "./answers.ts";
import type { Violation } from "./violation.ts";

/** The denial reasons possible in this run: no customer is blocked, and every customer has a plan. */
const REASONS = new Set(["feature_not_in_plan", "limit_reached", "insufficient_credits"]);

/** I2, from the clients' view alone: one outcome per key, and identical bytes in every 200. */
export function checkKeyReplies(calls: readonly Call[]): Violation[] {
  const violations: Violation[] = [];
  for (const [key, sent] of Map.groupBy(calls, ({ request }) => claimedKey(request))) {
    if (key === null) continue;
    const complain = (text: string): void => {
      violations.push({ invariant: "I2", text: `${key}: ${text}` });
    };
    const answers = sent.flatMap(({ request, outcome }) =>
      outcome.kind === "ok" ? [{ ...outcome, marker: request.marker }] : [],
    );
    const bodies = new Set(answers.map(({ body }) => body));
    if (bodies.size > 1) complain(`different responses: ${[...bodies].join(" and ")}`);
    const markers = new Set(answers.map(({ marker }) => marker));
    if (markers.size > 1) complain(`two payloads accepted: ${[...markers].join(" and ")}`);
    if (answers.filter(({ isReplay }) => !isReplay).length > 1)
      complain("two responses are not marked as replays");
  }
  return violations;
}

/** Clients send only requests whose possible responses are known. Any other response is a violation. */
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
      if (findDueRefusal(request) !== null) return "is invalid, but was accepted";
      return request.endpoint === "events" ? null : findWrongDecision(call);
    case "fail":
      return isExpectedRefusal(request, outcome) ? null : "was rejected without reason";
    case "info":
      // During an outage the service returns 503. Any other 5xx is a bug.
      return outcome.status === null || outcome.status === 503 ? null : "got an unexpected 5xx";
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

/** The response repeats the request, and its numbers follow from the prices. */
function findWrongDecision(call: Call): string | null {
  const { request } = call;
  const decision = findDecision(call);
  if (decision === null || request.endpoint === "events") return "has an unreadable response";
  for (const field of ["customerId", "feature", "quantity"] as const)
    if (decision[field] !== request[field]) return `returned another ${field}`;
  if (!isFeatureKey(request.feature)) return null;
  const due = charge(FEATURES[request.feature], request.quantity);
  if (decision.allowed !== (decision.reason === null)) return "is allowed with a reason, or denied without";
  if (decision.reason !== null && !REASONS.has(decision.reason))
    return "is denied for a reason that cannot occur in this run";
  if (decision.reason !== "feature_not_in_plan" && decision.creditsRequired !== due)
    return `should require ${due} credits`;
  const { balance } = decision;
  if (balance === null || !Number.isSafeInteger(balance) || balance < 0) return "has no valid balance";
  if (request.endpoint === "check") return null;
  if ((decision.consumeId !== null) !== decision.allowed) return "has a consumeId without a charge";
  return decision.creditsCharged === (decision.allowed ? due : 0) ? null : `should charge ${due} credits`;
}
