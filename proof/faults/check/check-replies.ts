import type { PlanContent } from "../../harness/project.ts";
import { OVERAGE_PLANS } from "../catalog.ts";
import {
  type Call,
  type ClientRequest,
  claimedKey,
  findDueRefusal,
  type HoldChangeRequest,
  hasItems,
  isDecided,
  isHoldChange,
  itemsOf,
  type ReverseRequest,
  type Span,
} from "../history.ts";
import { type DecidedItem, type Decision, findDecision, findReversed, type Overage } from "./answers.ts";
import { dueFor } from "./check-items.ts";
import type { Violation } from "./violation.ts";

/** The denial reasons possible in this run: no customer is blocked, and every customer has a plan. */
const REASONS = new Set(["feature_not_in_plan", "limit_reached", "insufficient_credits"]);

/** I2, checked only with the responses: one outcome per key, and identical bytes in every 200. */
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

/** For each request, the possible responses are known. Any other response is a violation. */
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
      if (request.endpoint === "reverse") return findWrongReversal(call, request);
      return isDecided(request) ? findWrongDecision(call) : null;
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
  if (isHoldChange(request)) return status === 409 && HOLD_REFUSALS[request.endpoint].includes(code);
  if (request.endpoint === "reverse" && status === 409 && code === "nothing_to_reverse") return true;
  return (
    request.key !== null &&
    claimedKey(request) !== null &&
    status === 409 &&
    code === "idempotency_key_reused"
  );
}

/** The response identifies the charge, and its totals are the sums of its items. The reversal of a part has one item. */
function findWrongReversal(call: Call, request: ReverseRequest): string | null {
  const reversed = findReversed(call);
  if (reversed === null) return "has an unreadable response";
  const { consumeId, customerId, items, creditsReturned, overageCredits } = reversed;
  if (consumeId !== request.consumeId || customerId !== request.customerId) return "returned another charge";
  const sum = (of: "creditsReturned" | "overageCredits"): number =>
    items.reduce((total, item) => total + item[of], 0);
  if (creditsReturned !== sum("creditsReturned") || overageCredits !== sum("overageCredits"))
    return "returned a total that differs from the sum of its items";
  if (request.quantity === null) return items.length > 0 ? null : "reversed nothing";
  const [item] = items;
  const isAsked = item?.quantity === request.quantity && (request.feature ?? item.feature) === item.feature;
  return isAsked && items.length === 1 ? null : "reversed another quantity or feature";
}

/** Error codes that can reject a change of an acknowledged hold. A hold can be settled until 35 days after its end. */
const HOLD_REFUSALS: Readonly<Record<HoldChangeRequest["endpoint"], readonly string[]>> = {
  settle: ["hold_settled", "hold_released"],
  release: ["hold_settled", "hold_expired"],
  extend: ["hold_settled", "hold_released", "hold_expired"],
};

/** The response repeats the request, and its numbers follow from the prices. */
function findWrongDecision(call: Call): string | null {
  const { request } = call;
  const decision = findDecision(call);
  if (decision === null || !isDecided(request)) return "has an unreadable response";
  if (decision.customerId !== request.customerId) return "returned another customerId";
  const asked = itemsOf(request);
  if (decision.hasItems !== hasItems(request) || decision.items.length !== asked.length)
    return "returned different items from the request";
  for (const [index, item] of asked.entries())
    for (const field of ["feature", "quantity"] as const)
      if (decision.items[index]?.[field] !== item[field]) return `returned another ${field}`;
  if (decision.allowed !== (decision.reason === null))
    return "is allowed with a reason, or denied without one";
  if (decision.reason !== null && !REASONS.has(decision.reason))
    return "is denied for a reason that cannot occur in this run";
  const isCharged = request.endpoint === "consume" && decision.allowed;
  if ((decision.consumeId !== null) !== isCharged) return "has a consumeId without a charge";
  const isHeld = request.endpoint === "holds" && decision.allowed;
  if ((decision.holdId !== null) !== isHeld || (decision.expiresAtMs !== null) !== isHeld)
    return "has a holdId without a hold";
  for (const item of decision.items) {
    const { balance, creditsRequired, creditsCharged, creditsHeld } = item;
    const due = dueFor(item);
    if (creditsRequired !== due) return `should require ${due} credits`;
    if (balance === null || !Number.isSafeInteger(balance) || balance < 0) return "has no valid balance";
    const { overage, overageCredits } = item;
    const paid = due - (overageCredits ?? 0);
    if (creditsCharged !== (request.endpoint === "consume" ? (isCharged ? paid : 0) : null))
      return `should charge ${isCharged ? paid : 0} credits`;
    if (creditsHeld !== (request.endpoint === "holds" ? (isHeld ? paid : 0) : null))
      return `should hold ${isHeld ? paid : 0} credits`;
    if (overage !== null && !isPossible(overage)) return "has more overage than its plan allows";
    if (
      isCharged || isHeld
        ? (overageCredits ?? 0) > 0 && balance > 0
        : overageCredits !== beyondOf(decision, item)
    )
      return "has overage that its balance does not explain";
  }
  // An allowed request returns the balance after the charge, which is not enough to decide it again.
  return isCharged || isHeld ? null : findWrongReason(decision);
}

