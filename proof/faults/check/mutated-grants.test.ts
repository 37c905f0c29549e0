import type { StoredEntry } from "./stored.ts";
import { change, type Mutation, remove, testMutations } from "./valid-run/mutations.ts";
import { entryOf, type Run } from "./valid-run/run.ts";

const ofRich = ({ customer }: { customer: number }): boolean => customer === 1;
const ofDry = ({ customer }: { customer: number }): boolean => customer === 2;
const isReversalOf = (run: Run, marker: string) => {
  const { sequence } = entryOf(run, marker);
  return (entry: StoredEntry): boolean => entry.reverses === sequence;
};

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "a reversal returns credits to the wrong grant",
    invariant: "I4",
    says: /returns 2 to grant 2, but charge 5 took only 0 from it/,
    mutate: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ parts: "2:2" })),
  },
  {
    bug: "a reversal returns more than the charge",
    invariant: "I4",
    says: /reverse 8 of customer_1: credits is 6, but the model says 2/,
    mutate: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ amount: 6, parts: "1:6" })),
  },
  {
    bug: "a charge is reversed twice",
    invariant: "I4",
    says: /reverses charge 14, whose reversals reverse 500 units, but it has only 250/,
    mutate: (run) => {
      const reversal = run.ledger.find(isReversalOf(run, "big"));
      if (reversal === undefined) throw new Error("big was not reversed");
      const position = { sequence: lastOf(run) + 1, balanceAfter: reversal.balanceAfter + reversal.amount };
      run.ledger.push({ ...reversal, ...position });
    },
  },
  {
    bug: "a reversal is rounded in the wrong direction",
    invariant: "I4",
    says: /reverse 8 of customer_1: credits is 1, but the model says 2/,
    mutate: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ amount: 1, parts: "1:1" })),
  },
  {
    bug: "a reversal refers to a ledger entry that does not exist",
    invariant: "I4",
    says: /reverses 99, which is not an earlier consume/,
    mutate: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ reverses: 99 })),
  },
  {
    bug: "switching plans back and forth doubles the allowance",
    invariant: "I4",
    says: /entry 13, grant, leaves a balance of 2758 in pool 1, but 2650 \+ 300 is 2950/,
    mutate: (run) =>
      change(
        run.ledger,
        ({ kind, parts, sequence }) => kind === "grant" && parts.startsWith("1:") && sequence > 1,
        () => ({
          amount: 300,
          parts: "1:300",
        }),
      ),
  },
  {
    bug: "a grant row is missing",
    invariant: "I4",
    says: /refers to grant 4, which does not exist/,
    mutate: (run) => remove(run.grants, (grant) => ofRich(grant) && grant.number === 4),
  },
  {
    bug: "a grant has no ledger entry",
    invariant: "I4",
    says: /the ledger has no entry for grant 3/,
    mutate: (run) => {
      const isMerge = ({ kind, amount }: StoredEntry): boolean => kind === "grant" && amount === 300;
      change(run.ledger, isMerge, () => ({ amount: 0, parts: "" }));
    },
  },
  {
    bug: "expired credits are spent",
    invariant: "I4",
    says: /consume 2 of customer_2 spends grant 1, which had expired/,
    mutate: (run) =>
      change(
        run.grants,
        (grant) => ofDry(grant) && grant.number === 1,
        () => ({ expiresAtMs: 1 }),
      ),
  },
  {
    bug: "credits expire although they have no expiry",
    invariant: "I4",
    says: /holds plan 1, .* with nothing, but the model says plan 1, .* with 100 of promotion until null/,
    mutate: (run) =>
      change(
        run.grants,
        (grant) => ofDry(grant) && grant.number === 2,
        () => ({ expiresAtMs: null }),
      ),
  },
];

function lastOf(run: Run): number {
  return Math.max(...run.ledger.filter(ofRich).map(({ sequence }) => sequence));
}

testMutations(MUTATIONS);
