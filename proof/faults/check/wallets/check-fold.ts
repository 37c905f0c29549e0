import type { Violation } from "../violation.ts";
import type { Account } from "./account.ts";

/** I4: the wallet is the fold of its ledger; per pool its balance is the sum of entries and the sum of open grants. */
export function checkFold({ customerId, wallet, state, entries }: Account): Violation[] {
  const violations: Violation[] = [];
  const complain = (text: string): void => {
    violations.push({ invariant: "I4", text: `${customerId}: ${text}` });
  };
  const lastSequence = entries.at(-1)?.sequence ?? 0;
  if (wallet.sequence !== lastSequence)
    complain(`the wallet is at ${wallet.sequence}, its ledger at ${lastSequence}`);

  const inLedger = sumBy(entries.map(({ pool, amount }) => [pool, amount] as const));
  const inGrants = sumBy(state.grants.map(({ pool, remaining }) => [pool, remaining] as const));
  for (const pool of new Set([...inLedger.keys(), ...inGrants.keys()])) {
    const sum = inLedger.get(pool) ?? 0;
    const open = inGrants.get(pool) ?? 0;
    if (sum !== open) complain(`pool ${pool} has ${sum} by its entries, ${open} in open grants`);
    if (sum < 0) complain(`pool ${pool} is at ${sum}`);
  }
  const total = [...inLedger.values()].reduce((all, sum) => all + sum, 0);
  if (wallet.balance !== total) complain(`the wallet says ${wallet.balance}, its ledger ${total}`);

  const moved = sumBy(
    entries.flatMap(({ parsedParts }) => parsedParts.map(({ grant, amount }) => [grant, amount] as const)),
  );
  const remaining = new Map(state.grants.map((grant) => [grant.number, grant.remaining]));
  if (remaining.size < state.grants.length) complain("the wallet holds a grant twice");
  for (const number of new Set([...moved.keys(), ...remaining.keys()])) {
    const sum = moved.get(number) ?? 0;
    const left = remaining.get(number) ?? 0;
    if (sum !== left) complain(`grant ${number} has ${sum} by its entries, ${left} in the wallet`);
  }
  return violations;
}

function sumBy(pairs: readonly (readonly [key: number, value: number])[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const [key, value] of pairs) sums.set(key, (sums.get(key) ?? 0) + value);
  return sums;
}
