import type { StoredGrant } from "../stored.ts";
import type { Violation } from "../violation.ts";
import { type Account, type Entry, nameOf } from "./account.ts";

/** A grant that holds credits, with those of the same kind and expiry that were added to it. */
type Slot = {
  readonly head: StoredGrant;
  readonly members: readonly StoredGrant[];
  readonly credits: number;
  readonly given: number[];
  held: number;
};

/** I4: every part names a grant of its pool, and no grant ever gives more than it was given, or anything when it is over. */
export function checkGrants(account: Account): Violation[] {
  const violations: Violation[] = [];
  const slots = openSlots(account.grants);
  for (const entry of account.entries) {
    const complain = (text: string): void => {
      violations.push({ invariant: "I4", text: `${nameOf(account.customerId, entry)} ${text}` });
    };
    for (const { grant, amount } of entry.parsedParts) {
      const slot = slots.get(grant);
      if (slot === undefined) {
        complain(`names grant ${grant}, which is not there`);
        continue;
      }
      slot.held += amount;
      if (entry.kind === "grant") slot.given.push(amount);
      const problem = findProblem(entry, slot);
      if (problem !== null) complain(`${problem} grant ${grant}`);
    }
  }
  const misgiven = [...slots.values()].flatMap((slot): Violation[] => {
    const problem = findMisgiven(slot);
    if (problem === null) return [];
    return [{ invariant: "I4", text: `${account.customerId}: grant ${slot.head.number} ${problem}` }];
  });
  return [...violations, ...misgiven, ...checkNumbers(account)];
}

/** An allowance is given again, up to what was left, when its plan is taken up again; anything else is given once. */
function findMisgiven({ head, members, credits, given }: Slot): string | null {
  const due = head.kind === "allowance" ? given[0] : given.reduce((sum, amount) => sum + amount, 0);
  if (due !== credits) return `is of ${credits}, and the ledger gave it ${due}`;
  const isMixed = members.some(
    ({ pool, kind, expiresAtMs }) =>
      pool !== head.pool || kind !== head.kind || expiresAtMs !== head.expiresAtMs,
  );
  return isMixed ? "has another pool, kind or end than one that was added to it" : null;
}

function checkNumbers({ customerId, grants, state }: Account): Violation[] {
  const numbers = grants.map(({ number }) => number).toSorted((a, b) => a - b);
  const isWhole =
    numbers.length === state.grantCount && numbers.every((number, index) => number === index + 1);
  if (isWhole) return [];
  const text = `${customerId}: the wallet counts ${state.grantCount} grants, and there are ${numbers.join(", ")}`;
  return [{ invariant: "I4", text }];
}

function findProblem(entry: Entry, { head, credits, held }: Slot): string | null {
  if (entry.pool !== head.pool) return "is of another pool than";
  if (held < 0) return `takes more than there is from`;
  if (held > credits) return `puts ${held} where ${credits} were given into`;
  const isOver = head.expiresAtMs !== null && entry.recordedAtMs >= head.expiresAtMs;
  if (entry.kind === "consume" && isOver) return "burns, after its end,";
  if (entry.kind === "expire" && !isOver && head.kind !== "allowance") return "expires, before its end,";
  return null;
}

function openSlots(grants: readonly StoredGrant[]): Map<number, Slot> {
  const membersOf = Map.groupBy(grants, ({ number, mergedInto }) => mergedInto ?? number);
  return new Map(
    grants
      .filter(({ mergedInto }) => mergedInto === null)
      .map((head) => {
        const members = membersOf.get(head.number) ?? [];
        const credits = members.reduce((sum, member) => sum + member.credits, 0);
        return [head.number, { head, members, credits, given: [], held: 0 }];
      }),
  );
}
