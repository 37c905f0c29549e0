import { DEFAULT_PLAN } from "../catalog.ts";
import type { ManageCall } from "../history.ts";
import { type Account, nameOf } from "./accounts.ts";
import { customerIdsOf, type Stored, type StoredEntry } from "./stored.ts";
import { chargeId, findUuid } from "./subjects.ts";
import { listDifferences, type Violation } from "./violation.ts";

/** Acknowledged top-ups are stored once, however often they were requested, and no other grants are. */
export function checkAddedCredits(calls: readonly ManageCall[], stored: Stored): Violation[] {
  const { grants } = stored;
  const violations: Violation[] = [];
  const customerIdOf = customerIdsOf(stored);
  const grantsOf = Map.groupBy(
    grants.filter(({ kind }) => kind !== "allowance"),
    ({ reference }) => reference,
  );
  const asked = Map.groupBy(calls, ({ request }) =>
    request.operation === "addCredits" ? request.reference : null,
  );
  asked.delete(null);
  for (const [reference, group] of asked) {
    const request = group[0]?.request;
    if (request?.operation !== "addCredits") continue;
    const rows = grantsOf.get(reference) ?? [];
    const min = Number(group.some(({ outcome }) => outcome.kind === "done"));
    const max = Math.max(min, Number(group.some(({ outcome }) => outcome.kind === "unknown")));
    if (rows.length < min || rows.length > max) {
      const text = `${reference} is granted ${rows.length} times, expected ${min} to ${max}`;
      violations.push({ invariant: rows.length < min ? "I1" : "I3", text });
    }
    const { customerId, kind, credits, expiresAtMs } = request;
    for (const row of rows) {
      const found = { ...row, customerId: customerIdOf.get(row.customer) };
      const differences = listDifferences(found, { customerId, kind, credits, expiresAtMs });
      if (differences.length === 0) continue;
      violations.push({ invariant: "I1", text: `${reference} is stored with ${differences.join(", ")}` });
    }
  }
  for (const { customer, number, reference, isRevoked } of grants) {
    const isKnown = reference === null || asked.has(reference);
    if (isKnown && !isRevoked) continue;
    const problem = isRevoked ? "was revoked without a request" : "was never requested";
    const text = `grant ${number} of customer number ${customer}, ${reference}, ${problem}`;
    violations.push({ invariant: "I3", text });
  }
  for (const { customer, number } of grantsOf.get(null) ?? [])
    violations.push({
      invariant: "I3",
      text: `grant ${number} of customer number ${customer} has no reference`,
    });
  return violations;
}

/** A customer has or will have the plan that was assigned last, or one whose assignment has an unknown outcome. */
export function checkPlans(
  calls: readonly ManageCall[],
  accounts: readonly Account[],
  { plans }: Stored,
): Violation[] {
  const possible = new Map<string, Set<string>>();
  for (const { request, outcome } of calls) {
    if (request.operation !== "assignPlan" || outcome.kind === "refused") continue;
    const before = possible.get(request.customerId) ?? [DEFAULT_PLAN];
    // Repeating the current plan keeps the pending change.
    const isKept = outcome.kind === "unknown" || (outcome.kind === "done" && outcome.isUnchanged);
    const kept = isKept ? before : [];
    possible.set(request.customerId, new Set([...kept, request.plan]));
  }
  return accounts.flatMap(({ customerId, wallet: { assignment, next } }): Violation[] => {
    const latest = next ?? assignment;
    // The default plan is applied with the first decision. This customer had none.
    if (latest === null && !possible.has(customerId)) return [];
    const plan = plans.find(({ id }) => id === latest?.plan)?.key ?? "none";
    const expected = possible.get(customerId) ?? new Set([DEFAULT_PLAN]);
    if (expected.has(plan)) return [];
    const text = `${customerId} has plan ${plan}, expected ${[...expected].join(" or ")}`;
    return [{ invariant: "I1", text }];
  });
}

/** I1 and I3 for reversals: acknowledged reversals are in the ledger, and no others. */
export function checkReversed(calls: readonly ManageCall[], accounts: readonly Account[]): Violation[] {
  const asked = Map.groupBy(calls, ({ request }) =>
    request.operation === "reverseConsume" ? findUuid("con", request.consumeId) : null,
  );
  asked.delete(null);
  const found = new Set<string>();
  const violations = accounts.flatMap(({ customerId, entries }): Violation[] => {
    const reversalsOf = Map.groupBy(
      entries.filter(({ kind }) => kind === "reverse"),
      ({ reverses }) => reverses,
    );
    return entries.flatMap((entry): Violation[] => {
      if (entry.kind === "revoke")
        return [{ invariant: "I3", text: `${nameOf(customerId, entry)} was never requested` }];
      if (entry.kind !== "consume") return [];
      const id = chargeId(entry);
      found.add(id);
      const problem = findProblem(entry, reversalsOf.get(entry.sequence) ?? [], asked.get(id) ?? []);
      return problem === null ? [] : [{ ...problem, text: `${nameOf(customerId, entry)} ${problem.text}` }];
    });
  });
  for (const [id, group] of asked) {
    if (id === null || found.has(id) || !group.some(({ outcome }) => outcome.kind === "reversed")) continue;
    violations.push({ invariant: "I1", text: `${id} was reversed, but is not a consume` });
  }
  return violations;
}

function findProblem(
  consume: StoredEntry,
  reversals: readonly StoredEntry[],
  asked: readonly ManageCall[],
): Violation | null {
  const whole = consume.quantity ?? 0;
  let quantity = 0;
  let credits = 0;
  let unknown = 0;
  for (const { request, outcome } of asked) {
    if (outcome.kind === "reversed") {
      quantity += outcome.quantity;
      credits += outcome.credits;
    } else if (outcome.kind === "unknown" && request.operation === "reverseConsume")
      unknown += request.quantity ?? whole;
  }
  const reversed = reversals.reduce((sum, entry) => sum + (entry.quantity ?? 0), 0);
  const back = reversals.reduce((sum, entry) => sum + entry.amount, 0);
  const text = `has ${reversed} reversed for ${back} credits, expected ${quantity} for ${credits} and at most ${unknown} more`;
  if (reversed < quantity || back < credits) return { invariant: "I1", text };
  const isMore = reversed > quantity + unknown || (unknown === 0 && back !== credits);
  return isMore ? { invariant: "I3", text } : null;
}
