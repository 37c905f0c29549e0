import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import { brandAs, type Instant, type PlanId } from "../../../service/src/primitives/brand.ts";
import { type Customer, copyOf, newCustomer } from "../../../service/test/model/customer.ts";
import { answerNow, noticed, viewOf } from "../../../service/test/model/model.ts";
import type { Answer, Request, View } from "../../../service/test/model/request.ts";
import type { Account } from "./accounts.ts";
import type { Act } from "./act.ts";
import { type Answered, listActs } from "./acts.ts";
import { creditsIn, openHoldsOf } from "./hold-rows.ts";
import type { StoredAssignment } from "./stored.ts";
import type { Invariant, Violation } from "./violation.ts";

/**
 * I1 and I4: every charge, denial, reversal, grant and change of a hold, and the final wallet match the result of the reference
 * model for the same requests in the same order, including requests whose response was lost.
 */
export function checkDecisions(account: Account, catalog: Catalog, answered: Answered): Violation[] {
  const complain = (text: string, invariant: Invariant = "I4"): Violation[] => [{ invariant, text }];
  const { customerId, wallet } = account;
  const acts = listActs(account, catalog, answered);
  if (typeof acts === "string") return complain(`${customerId}: ${acts}`);
  let assignments = listAsked(account.assignments);
  let customer: Customer | null = null;
  const decide = (request: Request, atMs: number): { answer: Answer; customer: Customer } => {
    customer ??= newCustomer(atMs);
    return { answer: answerNow(catalog, customer, request, atMs), customer };
  };
  const assign = (isDue: (next: StoredAssignment) => boolean): Violation[] => {
    for (let next = assignments[0]; next !== undefined && isDue(next); next = assignments[0]) {
      assignments.shift();
      const { answer } = decide(toAssign(next), next.recordedAtMs);
      if (answer.kind !== "changed")
        return complain(`${customerId} was assigned plan ${next.plan}, but the model says ${answer.kind}`);
    }
    return [];
  };
  const decideAct = (act: Act): Violation[] => {
    const decided = findDecided(() => decide(act.request, act.atMs));
    if (typeof decided === "string") return complain(`${act.name}: the model says ${decided}`);
    const { answer, customer: after } = decided;
    const expected = act.expect(answer, after);
    const wrong = Object.keys(expected).find((name) => expected[name] !== act.stored[name]);
    if (wrong === undefined) return [];
    const text = `${act.name}: ${wrong} is ${act.stored[wrong]}, but the model says ${expected[wrong]}`;
    return complain(text, wrong.startsWith("the charge") ? "I1" : "I4");
  };
  /** Undoes a step if its result differs from the stored facts. */
  const attempt = (step: () => Violation[]): Violation[] => {
    const before = { customer: customer && copyOf(customer), assignments: [...assignments] };
    const violations = step();
    if (violations.length > 0) ({ customer, assignments } = before);
    return violations;
  };
  const play = (act: Act): Violation[] => {
    const { atMs, planVersion } = act;
    // An assignment comes before the decisions of the same millisecond that use its plan.
    const plan = planVersion === null ? null : catalog.versions.get(brandAs(planVersion))?.plan;
    const unassigned = assign(
      (next) => next.recordedAtMs < atMs || (next.recordedAtMs === atMs && next.plan === plan),
    );
    if (unassigned.length > 0) return unassigned;
    const isAtAssignment = (): boolean => assignments[0]?.recordedAtMs === atMs;
    // The end of a hold does not store the customer's plan, so both orders are possible.
    if (planVersion !== null || !isAtAssignment()) return decideAct(act);
    const isFirst = attempt(() => decideAct(act)).length === 0;
    return isFirst ? [] : [...assign(isAtAssignment), ...decideAct(act)];
  };
  for (const tied of Map.groupBy(acts, ({ position, atMs }) => `${position} ${atMs}`).values()) {
    const violations = playTied(tied, play, attempt);
    if (violations.length > 0) return violations.slice(0, 1);
  }
  const unassigned = assign(() => true);
  if (unassigned.length > 0) return unassigned;
  const found = describeWallet(account);
  const expected = describeCustomer(noticed(catalog, customer, wallet.decidedAt));
  return found === expected ? [] : complain(`${customerId} holds ${found}, but the model says ${expected}`);
}

