import type { Catalog } from "../../src/entitlement/catalog.ts";
import { periodHolding } from "./calendar.ts";
import { type Customer, type Heard, isOver } from "./customer.ts";
import { findResumable, leavePlan, settle, takeUpPlan } from "./pass-time.ts";
import type { Answer, Asked } from "./request.ts";

const NEVER = Number.POSITIVE_INFINITY;

// Rules from the guide. The event with the latest time takes effect. Among events with the same time, an assignment yields to all
// others, and all others yield to the end of the plan and to later calls without a time.
const GIVES_WAY_TO: Readonly<Record<Heard["what"], readonly Heard["what"][]>> = {
  assign: ["cut", "schedule", "manual", "closed"],
  cut: ["manual", "closed"],
  schedule: ["manual", "closed"],
  manual: [],
  closed: [],
};

export function assign(catalog: Catalog, customer: Customer, request: Asked<"assign">): Answer {
  const { plan: active, now, next: pending } = customer;
  const { plan, anchor, asOf, shorten } = request;
  if (asOf !== null && asOf > now + 300_000) return { kind: "as_of_out_of_range" };
  const calledAt = Math.min(asOf ?? now, now);
  const periodEnd = endOfPeriod(customer);
  const startsAt = request.startsAt === "period_end" ? periodEnd : (request.startsAt ?? calledAt);
  // The end of the customer's own assignment of this plan, or 0 without one.
  const has = active?.plan === plan && !active.isDefault ? (active.endsAt ?? NEVER) : 0;
  const ownPeriodEnd = active?.plan === plan ? periodEnd : NEVER;
  const isUnknown = startsAt === NEVER || (request.endsAt === "period_end" && ownPeriodEnd === NEVER);
  const namedEnd = request.endsAt === "period_end" ? ownPeriodEnd : request.endsAt;
  const isSchedule = !isUnknown && startsAt > calledAt && (asOf !== null || has <= startsAt);
  const isLater = isSchedule && startsAt > now;
  const wants = namedEnd === undefined ? (!isSchedule && has > 0 ? has : NEVER) : (namedEnd ?? NEVER);
  const isCut = !isUnknown && wants < has;
  const what = isSchedule ? "schedule" : isCut ? "cut" : "assign";

  if (isOld(customer, asOf, what)) return { kind: "unchanged" };
  if (hasStarted(customer, asOf)) return { kind: "unchanged" };
  const isAgain = asOf !== null && customer.heard.findLast((one) => one.asOf === asOf)?.what === what;
  const isPlain = request.endsAt === undefined && request.startsAt === null;
  if (isAgain && what === "assign" && isPlain && (active?.isDefault ?? true)) return { kind: "unchanged" };
  if (isUnknown) return { kind: "no_running_period" };
  if (
    namedEnd !== undefined &&
    isOver(namedEnd, Math.max(startsAt, calledAt)) &&
    (asOf === null || isSchedule)
  )
    return { kind: "ends_in_the_past" };
  const endsAt = wants === NEVER ? null : wants;
  const start = {
    plan,
    startsAt,
    endsAt,
    anchor: anchor ?? usualAnchor(catalog, customer, request, startsAt),
    shorten,
  };
  if (isLater && JSON.stringify(pending) === JSON.stringify(start)) {
    if (asOf !== null) hear(customer, asOf, what);
    return { kind: "unchanged" };
  }
  const from = isLater ? startsAt : now;
  const isActiveThen = active?.plan === plan && !isOver(active.endsAt, from);
  const running = isActiveThen ? active : findResumable({ ...customer, now: from }, plan);
  const isWrongAnchor = anchor !== null && running != null && running.anchor !== anchor;
  if (isWrongAnchor && !isOver(endsAt, from)) return { kind: "anchor_fixed" };
  if (isCut && !shorten && (!isLater || has > startsAt)) return { kind: "would_shorten" };
  const isReplaced = startsAt > now && pending !== null;
  if (asOf === null && !isLater && has > 0 && wants === has && !isReplaced) return { kind: "unchanged" };
  const last = customer.heard.at(-1);
  const isClosed = customer.heard.some((one) => one.asOf === last?.asOf && one.what === "closed");
  const isByPerson = last === undefined || (last.what === "manual" && !isClosed);
  // The event arrived so late that its plan has already ended. It must not remove another plan that a person assigned.
  const isOverByNow = !isLater && (active?.plan !== plan || active.isDefault) && isOver(endsAt, now);
  if (isOverByNow && isByPerson) {
    hear(customer, asOf, "manual");
    return { kind: "unchanged" };
  }
  hear(customer, asOf, asOf !== null ? what : isLater ? "closed" : "manual");
  if (isLater) {
    customer.next = start;
    return { kind: "changed" };
  }

  const isDropped = customer.next !== null;
  customer.next = null;
  if (active?.plan === plan && !isOverByNow) {
    const isSame = active.endsAt === endsAt && !active.isDefault && !isDropped;
    Object.assign(active, { endsAt, isDefault: false });
    settle(catalog, customer);
    return { kind: isSame ? "unchanged" : "changed" };
  }
  if (isOverByNow) {
    const isLeft = active !== null && !active.isDefault;
    if (isLeft) leavePlan(customer);
    settle(catalog, customer);
    return { kind: isLeft || isDropped ? "changed" : "unchanged" };
  }
  leavePlan(customer);
  takeUpPlan(catalog, customer, { ...start, isDefault: false });
  settle(catalog, customer);
  return { kind: "changed" };
}

