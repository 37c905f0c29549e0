import { entryOf } from "../honest/honest-run.ts";
import { type PlantedBug, testPlanted } from "../honest/planted.ts";
import type { Run } from "../honest/run.ts";
import { change, remove } from "../honest/tamper.ts";
import type { StoredEntry } from "../stored.ts";

const ofRich = ({ customer }: { customer: number }): boolean => customer === 1;
const ofDry = ({ customer }: { customer: number }): boolean => customer === 2;
const isReversalOf = (run: Run, marker: string) => {
  const { sequence } = entryOf(run, marker);
  return (entry: StoredEntry): boolean => entry.reverses === sequence;
};

const PLANTED: readonly PlantedBug[] = [
  {
    bug: "a reversal to another grant",
    invariant: "I4",
    says: /goes to grant 2, which consume 5 did not burn/,
    plant: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ parts: "2:2" })),
  },
  {
    bug: "a reversal beyond the charge",
    invariant: "I4",
    says: /takes the reversals to 500 for 6 credits, of 1001 for 4/,
    plant: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ amount: 6, parts: "1:6" })),
  },
  {
    bug: "a consume reversed twice",
    invariant: "I4",
    says: /takes the reversals to 500 for 5000 credits, of 250 for 2500/,
    plant: (run) => {
      const reversal = run.ledger.find(isReversalOf(run, "big"));
      if (reversal === undefined) throw new Error("big was not reversed");
      const place = { sequence: lastOf(run) + 1, balanceAfter: reversal.balanceAfter + reversal.amount };
      run.ledger.push({ ...reversal, ...place });
    },
  },
  {
    bug: "a reversal rounded the other way",
    invariant: "I4",
    says: /takes the reversals to 1 credits, where 2 are right/,
    plant: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ amount: 1, parts: "1:1" })),
  },
  {
    bug: "a reversal of nothing",
    invariant: "I4",
    says: /reverses 99, which is no earlier consume/,
    plant: (run) => change(run.ledger, isReversalOf(run, "tokens"), () => ({ reverses: 99 })),
  },
  {
    bug: "an allowance that flapping between plans has doubled",
    invariant: "I4",
    says: /puts \d+ where 150 were given into grant 1/,
    plant: (run) =>
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
    bug: "a grant that is not there",
    invariant: "I4",
    says: /names grant 4, which is not there/,
    plant: (run) => remove(run.grants, (grant) => ofRich(grant) && grant.number === 4),
  },
  {
    bug: "a grant that the ledger never gave",
    invariant: "I4",
    says: /grant 2 is of 2650, and the ledger gave it 2350/,
    plant: (run) => {
      const isMerge = ({ kind, amount }: StoredEntry): boolean => kind === "grant" && amount === 300;
      change(run.ledger, isMerge, () => ({ amount: 0, parts: "" }));
    },
  },
  {
    bug: "credits burned after their end",
    invariant: "I4",
    says: /burns, after its end, grant 1/,
    plant: (run) =>
      change(
        run.grants,
        (grant) => ofDry(grant) && grant.number === 1,
        () => ({ expiresAtMs: 1 }),
      ),
  },
  {
    bug: "bought credits that expired before their end",
    invariant: "I4",
    says: /expires, before its end, grant 2/,
    plant: (run) =>
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

testPlanted(PLANTED);
