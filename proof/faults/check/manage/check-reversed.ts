import type { ManageCall } from "../../history/manage-call.ts";
import { findUuid } from "../public-uuid.ts";
import type { StoredEntry } from "../stored.ts";
import { chargeId } from "../subjects.ts";
import type { Violation } from "../violation.ts";
import { type Account, nameOf } from "../wallets/account.ts";

/** I1 and I3 for reversals: what was said to go back has gone back, and nothing but what was asked for. */
export function checkReversed(calls: readonly ManageCall[], accounts: readonly Account[]): Violation[] {
  const asked = Map.groupBy(calls, ({ request }) =>
    request.operation === "reverseConsume" ? findUuid("con", request.consumeId) : null,
  );
  asked.delete(null);
  const found = new Set<string>();
  const violations = accounts.flatMap(({ customerId, entries }): Violation[] => {
    const reversalsOf = Map.groupBy(entries.filter(isReversal), ({ reverses }) => reverses);
    return entries.flatMap((entry): Violation[] => {
      if (entry.kind === "revoke")
        return [{ invariant: "I3", text: `${nameOf(customerId, entry)} was never asked for` }];
      if (entry.kind !== "consume") return [];
      const id = chargeId(entry);
      found.add(id);
      const problem = findProblem(entry, reversalsOf.get(entry.sequence) ?? [], asked.get(id) ?? []);
      return problem === null ? [] : [{ ...problem, text: `${nameOf(customerId, entry)} ${problem.text}` }];
    });
  });
  for (const [id, group] of asked) {
    if (id === null || found.has(id) || !group.some(({ outcome }) => outcome.kind === "reversed")) continue;
    violations.push({ invariant: "I1", text: `${id} was reversed, and is no consume` });
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
  const told = `has ${reversed} for ${back} credits reversed, where ${quantity} for ${credits} and perhaps ${unknown} more were`;
  if (reversed < quantity || back < credits) return { invariant: "I1", text: told };
  const isMore = reversed > quantity + unknown || (unknown === 0 && back !== credits);
  return isMore ? { invariant: "I3", text: told } : null;
}

function isReversal({ kind }: StoredEntry): boolean {
  return kind === "reverse";
}