/** The model throws if a request names a charge or a hold that does not exist, or a hold that has ended. */
function findDecided<T>(decide: () => T): T | string {
  try {
    return decide();
  } catch (error) {
    return String(error);
  }
}

/** The rows do not show the order of a denial and a change of a hold in the same millisecond. One of both orders must fit. */
function playTied(
  acts: readonly Act[],
  play: (act: Act) => Violation[],
  attempt: (step: () => Violation[]) => Violation[],
): Violation[] {
  const changes = acts.filter(({ isDenial }) => !isDenial);
  let denials = acts.filter(({ isDenial }) => isDenial);
  for (const change of changes) {
    denials = denials.filter((denial) => attempt(() => play(denial)).length > 0);
    const violations = play(change);
    if (violations.length > 0) return violations;
  }
  return denials.flatMap(play);
}

/** Changes that the operator requested. All other changes result from the time, the default plan or a pending change. */
function listAsked(rows: readonly StoredAssignment[]): StoredAssignment[] {
  const scheduled = rows.filter(({ kind }) => kind === "scheduled");
  const isStart = ({ plan, effectiveAtMs }: StoredAssignment): boolean =>
    scheduled.some((row) => row.plan === plan && row.effectiveAtMs === effectiveAtMs);
  const asked = rows.filter((row) => {
    if (row.kind === "scheduled") return true;
    return !row.isDefault && (row.kind === "started" || row.kind === "resumed") && !isStart(row);
  });
  // A call that assigns the current plan only drops the pending change.
  const others = new Set(asked.map(({ recordedAtMs }) => recordedAtMs));
  const dropped = rows.filter(
    ({ kind, recordedAtMs }) => kind === "unscheduled" && !others.has(recordedAtMs),
  );
  return [...asked, ...dropped].toSorted((a, b) => a.recordedAtMs - b.recordedAtMs);
}

/** A call that arrives after its `startsAt` starts the plan with that anchor. */
function toAssign({ plan, kind, anchorMs, effectiveAtMs }: StoredAssignment): Request {
  if (kind === "unscheduled") return { kind: "drop_next" };
  const isLate = kind === "started" && anchorMs < effectiveAtMs;
  const terms = { endsAt: undefined, shorten: false, asOf: null };
  return {
    kind: "assign",
    plan: brandAs<PlanId>(plan),
    anchor: isLate ? brandAs<Instant>(anchorMs) : null,
    startsAt: kind === "scheduled" ? brandAs<Instant>(effectiveAtMs) : null,
    ...terms,
  };
}

type Holding = {
  readonly pool: number;
  readonly kind: string;
  readonly remaining: number;
  readonly expiresAt: number | null;
};

type Plans = {
  readonly plan: number | null;
  readonly next: { readonly plan: number; readonly startsAt: number } | null;
};

function describeCustomer(customer: Customer | null): string {
  if (customer === null) return describe({ plan: null, next: null }, [], []);
  const { plan, next, grants, holds } = viewOf(customer);
  return describe({ plan: plan?.plan ?? null, next }, grants, holds);
}

function describeWallet({ wallet, holds }: Account): string {
  const open = wallet.grants.filter(({ remaining }) => remaining > 0);
  const openHolds = openHoldsOf(holds).map(({ hold: { expiresAt, items } }) => {
    return {
      expiresAt,
      items: items.map((item) => {
        return { quantity: item.quantity, credits: creditsIn(item), overage: sumOf(item.overage) };
      }),
    };
  });
  return describe({ plan: wallet.assignment?.plan ?? null, next: wallet.next }, open, openHolds);
}

function describe({ plan, next }: Plans, grants: readonly Holding[], holds: View["holds"]): string {
  const holding = grants.map(
    ({ pool, kind, remaining, expiresAt }) => `${remaining} of ${kind} until ${expiresAt} in pool ${pool}`,
  );
  const then = next === null ? "" : `, then plan ${next.plan} at ${next.startsAt},`;
  const held = holds.map(({ expiresAt, items }) => {
    const taken = items.map(({ quantity, credits, overage }) => `${credits} + ${overage} for ${quantity}`);
    return `a hold of ${taken.join(" and ")} until ${expiresAt}`;
  });
  return `plan ${plan}${then} with ${[...holding, ...held].join(", ") || "nothing"}`;
}
