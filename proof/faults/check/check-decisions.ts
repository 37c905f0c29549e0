import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import { brandAs, type Instant, type PlanId } from "../../../service/src/primitives/brand.ts";
import { type Customer, newCustomer } from "../../../service/test/model/customer.ts";
import { answerNow, noticed, viewOf } from "../../../service/test/model/model.ts";
import type { Answer, Request } from "../../../service/test/model/request.ts";
import type { Account } from "./accounts.ts";
import { type AffordableByMarker, listActs } from "./acts.ts";
import type { StoredAssignment } from "./stored.ts";
import type { Invariant, Violation } from "./violation.ts";

/**
 * I1 and I4: every charge, denial, reversal and grant, and the final wallet match the result of the reference model for the
 * same requests in the same order, including requests whose response was lost.
 */
export function checkDecisions(
  account: Account,
  catalog: Catalog,
  affordable: AffordableByMarker,
): Violation[] {
  const complain = (text: string, invariant: Invariant = "I4"): Violation[] => [{ invariant, text }];
  const { customerId, wallet } = account;
  const acts = listActs(account, catalog, affordable);
  if (typeof acts === "string") return complain(`${customerId}: ${acts}`);
  const assignments = listAsked(account.assignments);
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
  for (const act of acts) {
    const { atMs, planVersion } = act;
    // Within one millisecond, an assignment precedes the decisions made on its plan.
    const plan = planVersion === null ? null : catalog.versions.get(brandAs(planVersion))?.plan;
    const unassigned = assign(
      (next) => next.recordedAtMs < atMs || (next.recordedAtMs === atMs && next.plan === plan),
    );
    if (unassigned.length > 0) return unassigned;
    const { answer, customer: after } = decide(act.request, atMs);
    const expected = act.expect(answer, after);
    const wrong = Object.keys(expected).find((name) => expected[name] !== act.stored[name]);
    if (wrong === undefined) continue;
    const text = `${act.name}: ${wrong} is ${act.stored[wrong]}, but the model says ${expected[wrong]}`;
    return complain(text, wrong.startsWith("the charge") ? "I1" : "I4");
  }
  const unassigned = assign(() => true);
  if (unassigned.length > 0) return unassigned;
  const found = describeWallet(account);
  const expected = describeCustomer(noticed(catalog, customer, wallet.decidedAt));
  return found === expected ? [] : complain(`${customerId} holds ${found}, but the model says ${expected}`);
}

/** Changes that the operator requested. All others follow from the time, the default plan or a pending change. */
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
  if (customer === null) return describe({ plan: null, next: null }, []);
  const { plan, next, grants } = viewOf(customer);
  return describe({ plan: plan?.plan ?? null, next }, grants);
}

function describeWallet({ wallet }: Account): string {
  const open = wallet.grants.filter(({ remaining }) => remaining > 0);
  return describe({ plan: wallet.assignment?.plan ?? null, next: wallet.next }, open);
}

function describe({ plan, next }: Plans, grants: readonly Holding[]): string {
  const held = grants.map(
    ({ pool, kind, remaining, expiresAt }) => `${remaining} of ${kind} until ${expiresAt} in pool ${pool}`,
  );
  const then = next === null ? "" : `, then plan ${next.plan} at ${next.startsAt},`;
  return `plan ${plan}${then} with ${held.join(", ") || "nothing"}`;
}
