import { chargeId } from "../subjects.ts";
import { callOf } from "../valid-run/calls.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import { addKey } from "../valid-run/run.ts";
import { change, firstCall, isOf, rewriteBody } from "../valid-run/tamper.ts";
import { entryOf } from "../valid-run/valid-run.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "3 per 1000 charged rounded down, in the answer and the ledger (a float in the arithmetic)",
    invariant: "I1",
    says: /consume 5 of customer_1: the charge is 3, where the model says 4/,
    mutate: (run) => {
      change(run.ledger, isOf("tokens"), ({ parts }) => ({ amount: -3, parts: parts.replace("-4", "-3") }));
      rewriteBody(run, "tokens", '"creditsCharged":4', '"creditsCharged":3');
    },
  },
  {
    bug: "a fraction of a credit is charged",
    invariant: "replies",
    says: /tokens .* should charge 4 credits/,
    mutate: (run) => rewriteBody(run, "tokens", '"creditsCharged":4', '"creditsCharged":3.003'),
  },
  {
    bug: "a fraction of a credit is in the ledger",
    invariant: "I4",
    says: /entry 5, consume, makes 2766 of 2770 and -3.003/,
    mutate: (run) => change(run.ledger, isOf("tokens"), () => ({ amount: -3.003 })),
  },
  {
    bug: "a wrong price is asked for",
    invariant: "replies",
    says: /tokens .* should require 4/,
    mutate: (run) => rewriteBody(run, "tokens", '"creditsRequired":4', '"creditsRequired":3'),
  },
  {
    bug: "a check that charges",
    invariant: "I7",
    says: /check is stored 1 times as charge/,
    mutate: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ marker: "check" })),
  },
  {
    bug: "a check that takes its key",
    invariant: "I7",
    says: /key-check is stored, and only a check had it/,
    mutate: (run) => {
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
    mutate: (run) => {
      const { outcome } = firstCall(run, "image");
      run.calls.push(callOf(firstCall(run, "doomed").request, outcome));
    },
  },
];

testMutations(MUTATIONS);
