import { chargeId } from "../subjects.ts";
import { again, callOf, reused } from "../valid-run/calls.ts";
import { uuidOf } from "../valid-run/events.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import { addKey } from "../valid-run/run.ts";
import { change, chargeAgain, firstCall, isKey, isOf, remove, rewriteBody } from "../valid-run/tamper.ts";
import { entryOf } from "../valid-run/valid-run.ts";

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "acknowledged, and neither entry nor key is there (reply before commit)",
    invariant: "I1",
    says: /tokens, acknowledged .* not in the ledger/,
    mutate: (run) => {
      remove(run.ledger, isOf("tokens"));
      remove(run.keys, isKey("key-tokens"));
    },
  },
  {
    bug: "an entry without its key (key in another transaction)",
    invariant: "I2",
    says: /its key-unknown-stored does not point to it/,
    mutate: (run) => remove(run.keys, isKey("key-unknown-stored")),
  },
  {
    bug: "a key without its entry (key in another transaction)",
    invariant: "I2",
    says: /key-unknown-lost points to .* not there/,
    mutate: (run) => addKey(run, "key-unknown-lost", "consume", uuidOf(9)),
  },
  {
    bug: "a double charge, once under its key",
    invariant: "I3",
    says: /image is stored 2 times as charge/,
    mutate: (run) => chargeAgain(run, "image"),
  },
  {
    bug: "two entries under one key (a key released on 5xx)",
    invariant: "I2",
    says: /key-unknown-stored did more than one thing/,
    mutate: (run) => chargeAgain(run, "unknown-stored"),
  },
  {
    bug: "both payloads that raced for a key are charged",
    invariant: "I2",
    says: /key-image did more than one thing/,
    mutate: (run) => {
      chargeAgain(run, "image", { marker: "image-rival" });
    },
  },
  {
    bug: "a replay that decides again: other bytes",
    invariant: "I2",
    says: /key-image: different answers/,
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
      bug: `an entry with another ${field} than was asked for`,
      invariant: "I1",
      says: new RegExp(`image is stored with ${field}`),
      mutate: (run) => change(run.ledger, isOf("image"), () => difference),
    }),
  ),
  {
    bug: "an entry of another request than was answered",
    invariant: "I1",
    says: /image, acknowledged .* its entry has marker big/,
    mutate: (run) => change(run.ledger, isOf("image"), () => ({ marker: "big" })),
  },
  {
    bug: "an answer with another balance than its entry's",
    invariant: "I1",
    says: /tokens, acknowledged .* its entry has balance/,
    mutate: (run) => rewriteBody(run, "tokens", /"balance":\d+/, '"balance":1'),
  },
  {
    bug: "an answer that names another consume",
    invariant: "I2",
    says: /key-tokens answered .* and stands for/,
    mutate: (run) =>
      change(run.keys, isKey("key-tokens"), () => ({ subjectId: chargeId(entryOf(run, "big")) })),
  },
  ...["image-rival", "keyed-counterpart", "refused", "nobody", "doomed"].map(
    (marker): Mutation => ({
      bug: `an entry for a request that was refused, ${marker}`,
      invariant: "I3",
      says: /where 0 to 0 are right/,
      mutate: (run) => {
        chargeAgain(run, "growth", { marker });
      },
    }),
  ),
  {
    bug: "an entry never asked for",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => {
      chargeAgain(run, "growth", { marker: null });
    },
  },
  {
    bug: "an event that moved credits",
    invariant: "I6",
    says: /plain is stored 1 times as charge/,
    mutate: (run) => {
      chargeAgain(run, "growth", { marker: "plain", keyHash: null });
    },
  },
  {
    bug: "a 409 for a consume that blames its payload, where the endpoint differs",
    invariant: "replies",
    says: /got 409 for its payload/,
    mutate: (run) => run.calls.push(callOf(firstCall(run, "keyed-counterpart").request, reused("payload"))),
  },
  {
    bug: "a later consume is decided before one that was answered already (a stale wallet)",
    invariant: "I5",
    says: /image was answered before growth was sent/,
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
