import type { StoredHoldChange } from "./stored.ts";
import { holdUuid } from "./subjects.ts";
import {
  change,
  chargeAgain,
  firstCall,
  isKey,
  isOf,
  type Mutation,
  remove,
  rewriteBody,
  rewriteWallet,
  testMutations,
} from "./valid-run/mutations.ts";
import { openingOf } from "./valid-run/play-holds.ts";
import { again, callOf, type Run } from "./valid-run/run.ts";

const isEndOf =
  (run: Run, marker: string) =>
  (row: StoredHoldChange): boolean =>
    row.hold === openingOf(run, marker).hold && row.kind !== "opened" && row.kind !== "extended";

/** Appends a change to the hold that this marker opened, without changing the wallet. */
function addChange(run: Run, marker: string, difference: Partial<StoredHoldChange>): void {
  const { customer } = openingOf(run, marker);
  const last = run.holdChanges.findLast((row) => row.customer === customer);
  if (last === undefined) throw new Error("there are no holds");
  const { sequence, recordedAtMs, effectiveAtMs } = last;
  const position = { number: last.number + 1, sequence, recordedAtMs, effectiveAtMs };
  run.holdChanges.push({
    ...openingOf(run, marker),
    ...position,
    keyHash: null,
    marker: null,
    ...difference,
  });
}

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "an acknowledged hold is missing",
    invariant: "I1",
    says: /hold-open, acknowledged .* its hold is not stored/,
    mutate: (run) => {
      remove(run.holdChanges, isOf("hold-open"));
      remove(run.keys, isKey("key-hold-open"));
    },
  },
  {
    bug: "two holds have the same key",
    invariant: "I2",
    says: /key-hold-open had more than one effect/,
    mutate: (run) => {
      const { keyHash, marker, hold } = openingOf(run, "hold-open");
      addChange(run, "hold-open", { hold: hold + 20, keyHash, marker });
    },
  },
  {
    bug: "a hold is stored for a denied request",
    invariant: "I3",
    says: /hold-dry is stored 1 times as hold, expected 0 to 0/,
    mutate: (run) => addChange(run, "hold-open", { hold: 20, marker: "hold-dry" }),
  },
  {
    bug: "a key points to a different hold from its response",
    invariant: "I2",
    says: /key-hold-open returned .* but points to/,
    mutate: (run) =>
      change(run.keys, isKey("key-hold-open"), () => ({ subjectId: holdUuid(openingOf(run, "hold-late")) })),
  },
  {
    bug: "a hold has a different quantity from its request",
    invariant: "I1",
    says: /hold-open, acknowledged .* its hold has items 3 images.render for 20 instead of 2/,
    mutate: (run) =>
      change(run.holdChanges, isOf("hold-open"), ({ state }) => ({ state: state.replace("[1,2,", "[1,3,") })),
  },
  {
    bug: "a hold has a different end from its response",
    invariant: "I1",
    says: /hold-open, acknowledged .* its hold has expiresInMs/,
    mutate: (run) =>
      change(run.holdChanges, isOf("hold-open"), (row) => ({ expiresAtMs: row.expiresAtMs + 1_000 })),
  },
  {
    bug: "a hold stores the wrong amount of held credits",
    invariant: "I1",
    says: /hold-open, acknowledged .* for 19 instead of 2 images.render for 20/,
    mutate: (run) =>
      change(run.holdChanges, isOf("hold-open"), ({ state }) => ({ state: state.replace(",20]]", ",19]]") })),
  },
  {
    bug: "the held credits in a wallet differ from the credits in its holds",
    invariant: "I4",
    says: /customer_7: grant 1 has 31 held credits in the wallet, 30 according to its holds/,
    mutate: (run) => rewriteWallet(run, openingOf(run, "hold-open"), /(\[1,1,1,\w+,)30\]/, "$131]"),
  },
  {
    bug: "an acknowledged settlement is lost",
    invariant: "I1",
    says: /settle-part for hold 1 of customer_7 got .* but it is open/,
    mutate: (run) => {
      remove(run.holdChanges, isEndOf(run, "hold-part"));
      remove(run.ledger, isOf("settle-part"));
    },
  },
  {
    bug: "the charge of a settlement is lost",
    invariant: "I1",
    says: /hold 1 of customer_7 is settled with 1 items, but has 0 charges/,
    mutate: (run) => remove(run.ledger, isOf("settle-part")),
  },
  {
    bug: "a hold is charged twice",
    invariant: "I1",
    says: /hold 1 of customer_7 is settled with 1 items, but has 2 charges/,
    mutate: (run) => chargeAgain(run, "settle-part"),
  },
  {
    bug: "a hold that expired and released its credits is charged",
    invariant: "I1",
    says: /was not settled, but has 1 charges/,
    mutate: (run) => chargeAgain(run, "settle-part", { hold: openingOf(run, "hold-expired").hold }),
  },
  {
    bug: "a settlement charges less than its price",
    invariant: "I1",
    says: /has a charge with amount -29 instead of -30/,
    mutate: (run) => change(run.ledger, isOf("settle-part"), () => ({ amount: -29 })),
  },
  {
    bug: "the uncovered part of a charge is lost",
    invariant: "I1",
    says: /has a charge with uncovered 0 instead of/,
    mutate: (run) => change(run.ledger, isOf("settle-beyond"), () => ({ uncovered: 0 })),
  },
  {
    bug: "a settlement returns the ID of another charge",
    invariant: "I1",
    says: /was answered with con_.*, but its charge is/,
    mutate: (run) =>
      change(run.holdChanges, isEndOf(run, "hold-part"), ({ answer }) => ({
        answer: answer?.replace(/"con_.{4}/, '"con_0000') ?? null,
      })),
  },
  ...(["settled", "released", "charged"] as const).map(
    (kind): Mutation => ({
      bug: `a settled hold is also ${kind}`,
      invariant: "I2",
      says: new RegExp(`hold 1 of customer_7 ended twice: settled and ${kind}`),
      mutate: (run) => addChange(run, "hold-part", { kind }),
    }),
  ),
  {
    bug: "a released hold is settled",
    invariant: "I2",
    says: /ended twice: released and settled/,
    mutate: (run) => addChange(run, "hold-released", { kind: "settled", marker: "settle-released" }),
  },
  {
    bug: "a hold is settled by a request that was rejected",
    invariant: "I3",
    says: /hold 1 of customer_7 is settled, but no request did that/,
    mutate: (run) => change(run.holdChanges, isEndOf(run, "hold-part"), () => ({ marker: "settle-rival" })),
  },
  {
    bug: "a replay settles again and returns different bytes",
    invariant: "I2",
    says: /settle-part for hold 1 of customer_7 got .* but stored/,
    mutate: (run) => {
      const { request, outcome } = firstCall(run, "settle-part");
      if (outcome.kind !== "ok") return;
      const body = outcome.body.replace(/"balance":\d+/, '"balance":1');
      run.calls.push(callOf(request, again({ ...outcome, body })));
    },
  },
  {
    bug: "a different settlement of a settled hold is acknowledged",
    invariant: "I2",
    says: /settle-rival for hold 1 .* but settle-part settled it/,
    mutate: (run) => {
      const { outcome } = firstCall(run, "settle-part");
      run.calls.push(callOf(firstCall(run, "settle-rival").request, again(outcome)));
    },
  },
  {
    bug: "a rejection reports a release or settlement that did not happen",
    invariant: "I2",
    says: /release for hold .* got .*hold_settled.* but it is released/,
    mutate: (run) => {
      const fail = { kind: "fail", status: 409, code: "hold_settled", conflict: null } as const;
      run.calls.push(callOf(firstCall(run, "release").request, fail));
    },
  },
  {
    bug: "an acknowledged hold is not found",
    invariant: "replies",
    says: /release of .* was rejected without reason/,
    mutate: (run) => {
      const fail = { kind: "fail", status: 404, code: "hold_not_found", conflict: null } as const;
      run.calls.push(callOf(firstCall(run, "release").request, fail));
    },
  },
  {
    bug: "a hold is still open after a decision past its expiry",
    invariant: "I4",
    says: /of customer_7 ended at \d+, but is open at \d+/,
    mutate: (run) => remove(run.holdChanges, isEndOf(run, "hold-expired")),
  },
  {
    bug: "a hold is still open after a denial past its expiry",
    invariant: "I4",
    says: /of customer_7 ended at \d+, but is open at \d+/,
    mutate: (run) => {
      const { expiresAtMs: recordedAtMs } = openingOf(run, "hold-open");
      change(run.denials, isOf("hold-dry"), () => ({ recordedAtMs }));
    },
  },
  {
    bug: "a hold expires before its expiry time",
    invariant: "I4",
    says: /expired at \d+, but ends at \d+/,
    mutate: (run) => addChange(run, "hold-open", { kind: "expired" }),
  },
  {
    bug: "a hold that is charged when it expires releases its credits",
    invariant: "I4",
    says: /is expired, but should be charged when it expires/,
    mutate: (run) =>
      change(run.holdChanges, isEndOf(run, "hold-charged"), () => ({ kind: "expired" as const })),
  },
  {
    bug: "an acknowledged extension is lost",
    invariant: "I1",
    says: /extend extended hold .* the hold was never like that/,
    mutate: (run) => remove(run.holdChanges, ({ kind }) => kind === "extended"),
  },
  {
    bug: "a repeated extension extends the hold again",
    invariant: "I2",
    says: /was extended 2 times by 1 requests/,
    mutate: (run) => {
      const extended = run.holdChanges.find(({ kind }) => kind === "extended");
      addChange(run, "hold-extended", { ...extended, number: run.holdChanges.length + 1 });
    },
  },
  {
    bug: "a response has a different balance from the balance after the hold",
    invariant: "I4",
    says: /hold \d+ of customer_7, opened .*the balance of item 0 is 1, but the model says/,
    mutate: (run) => rewriteBody(run, "hold-open", /"balance":\d+/, '"balance":1'),
  },
  {
    bug: "a settlement stores the wrong balance",
    invariant: "I4",
    says: /hold \d+ of customer_7, settled .*the balance of item 0 is 1, but the model says/,
    mutate: (run) =>
      change(run.holdChanges, isEndOf(run, "hold-part"), ({ answer }) => ({
        answer: answer?.replace(/"balance":\d+/, '"balance":1') ?? null,
      })),
  },
  {
    bug: "a settlement uses more than the held credits although the request forbids it",
    invariant: "I1",
    says: /settled at .*the charge of item 0/,
    mutate: (run) =>
      change(
        run.calls,
        ({ request }) => request.marker === "settle-beyond",
        ({ request }) => (request.endpoint === "settle" ? { request: { ...request, atMostHeld: true } } : {}),
      ),
  },
  {
    bug: "the state of a hold is unreadable",
    invariant: "I4",
    says: /customer_7 has an unreadable hold/,
    mutate: (run) => change(run.holdChanges, isOf("hold-open"), () => ({ state: "[" })),
  },
];

testMutations(MUTATIONS);