/** The default anchor. A change at the end of a period keeps the anchor if all periods of the new plan then begin at that time. */
function usualAnchor(
  catalog: Catalog,
  customer: Customer,
  request: Asked<"assign">,
  startsAt: number,
): number {
  const { plan: active, now } = customer;
  if (request.startsAt === null) return now;
  if (request.startsAt !== "period_end" || active === null) return startsAt;
  const version = catalog.plans.get(request.plan)?.versions.findLast((it) => it.publishedAt <= now);
  const periods = (version?.allowances ?? []).map(({ period }) => period).filter((it) => it !== "once");
  const begins = periods.map(
    (period) => periodHolding(period, { anchor: active.anchor, at: startsAt }).start,
  );
  return begins.every((begin) => begin === startsAt) ? active.anchor : startsAt;
}

function isOld({ heard }: Customer, asOf: number | null, what: Heard["what"]): boolean {
  if (asOf === null) return false;
  return heard.some((one) => one.asOf > asOf || (one.asOf === asOf && GIVES_WAY_TO[what].includes(one.what)));
}

/** Whether the last event with that time scheduled a plan that has started since. */
function hasStarted({ heard, next }: Customer, asOf: number | null): boolean {
  return next === null && asOf !== null && heard.findLast((one) => one.asOf === asOf)?.what === "schedule";
}

/** Stores an applied event. A call without a time gets the time of the latest event, if there was one. */
function hear(customer: Customer, asOf: number | null, what: Heard["what"]): void {
  const at = asOf ?? customer.heard.at(-1)?.asOf;
  if (at !== undefined) customer.heard = [...customer.heard, { asOf: at, what }];
}

/** The end of the current period of the plan's longest allowance. `NEVER` if no allowance renews. */
function endOfPeriod({ plan, now }: Customer): number {
  const periods = (plan?.version.allowances ?? []).map(({ period }) => period);
  const longest = (["year", "month", "week", "day"] as const).find((period) => periods.includes(period));
  if (plan === null || longest === undefined) return NEVER;
  return Math.min(
    periodHolding(longest, { anchor: plan.anchor, at: now }).end ?? NEVER,
    plan.endsAt ?? NEVER,
  );
}

export function end(catalog: Catalog, customer: Customer, { asOf }: Asked<"end">): Answer {
  if (asOf !== null && asOf > customer.now + 300_000) return { kind: "as_of_out_of_range" };
  if (isOld(customer, asOf, "closed")) return { kind: "unchanged" };
  const isRepeated = customer.heard.some((one) => one.asOf === asOf && one.what === "closed");
  if (isRepeated && (customer.plan?.isDefault === false || customer.next !== null))
    return { kind: "unchanged" };
  const isDropped = customer.next !== null;
  customer.next = null;
  const isAssigned = customer.plan !== null && !customer.plan.isDefault;
  if (isAssigned) leavePlan(customer);
  if (asOf !== null || isAssigned || isDropped) hear(customer, asOf, asOf === null ? "manual" : "closed");
  settle(catalog, customer);
  return { kind: isAssigned || isDropped ? "ended" : "no_assignment" };
}

export function dropNext(customer: Customer): Answer {
  if (customer.next === null) return { kind: "unchanged" };
  customer.next = null;
  return { kind: "changed" };
}
