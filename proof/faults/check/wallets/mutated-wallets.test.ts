import type { StoredWallet } from "../stored.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import type { Run } from "../valid-run/run.ts";
import { change, chargeAgain, isOf, remove } from "../valid-run/tamper.ts";

const ofRich = ({ customer }: { customer: number }): boolean => customer === 1;

/** Rewrites the state of the rich customer's wallet. */
function rewriteState(run: Run, from: RegExp, to: string): void {
  change(run.wallets, ofRich, ({ state }): Partial<StoredWallet> => {
    if (state.search(from) < 0) throw new Error(`no ${from} in ${state}`);
    return { state: state.replace(from, to) };
  });
}

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "two entries from the same balance (no row lock)",
    invariant: "I4",
    says: /entry 6, consume, makes 2770 of 2766 and -10/,
    mutate: (run) =>
      // As if it had read the wallet before the charge of 4 that committed in between.
      change(run.ledger, isOf("unknown-stored"), ({ balanceAfter }) => ({ balanceAfter: balanceAfter + 14 })),
  },
  {
    bug: "a wallet written over by a transaction that had not seen the last one (no row lock: balance too high)",
    invariant: "I4",
    says: /customer_1: its balance column says 2768, its grants 2758/,
    mutate: (run) => change(run.wallets, ofRich, ({ balance }) => ({ balance: balance + 10 })),
  },
  {
    bug: "two entries with one sequence (no row lock)",
    invariant: "I4",
    says: /entry 5, consume, follows entry 5/,
    mutate: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ sequence: 5 })),
  },
  {
    bug: "a lost entry, with its key: a gap",
    invariant: "I4",
    says: /entry 7, consume, follows entry 5/,
    mutate: (run) => {
      remove(run.ledger, isOf("unknown-stored"));
      remove(run.keys, ({ key }) => key === "key-unknown-stored");
    },
  },
  {
    bug: "the last entry is lost",
    invariant: "I4",
    says: /customer_1: the wallet is at entry 15, its ledger at 14/,
    mutate: (run) => remove(run.ledger, (entry) => ofRich(entry) && entry.sequence === lastOf(run)),
  },
  {
    bug: "a double charge that chains",
    invariant: "I4",
    says: /customer_1: the wallet is at entry 15, its ledger at 16/,
    mutate: (run) => chargeAgain(run, "image"),
  },
  {
    bug: "a wallet whose grants are not the fold of its ledger",
    invariant: "I4",
    says: /customer_1: grant 2 has 12650 in the wallet, 2650 by its ledger/,
    mutate: (run) => rewriteState(run, /\[2,1,2,(\d+),null\]/, "[2,1,2,1$1,null]"),
  },
  {
    bug: "credits that moved from one grant to another",
    invariant: "I4",
    says: /customer_1: grant 1 has 108 in the wallet, 138 by its ledger/,
    mutate: (run) => change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("1:", "2:") })),
  },
  {
    bug: "a balance below 0",
    invariant: "I4",
    says: /entry 2, consume, leaves -10/,
    mutate: (run) => change(run.ledger, isOf("last"), () => ({ amount: -60, balanceAfter: -10 })),
  },
  {
    bug: "parts that are not the amount",
    invariant: "I4",
    says: /moves -30, and its parts -29/,
    mutate: (run) =>
      change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("-30", "-29") })),
  },
  {
    bug: "parts that cannot be read",
    invariant: "I4",
    says: /consume 4 cannot be read: 1:-3.5/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ parts: "1:-3.5" })),
  },
  {
    bug: "a consume that gives credits",
    invariant: "I4",
    says: /entry 4, consume, makes 2770 of 2800 and 30/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ amount: 30, parts: "1:30" })),
  },
  {
    bug: "a limit counter that is not the fold of its ledger",
    invariant: "I4",
    says: /the counter of feature 3 says 1, its ledger 2/,
    mutate: (run) => rewriteState(run, /\[3,(\d+),2,7\]/, "[3,$1,1,7]"),
  },
  {
    bug: "a limit counter is lost",
    invariant: "I4",
    says: /is of limited feature 3, and no counter of the wallet counts it/,
    mutate: (run) => rewriteState(run, /\[3,\d+,2,7\]/, ""),
  },
  {
    bug: "more than the limit",
    invariant: "I4",
    says: /consume 7 of customer_1: outcome is allowed, where the model says limit_reached/,
    mutate: (run) => change(run.ledger, isOf("export"), () => ({ quantity: 41 })),
  },
  {
    bug: "a customer without a wallet",
    invariant: "I4",
    says: /customer_1 has no wallet/,
    mutate: (run) => remove(run.wallets, ofRich),
  },
  {
    bug: "a wallet that cannot be read",
    invariant: "I4",
    says: /customer_1 has a wallet that cannot be read/,
    mutate: (run) => change(run.wallets, ofRich, () => ({ state: "[2,0,0,null,[],[]]" })),
  },
  {
    bug: "a wallet of nobody",
    invariant: "I4",
    says: /customer number 9, who is not there/,
    mutate: (run) =>
      run.wallets.push({ customer: 9, sequence: 0, decidedAtMs: 0, balance: 0, state: "[1,0,0,null,[],[]]" }),
  },
];

function lastOf(run: Run): number {
  return Math.max(...run.ledger.filter(ofRich).map(({ sequence }) => sequence));
}

testMutations(MUTATIONS);
