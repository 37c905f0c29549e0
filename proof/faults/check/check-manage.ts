import { POOL } from "../../harness/project.ts";
import { DEFAULT_PLAN } from "../catalog.ts";
import type { ManageCall } from "../history.ts";
import { type Account, nameOf } from "./accounts.ts";
import { customerIdsOf, type Stored, type StoredEntry } from "./stored.ts";
import { chargeId, findUuid, isOfClient, requestIdOf } from "./subjects.ts";
import { listDifferences, type Violation } from "./violation.ts";

/** Acknowledged top-ups are stored once, even if requested several times. No other grants are stored. */
export function checkAddedCredits(calls: readonly ManageCall[], stored: Stored): Violation[] {
  const { grants, pools } = stored;
  const poolKeyOf = new Map(pools.map(({ id, key }) => [id, key]));
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
    const { customerId, kind, credits, expiresAtMs, pool = POOL } = request;
    for (const row of rows) {
      const found = { ...row, customerId: customerIdOf.get(row.customer), pool: poolKeyOf.get(row.pool) };
      const differences = listDifferences(found, { customerId, kind, credits, expiresAtMs, pool });
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

/** A customer's current or pending plan is the last assigned plan, or a plan from an assignment with unknown outcome. */
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
    // The default plan is applied with the first decision, and this customer had no decision.
    if (latest === null && !possible.has(customerId)) return [];
    const plan = plans.find(({ id }) => id === latest?.plan)?.key ?? "none";
    const expected = possible.get(customerId) ?? new Set([DEFAULT_PLAN]);
    if (expected.has(plan)) return [];
    const text = `${customerId} has plan ${plan}, expected ${[...expected].join(" or ")}`;
    return [{ invariant: "I1", text }];
  });
}

/** I1 and I3 for the operator's reversals: the ledger contains the acknowledged reversals, and no others except with unknown outcome. */
export function checkReversed(calls: readonly ManageCall[], accounts: readonly Account[]): Violation[] {
  const reversals = calls.flatMap(({ request, outcome }): Reversal[] => {
    const id = request.operation === "reverseConsume" ? findUuid("con", request.consumeId) : null;
    return request.operation !== "reverseConsume" || id === null ? [] : [{ id, request, outcome }];
  });
  const asked = Map.groupBy(reversals, ({ id }) => id);
  const violations = accounts.flatMap(({ customerId, entries }): Violation[] => {
    const reversalsOf = Map.groupBy(
      entries.filter(({ kind }) => kind === "reverse"),
      ({ reverses }) => reverses,
    );
    const charges = entries.filter(({ kind }) => kind === "consume");
    const isOpen = ({ sequence, quantity }: StoredEntry): boolean =>
      quantityOf(reversalsOf.get(sequence) ?? []) < (quantity ?? 0);
    return [
      ...entries
        .filter(({ kind }) => kind === "revoke")
        .map((entry): Violation => {
          return { invariant: "I3", text: `${nameOf(customerId, entry)} was never requested` };
        }),
      ...charges.flatMap((entry): Violation[] => {
        const own = asked.get(requestIdOf(entry)) ?? [];
        const reversed = (reversalsOf.get(entry.sequence) ?? []).filter((reversal) => !isOfClient(reversal));
        const problem = findProblem(entry, reversed, own);
        return problem === null ? [] : [{ ...problem, text: `${nameOf(customerId, entry)} ${problem.text}` }];
      }),
      ...[...Map.groupBy(charges, requestIdOf)].flatMap(([id, group]): Violation[] => {
        const open = group.find(isOpen);
        if (open === undefined || !isReversedWhole(asked.get(id) ?? [], group, reversalsOf)) return [];
        const text = `${nameOf(customerId, open)} is not reversed, but its whole request is`;
        return [{ invariant: "I1", text }];
      }),
    ];
  });
  const found = new Set(accounts.flatMap(({ entries }) => entries.filter(isFirst).map(chargeId)));
  for (const [id, group] of asked) {
    const isMissing = group.some(({ outcome }) => outcome.kind === "reversed") && !found.has(id);
    if (isMissing) violations.push({ invariant: "I1", text: `${id} was reversed, but is not a charge` });
    const isUnseen = ({ outcome }: Reversal): boolean =>
      outcome.kind === "refused" && outcome.reason === "consume_not_found";
    if (group.some(isUnseen)) {
      const text = `${id} or one of its items was not found when it was reversed, but was acknowledged`;
      violations.push({ invariant: "I1", text });
    }
  }
  return violations;
}

type Reversal = Pick<ManageCall, "outcome"> & {
  /** The first charge of the request. */
  readonly id: string;
  readonly request: Extract<ManageCall["request"], { operation: "reverseConsume" }>;
};

function isFirst({ kind, item }: StoredEntry): boolean {
  return kind === "consume" && (item ?? 0) === 0;
}

function quantityOf(reversals: readonly StoredEntry[]): number {
  return reversals.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0);
}

type Share = { readonly quantity: number; readonly credits: number; readonly overageCredits?: number };

/** How much of one charge an acknowledged reversal returned. */
function shareOf({ request, outcome }: Reversal, index: number): Share {
  const none = { quantity: 0, credits: 0 };
  if (outcome.kind !== "reversed") return none;
  const { quantity, credits, items = [{ item: request.item ?? 0, quantity, credits }] } = outcome;
  return items.find(({ item }) => item === index) ?? none;
}

function findProblem(
  consume: StoredEntry,
  reversals: readonly StoredEntry[],
  asked: readonly Reversal[],
): Violation | null {
  const index = consume.item ?? 0;
  let [quantity, credits, overage, unknown] = [0, 0, 0, 0];
  for (const reversal of asked) {
    const { request, outcome } = reversal;
    const share = shareOf(reversal, index);
    quantity += share.quantity;
    credits += share.credits;
    overage += share.overageCredits ?? 0;
    const isNamed = (request.item ?? index) === index;
    if (outcome.kind === "unknown" && isNamed) unknown += request.quantity ?? consume.quantity ?? 0;
  }
  const reversed = quantityOf(reversals);
  const back = reversals.reduce((sum, entry) => sum + entry.amount, 0);
  const undone = reversals.reduce((sum, entry) => sum + entry.overage, 0);
  const text = `has ${reversed} reversed for ${back} credits and ${undone} overage, expected ${quantity} for ${credits} and ${overage}, and at most ${unknown} more`;
  if (reversed < quantity || back < credits || undone < overage) return { invariant: "I1", text };
  const isMore = reversed > quantity + unknown || (unknown === 0 && (back !== credits || undone !== overage));
  return isMore ? { invariant: "I3", text } : null;
}

/** Whether a reversal of the whole request took effect: it was acknowledged, or no other reversal explains the entries. */
function isReversedWhole(
  asked: readonly Reversal[],
  charges: readonly StoredEntry[],
  reversalsOf: ReadonlyMap<number | null, readonly StoredEntry[]>,
): boolean {
  const isWhole = ({ request }: Reversal): boolean =>
    (request.item ?? null) === null && request.quantity === null;
  if (asked.some((call) => isWhole(call) && call.outcome.kind === "reversed")) return true;
  const unknown = asked.filter(({ outcome }) => outcome.kind === "unknown");
  if (unknown.length === 0 || !unknown.every(isWhole)) return false;
  return charges.some(({ sequence, item }) => {
    const acknowledged = asked.reduce((sum, call) => sum + shareOf(call, item ?? 0).quantity, 0);
    const reversals = (reversalsOf.get(sequence) ?? []).filter((reversal) => !isOfClient(reversal));
    return quantityOf(reversals) > acknowledged;
  });
}
