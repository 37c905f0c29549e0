import { chargeOf, isFeatureKey } from "../../catalog.ts";
import type { Violation } from "../violation.ts";
import { type Account, type Entry, nameOf } from "./account.ts";

/** I4: a reversal goes back to the very grants its consume burned, and all of them together never beyond the charge. */
export function checkReversals({ customerId, entries }: Account): Violation[] {
  const violations: Violation[] = [];
  const consumeOf = new Map(
    entries.filter(({ kind }) => kind === "consume").map((entry) => [entry.sequence, entry]),
  );
  const reversals = entries.filter(({ kind }) => kind === "reverse");
  for (const [reverses, group] of Map.groupBy(reversals, (entry) => entry.reverses)) {
    const consume = consumeOf.get(reverses ?? 0);
    const seen: Entry[] = [];
    for (const entry of group) {
      const complain = (text: string): void => {
        violations.push({ invariant: "I4", text: `${nameOf(customerId, entry)} ${text}` });
      };
      if (consume === undefined || consume.sequence >= entry.sequence) {
        complain(`reverses ${reverses}, which is no earlier consume`);
        continue;
      }
      seen.push(entry);
      for (const problem of listProblems(consume, seen)) complain(problem);
    }
  }
  return violations;
}

/** Of the last of the reversals, in the light of those before it. */
function listProblems(consume: Entry, reversals: readonly Entry[]): string[] {
  const problems: string[] = [];
  const entry = reversals.at(-1);
  if (entry?.pool !== consume.pool || entry.feature !== consume.feature)
    problems.push(`is of another pool or feature than consume ${consume.sequence}`);
  const total = (value: (entry: Entry) => number): number =>
    reversals.reduce((sum, reversal) => sum + value(reversal), 0);
  const asked = consume.quantity ?? 0;
  const quantity = total((reversal) => reversal.quantity ?? 0);
  const credits = total(({ amount }) => amount);
  if (quantity > asked || credits > -consume.amount)
    problems.push(
      `takes the reversals to ${quantity} for ${credits} credits, of ${asked} for ${-consume.amount}`,
    );
  else if (isFeatureKey(consume.feature)) {
    const due = -consume.amount - chargeOf(consume.feature, asked - quantity);
    if (credits !== due) problems.push(`takes the reversals to ${credits} credits, where ${due} are right`);
  }
  for (const { grant, amount } of consume.parsedParts) {
    const back = total((reversal) => amountOf(reversal, grant));
    if (back > -amount) problems.push(`takes grant ${grant} back to ${back}, which gave ${-amount}`);
  }
  for (const { grant } of entry?.parsedParts ?? []) {
    if (!consume.parsedParts.some((part) => part.grant === grant))
      problems.push(`goes to grant ${grant}, which consume ${consume.sequence} did not burn`);
  }
  return problems;
}

function amountOf({ parsedParts }: Entry, grant: number): number {
  return parsedParts.find((part) => part.grant === grant)?.amount ?? 0;
}
