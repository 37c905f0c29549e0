import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import {
  brandAs,
  type FeatureKey,
  type Instant,
  type PlanId,
  type PoolId,
} from "../../../service/src/primitives/brand.ts";
import { balanceIn, type Customer, newCustomer } from "../../../service/test/model/customer.ts";
import { answerNow, noticed, viewOf } from "../../../service/test/model/model.ts";
import type { Answer, Request } from "../../../service/test/model/request.ts";
import { type Account, nameOf } from "./accounts.ts";
import type { StoredAssignment, StoredDenial, StoredEntry, StoredGrant } from "./stored.ts";
import type { Facts, Invariant, Violation } from "./violation.ts";

/** A decision at its position in the ledger, with the stored facts and those that the model expects. */
type Act = {
  readonly name: string;
  readonly position: number;
  readonly atMs: number;
  readonly request: Request;
  /** The plan version of the row, if it has one. */
  readonly planVersion: number | null;
  readonly stored: Facts;
  readonly expect: (answer: Answer, customer: Customer) => Facts;
};

/**
 * I1 and I4: every charge, denial, reversal and grant is what the reference model decides for the same requests in the same
 * order, including requests whose response was lost. So is the final content of the wallet.
 */
export function checkDecisions(account: Account, catalog: Catalog): Violation[] {
  const complain = (text: string, invariant: Invariant = "I4"): Violation[] => [{ invariant, text }];
  const { customerId, wallet } = account;
  const acts = listActs(account);
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
    return complain(text, wrong === "the charge" ? "I1" : "I4");
  }
  const unassigned = assign(() => true);
  if (unassigned.length > 0) return unassigned;
  const found = describeWallet(account);
  const expected = describeCustomer(noticed(catalog, customer, wallet.decidedAt));
  return found === expected ? [] : complain(`${customerId} holds ${found}, but the model says ${expected}`);
}

/** Sorts the rows in ledger order. A denial is between the last entry it saw and the next one. Returns a string if the rows are inconsistent. */
function listActs({ customerId, wallet, entries, grants, denials }: Account): Act[] | string {
  const acts = denials.map((denial) => denialAct(customerId, denial));
  const ahead = denials.find(({ sequence }) => sequence > wallet.sequence);
  if (ahead !== undefined)
    return `${ahead.marker} was denied at ${ahead.sequence}, but the ledger ends at ${wallet.sequence}`;
  const consumes: number[] = [];
  const added = grants.filter(({ kind }) => kind !== "allowance");
  const slots = new Set(added.map(({ number }) => number));
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === "consume") {
      consumes.push(entry.sequence);
      acts.push(consumeAct(customerId, entry));
    } else if (entry.kind === "reverse") {
      const consume = consumes.indexOf(entry.reverses ?? 0);
      if (consume < 0)
        return `reverse ${entry.sequence} reverses ${entry.reverses}, which is not an earlier consume`;
      acts.push(reverseAct(customerId, { entry, consume, balance: balanceAfter(entries, index) }));
    } else if (entry.kind === "grant" && slots.has(Number.parseInt(entry.parts, 10))) {
      const grant = added.shift();
      if (grant === undefined) return `grant ${entry.sequence} was never added`;
      acts.push(addAct(customerId, entry, grant));
    }
  }
  if (added.length > 0) return `the ledger has no entry for grant ${added[0]?.number}`;
  return acts.toSorted((a, b) => a.position - b.position || a.atMs - b.atMs);
}

function consumeAct(customerId: string, entry: StoredEntry): Act {
  const { feature, quantity, planVersion, amount, balanceAfter: balance } = entry;
  return {
    ...actOf(customerId, entry),
    request: { kind: "decide", feature: brandAs<FeatureKey>(feature ?? ""), quantity: quantity ?? 0 },
    planVersion,
    stored: {
      outcome: "allowed",
      "the charge": -amount,
      "the balance": balance,
      "the plan's version": planVersion,
    },
    expect: (answer) => decidedFacts(answer, "after"),
  };
}