/** The limit is from a plan and is not exceeded. A part of the remaining overage may be held. */
function isPossible({ credits, used, remaining }: Overage): boolean {
  if (!OVERAGE_LIMITS.has(credits) || used < 0) return false;
  if (credits === null || remaining === null) return credits === remaining;
  return remaining >= 0 && used + remaining <= credits;
}

const OVERAGE_LIMITS: ReadonlySet<number | null> = new Set(
  Object.values<PlanContent>(OVERAGE_PLANS)
    .flatMap(({ allowance, otherAllowances = {} }) => [allowance, ...Object.values(otherAllowances)])
    .flatMap(({ overage = 0 }) => (overage === 0 ? [] : [overage])),
);

/** The part of an allowed item's price that the balance does not cover, after the items before it. Null if the plan has no overage. */
function beyondOf({ items, allowed }: Decision, item: DecidedItem): number | null {
  if (item.overage === null) return null;
  if (!allowed) return 0;
  const before = items.slice(0, items.indexOf(item)).filter(({ pool }) => pool === item.pool);
  const balance = before.reduce((left, { creditsRequired }) => left - creditsRequired, item.balance ?? 0);
  return Math.max(0, item.creditsRequired - Math.max(0, balance));
}

/** The reason and the affordable quantity follow from the balances and limits in the response. */
function findWrongReason({ items, reason, deniedItem, affordableQuantity }: Decision): string | null {
  if ((deniedItem === null) !== (reason === null))
    return "is denied without a denied item, or allowed with one";
  const first = items.findIndex((_, index) => reasonOf(items, index) !== null);
  if (reason !== "feature_not_in_plan") {
    const expected = reasonOf(items, first);
    if (first !== (deniedItem ?? -1) || expected !== reason)
      return `has item ${first} denied for ${expected} by its own numbers`;
  } else if (first >= 0 && first < (deniedItem ?? 0)) return `has item ${first} denied by its own numbers`;
  if (affordableQuantity === null || deniedItem === null) return null;
  const allows = (quantity: number): boolean =>
    reason !== "feature_not_in_plan" && reasonOf(items, deniedItem, quantity) === null;
  const isLargest =
    (affordableQuantity === 0 || allows(affordableQuantity)) && !allows(affordableQuantity + 1);
  return isLargest ? null : `should not call ${affordableQuantity} affordable`;
}

/** Null if the balance, overage and limit allow this quantity of an item, after the items before it. */
function reasonOf(
  items: readonly DecidedItem[],
  index: number,
  quantity = items[index]?.quantity,
): string | null {
  const item = items[index];
  if (item === undefined || quantity === undefined) return null;
  if (item.limit !== null && quantity > item.limit.remaining) return "limit_reached";
  let required = dueFor({ ...item, quantity });
  for (const other of items.slice(0, index)) if (other.pool === item.pool) required += dueFor(other);
  const overage = item.overage === null ? 0 : (item.overage.remaining ?? Number.POSITIVE_INFINITY);
  return required > (item.balance ?? 0) + overage ? "insufficient_credits" : null;
}

/**
 * Only denials have an affordable quantity. During an upgrade, denials of consume requests have none until it is finished, and
 * checks have none if the earlier release responds. A replay has the bytes of the first response, even after the upgrade.
 */
export function checkAffordable(calls: readonly Call[], finished: Span | null): Violation[] {
  const callsOf = Map.groupBy(calls, ({ request }) => request.marker);
  return [...callsOf].flatMap(([marker, sent]): Violation[] => {
    const [first] = sent.filter((call) => findDecision(call) !== null).toSorted((a, b) => a.endMs - b.endMs);
    const decision = first === undefined ? null : findDecision(first);
    if (first === undefined || decision === null) return [];
    const isAfter = finished === null || sent.every(({ startMs }) => startMs >= finished.endMs);
    const isBefore = finished !== null && first.endMs <= finished.startMs;
    const isAbsent = decision.allowed || (isBefore && first.request.endpoint === "consume");
    const problem =
      decision.affordableQuantity === null
        ? !decision.allowed && isAfter && "has no affordable quantity"
        : isAbsent && "should have no affordable quantity";
    if (problem === false) return [];
    return [{ invariant: "replies", text: `${marker} ${problem}: ${JSON.stringify(first.outcome)}` }];
  });
}
