import type { StoredWallet } from "./stored.ts";
import { change, chargeAgain, isOf, type Mutation, remove, testMutations } from "./valid-run/mutations.ts";
import type { Run } from "./valid-run/run.ts";

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
    bug: "two entries start from the same balance (no row lock)",
    invariant: "I4",
    says: /entry 6, consume, leaves a balance of 2770 in pool 1, but 2766 - 10 is 2756/,
    mutate: (run) =>
      // The result of reading the wallet before a concurrent charge of 4.
      change(run.ledger, isOf("unknown-stored"), ({ balanceAfter }) => ({ balanceAfter: balanceAfter + 14 })),
  },
  {
    bug: "a stale transaction overwrites the wallet (no row lock: balance too high)",
    invariant: "I4",
    says: /customer_1: its balance column is 2768, but its grants add up to 2758/,
    mutate: (run) => change(run.wallets, ofRich, ({ balance }) => ({ balance: balance + 10 })),
  },
  {
    bug: "two entries have the same sequence (no row lock)",
    invariant: "I4",
    says: /entry 5, consume, comes where entry 6 is expected/,
    mutate: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ sequence: 5 })),
  },
  {
    bug: "a ledger entry and its key are lost, which leaves a gap",
    invariant: "I4",
    says: /entry 7, consume, comes where entry 6 is expected/,
    mutate: (run) => {
      remove(run.ledger, isOf("unknown-stored"));
      remove(run.keys, ({ key }) => key === "key-unknown-stored");
    },
  },
  {
    bug: "the last ledger entry is lost",
    invariant: "I4",
    says: /customer_1: the wallet is at entry 15, but its ledger ends at entry 14/,
    mutate: (run) => remove(run.ledger, (entry) => ofRich(entry) && entry.sequence === lastOf(run)),
  },
  {
    bug: "a second charge for the same request is appended to the ledger",
    invariant: "I4",
    says: /customer_1: the wallet is at entry 15, but its ledger ends at entry 16/,
    mutate: (run) => chargeAgain(run, "image"),
  },
  {
    bug: "a wallet's grants differ from its ledger",
    invariant: "I4",
    says: /customer_1: grant 2 has 12650 in the wallet, 2650 according to its ledger/,
    mutate: (run) => rewriteState(run, /\[2,1,2,(\d+),null\]/, "[2,1,2,1$1,null]"),
  },
  {
    bug: "a charge takes credits from another grant",
    invariant: "I4",
    says: /customer_1: grant 1 has 108 in the wallet, 138 according to its ledger/,
    mutate: (run) => change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("1:", "2:") })),
  },
  {
    bug: "a wallet's balance is below 0",
    invariant: "I4",
    says: /entry 2, consume, makes the balance of pool 1 negative: -10/,
    mutate: (run) => change(run.ledger, isOf("last"), () => ({ amount: -60, balanceAfter: -10 })),
  },
  {
    bug: "the parts of an entry do not add up to its amount",
    invariant: "I4",
    says: /has amount -30, but its parts add up to -29/,
    mutate: (run) =>
      change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("-30", "-29") })),
  },
  {
    bug: "the parts of an entry are unreadable",
    invariant: "I4",
    says: /consume 4 is unreadable: 1:-3.5/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ parts: "1:-3.5" })),
  },
  {
    bug: "an entry lists a grant twice",
    invariant: "I4",
    says: /consume 4 lists a grant twice in its parts/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ parts: "1:-10,1:-20" })),
  },
  {
    bug: "an entry expires 0 credits",
    invariant: "I4",
    says: /expire 16 moves no credits/,
    mutate: (run) => {
      const last = run.ledger.filter(ofRich).at(-1);
      if (last === undefined) throw new Error("customer_1 has no entries");
      const sequence = last.sequence + 1;
      run.ledger.push({ ...last, sequence, kind: "expire", amount: 0, parts: "", reverses: null });
      change(run.wallets, ofRich, () => ({ sequence }));
    },
  },
  {
    bug: "a charge adds credits",
    invariant: "I4",
    says: /entry 4, consume, leaves a balance of 2770 in pool 1, but 2800 \+ 30 is 2830/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ amount: 30, parts: "1:30" })),
  },
  {
    bug: "a limit counter differs from its ledger",
    invariant: "I4",
    says: /the counter of feature 3 is 1, but 2 according to its ledger/,
    mutate: (run) => rewriteState(run, /\[3,(\d+),2,7\]/, "[3,$1,1,7]"),
  },
  {
    bug: "a limit counter is lost",
    invariant: "I4",
    says: /uses limited feature 3, but no counter in the wallet counts it/,
    mutate: (run) => rewriteState(run, /\[3,\d+,2,7\]/, ""),
  },
  {
    bug: "a charge exceeds the limit",
    invariant: "I4",
    says: /consume 7 of customer_1: outcome is allowed, but the model says limit_reached/,
    mutate: (run) => change(run.ledger, isOf("export"), () => ({ quantity: 41 })),
  },
  {
    bug: "a customer has no wallet",
    invariant: "I4",
    says: /customer_1 has no wallet/,
    mutate: (run) => remove(run.wallets, ofRich),
  },
  {
    bug: "a wallet is unreadable",
    invariant: "I4",
    says: /customer_1 has an unreadable wallet/,
    mutate: (run) => change(run.wallets, ofRich, () => ({ state: "[2,0,0,null,[],[]]" })),
  },
  {
    bug: "a wallet has no customer",
    invariant: "I4",
    says: /customer number 99, which does not exist/,
    mutate: (run) =>
      run.wallets.push({
        customer: 99,
        sequence: 0,
        decidedAtMs: 0,
        balance: 0,
        state: "[1,0,0,null,[],[]]",
      }),
  },
];

function lastOf(run: Run): number {
  return Math.max(...run.ledger.filter(ofRich).map(({ sequence }) => sequence));
}

testMutations(MUTATIONS);
