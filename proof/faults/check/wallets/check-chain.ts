import type { EntryKind } from "../stored.ts";
import type { Violation } from "../violation.ts";
import { type Account, type Entry, nameOf } from "./account.ts";

/** Grants and reversals give, the others take; of nothing but a grant, a consume or a reversal can there be 0. */
const SIGN: Readonly<Record<EntryKind, { readonly sign: 1 | -1; readonly mayBeZero: boolean }>> = {
  grant: { sign: 1, mayBeZero: true },
  consume: { sign: -1, mayBeZero: true },
  expire: { sign: -1, mayBeZero: false },
  revoke: { sign: -1, mayBeZero: false },
  reverse: { sign: 1, mayBeZero: true },
};

/** I4: entries are numbered from 1 without a gap, and each balance follows from the one before and the amount. */
export function checkChain({ customerId, entries }: Account): Violation[] {
  const violations: Violation[] = [];
  const balances = new Map<number, number>();
  let last = 0;
  for (const entry of entries) {
    const complain = (text: string): void => {
      violations.push({ invariant: "I4", text: `${nameOf(customerId, entry)} ${text}` });
    };
    if (entry.sequence !== last + 1) complain(`follows ${last}`);
    last = entry.sequence;
    const before = balances.get(entry.pool) ?? 0;
    if (before + entry.amount !== entry.balanceAfter)
      complain(`makes ${entry.balanceAfter} of ${before} and ${entry.amount}`);
    if (!(entry.balanceAfter >= 0)) complain(`leaves ${entry.balanceAfter}`);
    // From what the entry says itself, so that one broken link is told once.
    balances.set(entry.pool, entry.balanceAfter);
    const problem = findProblem(entry);
    if (problem !== null) complain(problem);
  }
  return violations;
}

function findProblem({ kind, amount, parsedParts }: Entry): string | null {
  const { sign, mayBeZero } = SIGN[kind];
  if (!Number.isSafeInteger(amount)) return `moves ${amount}, which is not whole`;
  if (amount * sign < 0 || (amount === 0 && !mayBeZero)) return `moves ${amount}`;
  if (parsedParts.some((part) => part.amount * sign <= 0))
    return "has parts of the other sign, or of nothing";
  if (new Set(parsedParts.map(({ grant }) => grant)).size < parsedParts.length)
    return "names a grant twice in its parts";
  const sum = parsedParts.reduce((total, part) => total + part.amount, 0);
  return sum === amount ? null : `moves ${amount}, and its parts ${sum}`;
}
