import { again, callOf } from "../honest/calls.ts";
import { type PlantedBug, testPlanted } from "../honest/planted.ts";
import { change, chargeAgain, firstCall, isKey, isOf, remove } from "../honest/tamper.ts";
import { keyHashOf } from "../keys/key-hash.ts";

const PLANTED: readonly PlantedBug[] = [
  {
    bug: "a denial without its key (key in another transaction)",
    invariant: "I1",
    says: /dry was acknowledged, key-dry is not stored/,
    plant: (run) => remove(run.keys, isKey("key-dry")),
  },
  {
    bug: "a denial that a replay turns into a charge",
    invariant: "I2",
    says: /key-dry: different answers/,
    plant: (run) => {
      const { request } = firstCall(run, "dry");
      const { outcome } = firstCall(run, "tokens");
      run.calls.push(callOf(request, again(outcome)));
    },
  },
  {
    bug: "a charge on denial",
    invariant: "I4",
    says: /dry, denied as .*charged all the same/,
    plant: (run) => {
      const keyHash = keyHashOf("key-dry");
      chargeAgain(run, "last", { marker: "dry", keyHash });
    },
  },
  {
    bug: "a denial is not stored",
    invariant: "I3",
    says: /dry is stored 0 times as denial/,
    plant: (run) => remove(run.denials, isOf("dry")),
  },
  {
    bug: "a denial stored with another reason than was given",
    invariant: "I4",
    says: /limited, denied as .* stored as/,
    plant: (run) => change(run.denials, isOf("limited"), () => ({ reason: "insufficient_credits" })),
  },
  {
    bug: "a denial for want of credits that were there",
    invariant: "I4",
    says: /dry-unknown .* the balance was 0, and not 10/,
    plant: (run) => change(run.denials, isOf("dry-unknown"), () => ({ balance: 10 })),
  },
  {
    bug: "a denial for want of credits at a moment when they were there",
    invariant: "I4",
    says: /dry-unknown .* the balance of 50 is enough for 10/,
    plant: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 1, balance: 50 })),
  },
  {
    bug: "a denial ahead of its ledger",
    invariant: "I4",
    says: /dry-unknown .* the ledger does not go that far/,
    plant: (run) => change(run.denials, isOf("dry-unknown"), () => ({ sequence: 99 })),
  },
  {
    bug: "a limit that was not reached",
    invariant: "I4",
    says: /limited .* 2 were used, and not 3/,
    plant: (run) => change(run.denials, isOf("limited"), () => ({ limitUsed: 3 })),
  },
];

testPlanted(PLANTED);
