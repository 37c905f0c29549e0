import type { Catalog, Feature, PlanFeature } from "../../src/entitlement/catalog.ts";
import { assign, dropNext, end } from "./assign.ts";
import { add, charge, getNamed, reverse, reverseRequest, revoke } from "./credits.ts";
import { balanceIn, burnList, type Customer, copyOf, newCustomer } from "./customer.ts";
import { countUse, limitOf, override, termsFor } from "./own-terms.ts";
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

/** Returns the customer with everything due applied. */
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
    overrides: customer.overrides,
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
    case "override":
      return override(catalog, customer, request);
    case "add":
      return add(customer, request);
    case "revoke":
      return revoke(customer, request.named);
    case "reverse":
      return reverse(customer, request);
    case "reverse_request":
      return reverseRequest(customer, request);
  }
}

type AskedItem = { feature: Feature; quantity: number };

/** Finds the features of a request. Null if one does not exist. */
function findItems(catalog: Catalog, { items }: Asked<"decide">): AskedItem[] | null {
  const found = items.flatMap(({ feature: key, quantity }) => {
    const feature = catalog.features.get(key);
    return feature === undefined ? [] : [{ feature, quantity }];
  });
  return found.length === items.length ? found : null;
}

function denyUnknownCustomer(catalog: Catalog, request: Asked<"decide">): Answer {
  const asked = findItems(catalog, request);
  if (asked === null) return { kind: "feature_not_found" };
  return {
    kind: "decided",
    allowed: false,
    reason: "customer_not_found",
    deniedItem: 0,
    affordableQuantity: 0,
    items: asked.map(({ feature, quantity }) => ({
      creditsRequired: charge(feature.cost, quantity),
      before: null,
      after: null,
    })),
    planVersion: null,
  };
}

function decide(catalog: Catalog, customer: Customer, request: Asked<"decide">): Answer {
  const asked = findItems(catalog, request);
  if (asked === null) return { kind: "feature_not_found" };
  takeUpDefaultPlan(catalog, customer);
  settle(catalog, customer);
  const befores = asked.map(({ feature }) => positionOf(customer, feature));
  const denial = chargeAll(customer, asked);
  return {
    kind: "decided",
    allowed: denial === null,
    ...(denial ?? { reason: null, deniedItem: null, affordableQuantity: null }),
    items: asked.map((item, index) => ({
      creditsRequired: priceOf(customer, item),
      before: befores[index] ?? null,
      after: positionOf(customer, item.feature),
    })),
    planVersion: customer.plan?.version.id ?? null,
  };
}

type Denial = { reason: string; deniedItem: number; affordableQuantity: number };

/** Charges one item after the other, each with the credits that earlier items left. The first denial undoes all of them. */
function chargeAll(customer: Customer, asked: readonly AskedItem[]): Denial | null {
  // With a single item there is nothing to undo, and copying a long history is slow.
  const draft = asked.length === 1 ? customer : copyOf(customer);
  const request = draft.consumes.length;
  for (const [deniedItem, item] of asked.entries()) {
    const reason = findReason(draft, item);
    if (reason !== null) return { reason, deniedItem, affordableQuantity: affordable(draft, item) };
    consume(draft, item, request);
  }
  Object.assign(customer, draft);
  return null;
}

function findReason(customer: Customer, item: AskedItem): string | null {
  const { limit, balance } = positionOf(customer, item.feature);
  if (customer.isBlocked) return "customer_blocked";
  if (customer.plan === null) return "no_active_plan";
  if (termsFor(customer, item.feature) === undefined) return "feature_not_in_plan";
  if (limit !== null && limit.used + item.quantity > limit.quantity) return "limit_reached";
  if (priceOf(customer, item) > balance) return "insufficient_credits";
  return null;
}

/** The largest quantity that would be allowed instead of the denied one, found by trial. */
function affordable(customer: Customer, { feature, quantity }: AskedItem): number {
  let [allowed, denied] = [0, quantity];
  while (denied - allowed > 1) {
    const tried = Math.floor((allowed + denied) / 2);
    if (findReason(customer, { feature, quantity: tried }) === null) allowed = tried;
    else denied = tried;
  }
  return allowed;
}

function priceOf(customer: Customer, { feature, quantity }: AskedItem): number {
  return charge(pricedBy(customer, feature).cost, quantity);
}

/** The terms that price a feature. If the customer may not use it, these are the plan's terms, or else the catalog's. */
function pricedBy(customer: Customer, feature: Feature): PlanFeature | Feature {
  return termsFor(customer, feature) ?? customer.plan?.version.features.get(feature.id) ?? feature;
}

function positionOf(customer: Customer, feature: Feature): Position {
  const { plan } = customer;
  const { pool } = pricedBy(customer, feature);
  const isGiven = plan?.version.allowances.some((allowance) => allowance.pool === pool);
  return {
    balance: balanceIn(customer, pool),
    resetsAt: (isGiven && plan?.periods.find((period) => period.pool === pool)?.end) || null,
    limit: limitOf(customer, feature),
  };
}

function consume(customer: Customer, item: AskedItem, request: number): void {
  const terms = termsFor(customer, item.feature);
  if (terms === undefined) throw new Error("a consume needs a feature that the customer may use");
  const parts: { grant: number; credits: number }[] = [];
  let open = priceOf(customer, item);
  for (const grant of burnList(customer).filter((it) => it.pool === terms.pool)) {
    const credits = Math.min(open, grant.remaining);
    if (credits === 0) break;
    grant.remaining -= credits;
    grant.gone += credits;
    open -= credits;
    parts.push({ grant: grant.id, credits });
  }
  const { feature, pool } = terms;
  const { quantity } = item;
  customer.consumes.push({ request, at: customer.now, feature, pool, quantity, reversed: 0, terms, parts });
  countUse(customer, item.feature, customer.consumes.length - 1);
}