function denialAct(customerId: string, denial: StoredDenial): Act {
  const { marker, sequence, recordedAtMs, feature, quantity, planVersion, reason } = denial;
  return {
    name: `${marker} of ${customerId}, denied at ${sequence}`,
    position: sequence + 0.5,
    atMs: recordedAtMs,
    request: { kind: "decide", feature: brandAs<FeatureKey>(feature ?? ""), quantity },
    planVersion,
    stored: {
      outcome: reason,
      "the charge": denial.creditsRequired,
      "the balance": denial.balance,
      "the plan's version": planVersion,
      "the limit": denial.limitQuantity,
      "the use": denial.limitUsed,
    },
    expect: (answer) => ({
      ...decidedFacts(answer, "before"),
      ...(answer.kind === "decided" && {
        "the limit": answer.before?.limit?.quantity ?? null,
        "the use": answer.before?.limit?.used ?? null,
      }),
    }),
  };
}

function decidedFacts(answer: Answer, when: "before" | "after"): Facts {
  if (answer.kind !== "decided") return { outcome: answer.kind };
  return {
    outcome: answer.reason ?? "allowed",
    "the charge": answer.creditsRequired,
    "the balance": answer[when]?.balance,
    "the plan's version": answer.planVersion,
  };
}

function reverseAct(
  customerId: string,
  { entry, consume, balance }: { entry: StoredEntry; consume: number; balance: number },
): Act {
  const { pool, amount, quantity } = entry;
  return {
    ...actOf(customerId, entry),
    request: { kind: "reverse", consume, quantity },
    stored: { outcome: "reversed", credits: amount, "the balance": balance },
    expect: (answer, customer) =>
      answer.kind === "reversed"
        ? {
            outcome: answer.kind,
            credits: answer.credits,
            "the balance": balanceIn(customer, brandAs<PoolId>(pool)),
          }
        : { outcome: answer.kind },
  };
}

function addAct(customerId: string, entry: StoredEntry, grant: StoredGrant): Act {
  const { kind, credits, expiresAtMs } = grant;
  const pool = brandAs<PoolId>(entry.pool);
  if (kind === "allowance") throw new Error("an allowance is not added");
  const expiresAt = expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs);
  return {
    ...actOf(customerId, entry),
    request: { kind: "add", pool, source: kind, credits, expiresAt },
    stored: { outcome: "added", "the balance": entry.balanceAfter },
    expect: ({ kind: outcome }, customer) => ({ outcome, "the balance": balanceIn(customer, pool) }),
  };
}

function actOf(
  customerId: string,
  entry: StoredEntry,
): Pick<Act, "name" | "position" | "atMs" | "planVersion"> {
  const { sequence: position, recordedAtMs: atMs } = entry;
  return { name: nameOf(customerId, entry), position, atMs, planVersion: null };
}

/** Credits returned to grants that have ended expire immediately, in an entry for each grant. */
function balanceAfter(entries: readonly StoredEntry[], index: number): number {
  const [reversal, ...later] = entries.slice(index);
  if (reversal === undefined) return Number.NaN;
  const returned = new Set(reversal.parts.split(",").map((part) => Number.parseInt(part, 10)));
  const isKept = ({ kind, recordedAtMs, parts }: StoredEntry): boolean =>
    kind !== "expire" ||
    recordedAtMs !== reversal.recordedAtMs ||
    !returned.delete(Number.parseInt(parts, 10));
  const end = later.findIndex(isKept);
  const expiries = end < 0 ? later : later.slice(0, end);
  return (expiries.at(-1) ?? reversal).balanceAfter;
}

/** What the operator asked for. The other changes follow from the time, from the default plan or from a pending change. */
function listAsked(rows: readonly StoredAssignment[]): StoredAssignment[] {
  const scheduled = rows.filter(({ kind }) => kind === "scheduled");
  const isStart = ({ plan, effectiveAtMs }: StoredAssignment): boolean =>
    scheduled.some((row) => row.plan === plan && row.effectiveAtMs === effectiveAtMs);
  return rows
    .filter((row) => {
      if (row.kind === "scheduled") return true;
      return !row.isDefault && (row.kind === "started" || row.kind === "resumed") && !isStart(row);
    })
    .toSorted((a, b) => a.recordedAtMs - b.recordedAtMs);
}

/** A call that arrives after its `startsAt` starts the plan with that anchor. */
function toAssign({ plan, kind, anchorMs, effectiveAtMs }: StoredAssignment): Request {
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

type Holding = { readonly kind: string; readonly remaining: number; readonly expiresAt: number | null };

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
  const held = grants.map(({ kind, remaining, expiresAt }) => `${remaining} of ${kind} until ${expiresAt}`);
  const then = next === null ? "" : `, then plan ${next.plan} at ${next.startsAt},`;
  return `plan ${plan}${then} with ${held.join(", ") || "nothing"}`;
}
