import { keyHashOf } from "../keys/key-hash.ts";
import { again, callOf } from "../valid-run/calls.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import { change, chargeAgain, firstCall, isKey, isOf, remove } from "../valid-run/tamper.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "a denial without its key (key in another transaction)",
    invariant: "I1",
    says: /dry was acknowledged, key-dry is not stored/,
    mutate: (run) => remove(run.keys, isKey("key-dry")),
  },
  {
    bug: "a denial that a replay turns into a charge",
    invariant: "I2",
    says: /key-dry: different answers/,
    mutate: (run) => {
      const { request } = firstCall(run, "dry");
      const { outcome } = firstCall(run, "tokens");
      run.calls.push(callOf(request, again(outcome)));
    },
  },
  {
    bug: "a charge on denial",
    invariant: "I4",
    says: /dry, denied as .*charged all the same/,
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
    bug: "a denial stored with another reason than was given",
    invariant: "I4",
    says: /limited, denied as .* stored as/,
    mutate: (run) => change(run.denials, isOf("limited"), () => ({ reason: "insufficient_credits" })),
  },
  {
    bug: "a denial for want of credits that were there",
    invariant: "I4",
    says: /dry-unknown .*: the balance is 10, where the model says 0/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ balance: 10 })),
  },
  {
    bug: "a denial for want of credits at a moment when they were there",
    invariant: "I4",
    says: /dry-unknown .*: outcome is insufficient_credits, where the model says allowed/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 1, balance: 50 })),
  },
  {
    bug: "a denial ahead of its ledger",
    invariant: "I4",
    says: /dry-unknown was denied at 99, and the ledger ends at 4/,
    mutate: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 99 })),
  },
  {
    bug: "a limit that was not reached",
    invariant: "I4",
    says: /limited .*: what was used is 3, where the model says 2/,
    mutate: (run) => change(run.denials, isOf("limited"), () => ({ limitUsed: 3 })),
  },
];

testMutations(MUTATIONS);
