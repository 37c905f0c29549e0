import { callOf } from "../honest/calls.ts";
import { entryOf } from "../honest/honest-run.ts";
import { type PlantedBug, testPlanted } from "../honest/planted.ts";
import { addKey } from "../honest/run.ts";
import { change, firstCall, isOf, rewriteBody } from "../honest/tamper.ts";
import { chargeId } from "../subjects.ts";

const PLANTED: readonly PlantedBug[] = [
  {
    bug: "3 per 1000 charged rounded down, in the answer and the ledger (a float in the arithmetic)",
    invariant: "I1",
    says: /charges 3 for 1001 of tokens.generate, which costs 4/,
    plant: (run) => {
      change(run.ledger, isOf("tokens"), ({ parts }) => ({ amount: -3, parts: parts.replace("-4", "-3") }));
      rewriteBody(run, "tokens", '"creditsCharged":4', '"creditsCharged":3');
    },
  },
  {
    bug: "a fraction of a credit is charged",
    invariant: "replies",
    says: /tokens .* should charge 4 credits/,
    plant: (run) => rewriteBody(run, "tokens", '"creditsCharged":4', '"creditsCharged":3.003'),
  },
  {
    bug: "a fraction of a credit is in the ledger",
    invariant: "I4",
    says: /moves -3.003, which is not whole/,
    plant: (run) => change(run.ledger, isOf("tokens"), () => ({ amount: -3.003 })),
  },
  {
    bug: "a wrong price is asked for",
    invariant: "replies",
    says: /tokens .* should require 4/,
    plant: (run) => rewriteBody(run, "tokens", '"creditsRequired":4', '"creditsRequired":3'),
  },
  {
    bug: "a check that charges",
    invariant: "I7",
    says: /check is stored 1 times as charge/,
    plant: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ marker: "check" })),
  },
  {
    bug: "a check that takes its key",
    invariant: "I7",
    says: /key-check is stored, and only a check had it/,
    plant: (run) => {
      change(
        run.calls,
        ({ request }) => request.marker === "check",
        ({ request }) => {
          if (request.endpoint !== "check") throw new Error("no check");
          return { request: { ...request, key: "key-check" } };
        },
      );
      addKey(run, "key-check", "consume", chargeId(entryOf(run, "image")));
    },
  },
  {
    bug: "an unknown feature is charged",
    invariant: "replies",
    says: /can only be refused/,
    plant: (run) => {
      const { outcome } = firstCall(run, "image");
      run.calls.push(callOf(firstCall(run, "doomed").request, outcome));
    },
  },
];

testPlanted(PLANTED);
