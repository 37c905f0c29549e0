import { chargeId } from "./subjects.ts";
import { change, firstCall, isOf, type Mutation, rewriteBody, testMutations } from "./valid-run/mutations.ts";
import { addKey, callOf, entryOf } from "./valid-run/run.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "a price of 3 per 1000 is rounded down in the response and the ledger (float arithmetic)",
    invariant: "I1",
    says: /consume 5 of customer_1: the charge is 3, but the model says 4/,
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
    bug: "the ledger contains a fraction of a credit",
    invariant: "I4",
    says: /entry 5, consume, leaves a balance of 2766 in pool 1, but 2770 - 3.003 is/,
    mutate: (run) => change(run.ledger, isOf("tokens"), () => ({ amount: -3.003 })),
  },
  {
    bug: "a response requires the wrong price",
    invariant: "replies",
    says: /tokens .* should require 4/,
    mutate: (run) => rewriteBody(run, "tokens", '"creditsRequired":4', '"creditsRequired":3'),
  },
  {
    bug: "a check charges credits",
    invariant: "I7",
    says: /check is stored 1 times as charge/,
    mutate: (run) => change(run.ledger, isOf("unknown-stored"), () => ({ marker: "check" })),
  },
  {
    bug: "a check uses up its key",
    invariant: "I7",
    says: /key-check is stored, but only a check sent it/,
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
    says: /is invalid, but was accepted/,
    mutate: (run) => {
      const { outcome } = firstCall(run, "image");
      run.calls.push(callOf(firstCall(run, "invalid").request, outcome));
    },
  },
];

testMutations(MUTATIONS);
