import { keyHashOf } from "./subjects.ts";
import {
  change,
  chargeAgain,
  firstCall,
  isKey,
  isOf,
  type Mutation,
  remove,
  testMutations,
} from "./valid-run/mutations.ts";
import { again, callOf } from "./valid-run/run.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "a denial has no key (key in another transaction)",
    invariant: "I1",
    says: /dry was acknowledged, but key-dry is not stored/,
    mutate: (run) => remove(run.keys, isKey("key-dry")),
  },
  {
    bug: "a replay turns a denial into a charge",
    invariant: "I2",
    says: /key-dry: different responses/,
    mutate: (run) => {
      const { request } = firstCall(run, "dry");
      const { outcome } = firstCall(run, "tokens");
      run.calls.push(callOf(request, again(outcome)));
    },
  },
  {
    bug: "a denied consume request is charged",
    invariant: "I4",
    says: /dry, denied as .*it was charged/,
    mutate: (run) => {
      const keyHash = keyHashOf("key-dry");
      chargeAgain(run, "last", { marker: "dry", keyHash });
    },
  },
  {
    bug: "a denial is not stored",
    invariant: "I3",
    says: /dry is stored 0 times as denial/,
    mutate: (run) => remove(run.denials, isOf("dry")),
  },
  {
    bug: "a denial is stored with a different reason from the response",
    invariant: "I4",
    says: /limited, denied as .* stored with reason insufficient_credits/,
    mutate: (run) => change(run.denials, isOf("limited"), () => ({ reason: "insufficient_credits" })),
  },
  {
    bug: "a denial is stored with the wrong balance",
    invariant: "I4",
    says: /dry-unknown .*: the balance is 10, but the model says 0/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ balance: 10 })),
  },
  {
    bug: "a consume request is denied although the credits were available",
    invariant: "I4",
    says: /dry-unknown .*: outcome is insufficient_credits, but the model says allowed/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 1, balance: 50 })),
  },
  {
    bug: "a denial has a sequence beyond the ledger",
    invariant: "I4",
    says: /dry-unknown was denied at 99, but the ledger ends at 4/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 99 })),
  },
  {
    bug: "a denial is stored with the wrong limit usage",
    invariant: "I4",
    says: /limited .*: the use is 3, but the model says 2/,
    mutate: (run) => change(run.denials, isOf("limited"), () => ({ limitUsed: 3 })),
  },
];

testMutations(MUTATIONS);
