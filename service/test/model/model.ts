import type { Catalog, Feature, PlanFeature } from "../../src/entitlement/catalog.ts";
import { assign, dropNext, end } from "./assign.ts";
import { add, burn, charge, getNamed, reduce, reverse, reverseRequest, revoke, setAside } from "./credits.ts";
import {
  balanceIn,
  burnList,
  type Customer,
  copyOf,
  type HeldLimit,
  type HoldTaken,
  newCustomer,
  type Paid,
} from "./customer.ts";
import { extend, OPEN_HOLDS_MAX, openHolds, release, settleHold } from "./holds.ts";
import { overageIn, overageOf, spendableIn } from "./overage.ts";
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
  const isAsking = request.kind === "decide" || request.kind === "hold";
  if (customer === null && isAsking && catalog.defaultPlan.plan === null) {
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
    holds: openHolds(customer).map(({ expiresAt, uses }) => ({
      expiresAt,
      items: uses.map(({ consume }) => {
        const { quantity = 0, parts = [], overage = [] } = customer.consumes[consume] ?? {};
        const sum = (paid: readonly Paid[]): number => paid.reduce((total, part) => total + part.credits, 0);
        return { quantity, credits: sum(parts), overage: sum(overage) };
      }),
    })),
  };
}

function answerFor(catalog: Catalog, customer: Customer, request: Request): Answer {
  switch (request.kind) {
    case "decide":
    case "hold":
      return decide(catalog, customer, request);
    case "settle":
      return settleHold(customer, request);
    case "release":
      return release(customer, request);
    case "extend":
      return extend(customer, request);
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
    case "reduce":
      return reduce(customer, request);
    case "reverse":
      return reverse(customer, request);
    case "reverse_request":
      return reverseRequest(customer, request);
  }
}

type AskedItem = { feature: Feature; quantity: number };

/** Finds the features of a request. Null if one does not exist. */
function findItems(catalog: Catalog, { items }: Asked<"decide" | "hold">): AskedItem[] | null {
  const found = items.flatMap(({ feature: key, quantity }) => {
    const feature = catalog.features.get(key);
    return feature === undefined ? [] : [{ feature, quantity }];
  });
  return found.length === items.length ? found : null;
}

function denyUnknownCustomer(catalog: Catalog, request: Asked<"decide" | "hold">): Answer {
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

function decide(catalog: Catalog, customer: Customer, request: Asked<"decide" | "hold">): Answer {
  const asked = findItems(catalog, request);
  if (asked === null) return { kind: "feature_not_found" };
  takeUpDefaultPlan(catalog, customer);
  settle(catalog, customer);
  const befores = asked.map(({ feature }) => positionOf(customer, feature));
  const denial = takeAll(customer, asked, request);
  if (openHolds(customer).length > OPEN_HOLDS_MAX) return { kind: "too_many_holds" };
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

/** Charges or holds one item after the other, each with the credits that earlier items left. The first denial undoes all of them. */
function takeAll(
  customer: Customer,
  asked: readonly AskedItem[],
  request: Asked<"decide" | "hold">,
): Denial | null {
  // With a single item there is nothing to undo, and copying a long history is slow.
  const draft = asked.length === 1 ? customer : copyOf(customer);
  const first = draft.charges.length;
  const uses: HoldTaken["uses"] = [];
  for (const [deniedItem, item] of asked.entries()) {
    const reason = findReason(draft, item);
    if (reason !== null) return { reason, deniedItem, affordableQuantity: affordable(draft, item) };
    const limit = heldLimit(draft, item.feature);
    const consume = take(draft, item, { request: first, isHold: request.kind === "hold" });
    if (request.kind === "hold") uses.push({ consume, held: item.quantity, limit });
    else draft.charges.push(consume);
  }
  if (request.kind === "hold") {
    const { expiresInMs, onExpiry } = request.terms;
    draft.holds.push({
      openedAt: draft.now,
      expiresAt: draft.now + expiresInMs,
      onExpiry,
      state: "open",
      plan: draft.plan?.number ?? 0,
      uses,
    });
  }
  Object.assign(customer, draft);
  return null;
}

function findReason(customer: Customer, item: AskedItem): string | null {
  const { limit } = positionOf(customer, item.feature);
  if (customer.isBlocked) return "customer_blocked";
  if (customer.plan === null) return "no_active_plan";
  if (termsFor(customer, item.feature) === undefined) return "feature_not_in_plan";
  if (limit !== null && limit.used + item.quantity > limit.quantity) return "limit_reached";
  const { pool } = pricedBy(customer, item.feature);
  if (priceOf(customer, item) > spendableIn(customer, pool)) return "insufficient_credits";
  return null;
}

/** The largest quantity that would be allowed instead of the denied quantity, found by trial. */
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
    overage: overageIn(customer, pool),
  };
}

function heldLimit(customer: Customer, feature: Feature): HeldLimit | null {
  const limit = limitOf(customer, feature);
  const own = customer.overrides?.features.find((it) => it.feature === feature.id)?.limit;
  return limit && { quantity: limit.quantity, own: own?.period ?? null };
}

/** Takes the credits of an item, and returns its index. */
function take(
  customer: Customer,
  item: AskedItem,
  { request, isHold }: { request: number; isHold: boolean },
): number {
  const terms = termsFor(customer, item.feature);
  if (terms === undefined) throw new Error("a consume needs a feature that the customer may use");
  const { feature, pool } = terms;
  const price = priceOf(customer, item);
  const overage = overageOf(customer, pool, Math.max(0, price - balanceIn(customer, pool)));
  const parts = burn(customer, pool, price);
  if (isHold) for (const part of parts) setAside(customer, part);
  const { quantity } = item;
  const paid = { terms, parts, overage, uncovered: 0 };
  const use = { request, at: customer.now, feature, pool, quantity, reversed: 0, ...paid };
  const index = customer.consumes.push(use) - 1;
  countUse(customer, item.feature, index);
  return index;
}
