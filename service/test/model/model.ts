import type { Catalog, Feature, PlanFeature } from "../../src/entitlement/catalog.ts";
import { assign, dropNext, end } from "./assign.ts";
import { periodHolding } from "./calendar.ts";
import { add, charge, getNamed, reverse, revoke } from "./credits.ts";
import { balanceIn, burnList, type Customer, copyOf, isOver, newCustomer, usedOf } from "./customer.ts";
import { passTime, settle, takeUpDefaultPlan } from "./pass-time.ts";
import type { Answer, Asked, Position, Request, View } from "./request.ts";

/** The reference model: simple and slow. Returns a changed copy of the customer, which a check discards. */
export function ask(
  catalog: Catalog,
  customer: Customer | null,
  request: Request,
  clock: number,
): { customer: Customer | null; answer: Answer } {
  if (customer === null && request.kind === "decide" && catalog.defaultPlan.plan === null) {
    return { customer: null, answer: denyUnknownCustomer(catalog, request) };
  }
  const next = customer === null ? newCustomer(clock) : copyOf(customer);
  return { answer: answerNow(catalog, next, request, clock), customer: next };
}

/** Changes the customer in place, for long histories, where copying at every step would be too slow. */
export function answerNow(catalog: Catalog, customer: Customer, request: Request, clock: number): Answer {
  passTime(catalog, customer, Math.max(clock, customer.now, catalog.changedAt));
  return answerFor(catalog, customer, request);
}

/** The same customer with everything due applied. */
export function noticed(catalog: Catalog, customer: Customer | null, clock: number): Customer | null {
  if (customer === null) return null;
  const next = copyOf(customer);
  passTime(catalog, next, Math.max(clock, next.now, catalog.changedAt));
  return next;
}

/** A copy in which a spent or expired grant is revoked, without any other change. */
export function withRevoked(customer: Customer | null, request: Request): Customer | null {
  if (customer === null || request.kind !== "revoke") return customer;
  const next = copyOf(customer);
  const { grant, index } = getNamed(next, request.named);
  const addition = grant.additions[index];
  if (addition !== undefined) addition.isRevoked = true;
  return next;
}

export function viewOf(customer: Customer): View {
  const { plan } = customer;
  return {
    decidedAt: customer.now,
    planAsOf: customer.heard.at(-1)?.asOf ?? null,
    plan: plan && {
      plan: plan.plan,
      version: plan.version.id,
      anchor: plan.anchor,
      endsAt: plan.endsAt,
      isDefault: plan.isDefault,
    },
    next: customer.next,
    grants: burnList(customer).map(({ pool, kind, remaining, givenAt, expiresAt }) => ({
      pool,
      kind,
      remaining,
      givenAt,
      expiresAt,
    })),
  };
}

function answerFor(catalog: Catalog, customer: Customer, request: Request): Answer {
  switch (request.kind) {
    case "decide":
      return decide(catalog, customer, request);
    case "assign":
      return assign(catalog, customer, request);
    case "end":
      return end(catalog, customer, request);
    case "drop_next":
      return dropNext(customer);
    case "add":
      return add(customer, request);
    case "revoke":
      return revoke(customer, request.named);
    case "reverse":
      return reverse(customer, request);
  }
}

function denyUnknownCustomer(catalog: Catalog, request: Asked<"decide">): Answer {
  const feature = catalog.features.get(request.feature);
  if (feature === undefined) return { kind: "feature_not_found" };
  return {
    kind: "decided",
    allowed: false,
    reason: "customer_not_found",
    creditsRequired: charge(feature.cost, request.quantity),
    before: null,
    after: null,
    planVersion: null,
  };
}

function decide(catalog: Catalog, customer: Customer, request: Asked<"decide">): Answer {
  const { quantity } = request;
  const feature = catalog.features.get(request.feature);
  if (feature === undefined) return { kind: "feature_not_found" };
  takeUpDefaultPlan(catalog, customer);
  settle(catalog, customer);
  const inPlan = customer.plan?.version.features.get(feature.id);
  const creditsRequired = charge(inPlan?.cost ?? feature.cost, quantity);
  const before = positionOf(customer, feature);
  const reason = findReason(customer, inPlan, { before, quantity, creditsRequired });
  if (reason === null && inPlan !== undefined) consume(customer, inPlan, { quantity, creditsRequired });
  return {
    kind: "decided",
    allowed: reason === null,
    reason,
    creditsRequired,
    before,
    after: positionOf(customer, feature),
    planVersion: customer.plan?.version.id ?? null,
  };
}

function findReason(
  customer: Customer,
  inPlan: PlanFeature | undefined,
  asked: { before: Position; quantity: number; creditsRequired: number },
): string | null {
  const { limit, balance } = asked.before;
  if (customer.isBlocked) return "customer_blocked";
  if (customer.plan === null) return "no_active_plan";
  if (inPlan === undefined) return "feature_not_in_plan";
  if (limit !== null && limit.used + asked.quantity > limit.quantity) return "limit_reached";
  if (asked.creditsRequired > balance) return "insufficient_credits";
  return null;
}

function positionOf(customer: Customer, feature: Feature): Position {
  const { plan, now } = customer;
  const inPlan = plan?.version.features.get(feature.id);
  const pool = inPlan?.pool ?? feature.pool;
  const isGiven = plan?.version.allowances.some((allowance) => allowance.pool === pool);
  const position: Position = {
    balance: balanceIn(customer, pool),
    resetsAt: (isGiven && plan?.periods.find((period) => period.pool === pool)?.end) || null,
    limit: null,
  };
  if (plan && inPlan && inPlan.limit !== null) {
    const used = usedOf(customer, feature.id);
    position.limit = {
      quantity: inPlan.limit.quantity,
      used,
      remaining: Math.max(0, inPlan.limit.quantity - used),
      resetsAt: periodHolding(inPlan.limit.period, { anchor: plan.anchor, at: now }).end,
    };
  }
  return position;
}

function consume(
  customer: Customer,
  inPlan: PlanFeature,
  { quantity, creditsRequired }: { quantity: number; creditsRequired: number },
): void {
  const { plan, now } = customer;
  if (plan === null) throw new Error("a consume needs a plan");
  const parts: { grant: number; credits: number }[] = [];
  let open = creditsRequired;
  for (const grant of burnList(customer).filter((it) => it.pool === inPlan.pool)) {
    const credits = Math.min(open, grant.remaining);
    if (credits === 0) break;
    grant.remaining -= credits;
    grant.gone += credits;
    open -= credits;
    parts.push({ grant: grant.id, credits });
  }
  const { feature, pool } = inPlan;
  customer.consumes.push({ feature, pool, quantity, reversed: 0, version: plan.version, parts });
  const index = customer.consumes.length - 1;
  const live = plan.counters.find((it) => it.feature === feature && !isOver(it.end, now));
  if (live !== undefined) live.consumes.push(index);
  else if (inPlan.limit !== null) {
    const end = periodHolding(inPlan.limit.period, { anchor: plan.anchor, at: now }).end;
    plan.counters.push({ feature, end, consumes: [index] });
  }
}
