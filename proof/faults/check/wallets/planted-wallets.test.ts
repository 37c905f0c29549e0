import { type PlantedBug, testPlanted } from "../honest/planted.ts";
import type { Run } from "../honest/run.ts";
import { change, chargeAgain, isOf, remove } from "../honest/tamper.ts";
import type { StoredWallet } from "../stored.ts";

const ofRich = ({ customer }: { customer: number }): boolean => customer === 1;

/** Rewrites the state of the rich customer's wallet. */
function rewriteState(run: Run, from: string | RegExp, to: string): void {
  change(run.wallets, ofRich, ({ state }): Partial<StoredWallet> => {
    if (state.search(from) < 0) throw new Error(`no ${from} in ${state}`);
    return { state: state.replace(from, to) };
  });
}

const PLANTED: readonly PlantedBug[] = [
  {
    bug: "two entries from the same balance (no row lock)",
    invariant: "I4",
    says: /consume 6 of customer_1 makes 2770 of 2766 and -10/,
    plant: (run) =>
      // As if it had read the wallet before the charge of 4 that committed in between.
      change(run.ledger, isOf("unknown-stored"), ({ balanceAfter }) => ({ balanceAfter: balanceAfter + 14 })),
  },
  {
    bug: "a wallet written over by a transaction that had not seen the last one (no row lock: balance too high)",
    invariant: "I4",
    says: /customer_1: the wallet says \d+, its ledger \d+/,
    plant: (run) => change(run.wallets, ofRich, ({ balance }) => ({ balance: balance + 10 })),
  },
  {
    bug: "two entries with one sequence (no row lock)",
    invariant: "I4",
    says: /consume 5 of customer_1 follows 5/,
    plant: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ sequence: 5 })),
  },
  {
    bug: "a lost entry, with its key: a gap",
    invariant: "I4",
    says: /consume 7 of customer_1 follows 5/,
    plant: (run) => {
      remove(run.ledger, isOf("unknown-stored"));
      remove(run.keys, ({ key }) => key === "key-unknown-stored");
    },
  },
  {
    bug: "the last entry is lost",
    invariant: "I4",
    says: /customer_1: the wallet is at \d+, its ledger at \d+/,
    plant: (run) => remove(run.ledger, (entry) => ofRich(entry) && entry.sequence === lastOf(run)),
  },
  {
    bug: "a double charge that chains",
    invariant: "I4",
    says: /customer_1: pool 1 has \d+ by its entries, \d+ in open grants/,
    plant: (run) => chargeAgain(run, "image"),
  },
  {
    bug: "a wallet whose grants are not the fold of its ledger",
    invariant: "I4",
    says: /customer_1: grant 2 has \d+ by its entries, \d+ in the wallet/,
    plant: (run) => rewriteState(run, /\[2,1,2,(\d+),null\]/, "[2,1,2,1$1,null]"),
  },
  {
    bug: "credits that moved from one grant to another",
    invariant: "I4",
    says: /customer_1: grant 2 has/,
    plant: (run) => change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("1:", "2:") })),
  },
  {
    bug: "a balance below 0",
    invariant: "I4",
    says: /consume 2 of customer_2 leaves -10/,
    plant: (run) => change(run.ledger, isOf("last"), () => ({ amount: -60, balanceAfter: -10 })),
  },
  {
    bug: "parts that are not the amount",
    invariant: "I4",
    says: /moves -30, and its parts -29/,
    plant: (run) =>
      change(run.ledger, isOf("image"), ({ parts }) => ({ parts: parts.replace("-30", "-29") })),
  },
  {
    bug: "parts that cannot be read",
    invariant: "I4",
    says: /unreadable parts: 1:-3.5/,
    plant: (run) => change(run.ledger, isOf("image"), () => ({ parts: "1:-3.5" })),
  },
  {
    bug: "a consume that gives credits",
    invariant: "I4",
    says: /moves 30/,
    plant: (run) => change(run.ledger, isOf("image"), () => ({ amount: 30, parts: "1:30" })),
  },
  {
    bug: "a limit counter that is not the fold of its ledger",
    invariant: "I4",
    says: /plan starter has 1 from 7 on for reports.export, and the ledger 2/,
    plant: (run) => rewriteState(run, "[3,null,2,7]", "[3,null,1,7]"),
  },
  {
    bug: "a limit counter is lost",
    invariant: "I4",
    says: /plan starter has no counter for reports.export/,
    plant: (run) => rewriteState(run, "[3,null,2,7]", ""),
  },
  {
    bug: "more than the limit",
    invariant: "I4",
    says: /takes reports.export to 41 of 40/,
    plant: (run) => change(run.ledger, isOf("export"), () => ({ quantity: 41 })),
  },
  {
    bug: "a customer without a wallet",
    invariant: "I4",
    says: /customer_1 has no wallet/,
    plant: (run) => remove(run.wallets, ofRich),
  },
  {
    bug: "a wallet that cannot be read",
    invariant: "I4",
    says: /customer_1 has a wallet that cannot be read/,
    plant: (run) => change(run.wallets, ofRich, () => ({ state: "[2,0,0,null,[],[]]" })),
  },
  {
    bug: "a wallet of nobody",
    invariant: "I4",
    says: /customer number 9, who is not there/,
    plant: (run) => run.wallets.push({ customer: 9, sequence: 0, balance: 0, state: "[1,0,0,null,[],[]]" }),
  },
];

function lastOf(run: Run): number {
  return Math.max(...run.ledger.filter(ofRich).map(({ sequence }) => sequence));
}

testPlanted(PLANTED);
