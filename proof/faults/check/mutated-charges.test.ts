import { chargeId } from "./subjects.ts";
import {
  change,
  chargeAgain,
  firstCall,
  isKey,
  isOf,
  type Mutation,
  remove,
  rewriteBody,
  testMutations,
} from "./valid-run/mutations.ts";
import { addKey, again, callOf, entryOf, reused, uuidOf } from "./valid-run/run.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "an acknowledged charge has neither a ledger entry nor a key (reply before commit)",
    invariant: "I1",
    says: /tokens, acknowledged .* not in the ledger/,
    mutate: (run) => {
      remove(run.ledger, isOf("tokens"));
      remove(run.keys, isKey("key-tokens"));
    },
  },
  {
    bug: "a ledger entry has no key (key in another transaction)",
    invariant: "I2",
    says: /its key-unknown-stored does not point to it/,
    mutate: (run) => remove(run.keys, isKey("key-unknown-stored")),
  },
  {
    bug: "a key has no ledger entry (key in another transaction)",
    invariant: "I2",
    says: /key-unknown-lost points to .* which does not exist/,
    mutate: (run) => addKey(run, "key-unknown-lost", "consume", uuidOf(9)),
  },
  {
    bug: "a request is charged twice, once without its key",
    invariant: "I3",
    says: /image is stored 2 times as charge/,
    mutate: (run) => chargeAgain(run, "image"),
  },
  {
    bug: "two ledger entries have the same key (key released on 5xx)",
    invariant: "I2",
    says: /key-unknown-stored had more than one effect/,
    mutate: (run) => chargeAgain(run, "unknown-stored"),
  },
  {
    bug: "both payloads that raced for a key are charged",
    invariant: "I2",
    says: /key-image had more than one effect/,
    mutate: (run) => {
      chargeAgain(run, "image", { marker: "image-rival" });
    },
  },
  {
    bug: "a replay decides again and returns different bytes",
    invariant: "I2",
    says: /key-image: different responses/,
    mutate: (run) => {
      const { request, outcome } = firstCall(run, "image");
      if (outcome.kind !== "ok") return;
      const body = outcome.body.replace(/"balance":\d+/, '"balance":1');
      run.calls.push(callOf(request, again({ ...outcome, body })));
    },
  },
  ...(
    [
      { field: "quantity", difference: { quantity: 4 } },
      { field: "name", difference: { feature: "reports.export" } },
      { field: "customerId", difference: { customer: 2 } },
    ] as const
  ).map(
    ({ field, difference }): Mutation => ({
      bug: `a ledger entry has a different ${field} from its request`,
      invariant: "I1",
      says: new RegExp(`image is stored with ${field}`),
      mutate: (run) => change(run.ledger, isOf("image"), () => difference),
    }),
  ),
  {
    bug: "the ledger entry that a response names belongs to another request",
    invariant: "I1",
    says: /image, acknowledged .* its entry has marker big/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ marker: "big" })),
  },
  {
    bug: "a response has a different balance from its entry",
    invariant: "I1",
    says: /tokens, acknowledged .* its entry has balance/,
    mutate: (run) => rewriteBody(run, "tokens", /"balance":\d+/, '"balance":1'),
  },
  {
    bug: "a key points to a different charge from its response",
    invariant: "I2",
    says: /key-tokens returned .* but points to/,
    mutate: (run) =>
      change(run.keys, isKey("key-tokens"), () => ({ subjectId: chargeId(entryOf(run, "big")) })),
  },
  ...["image-rival", "keyed-counterpart", "refused", "nobody", "invalid"].map(
    (marker): Mutation => ({
      bug: `a rejected request has a ledger entry: ${marker}`,
      invariant: "I3",
      says: /expected 0 to 0/,
      mutate: (run) => {
        chargeAgain(run, "growth", { marker });
      },
    }),
  ),
  {
    bug: "a ledger entry has no request",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => {
      chargeAgain(run, "growth", { marker: null });
    },
  },
  {
    bug: "an event charges credits",
    invariant: "I6",
    says: /plain is stored 1 times as charge/,
    mutate: (run) => {
      chargeAgain(run, "growth", { marker: "plain", keyHash: null });
    },
  },
  {
    bug: "a 409 for a consume names the payload, but the endpoint differs",
    invariant: "replies",
    says: /got 409 for its payload/,
    mutate: (run) => run.calls.push(callOf(firstCall(run, "keyed-counterpart").request, reused("payload"))),
  },
  {
    bug: "a consume request precedes an earlier request that had already returned (stale wallet)",
    invariant: "I5",
    says: /image got its response before growth was sent/,
    mutate: (run) => {
      change(run.ledger, isOf("image"), () => ({ marker: "growth" }));
      change(
        run.ledger,
        (entry) => entry.marker === "growth" && entry.sequence > 9,
        () => ({ marker: "image" }),
      );
    },
  },
];

testMutations(MUTATIONS);
