import type { CallOutcome } from "../history.ts";
import type { StoredEntry } from "./stored.ts";
import {
  change,
  firstCall,
  isKey,
  isOf,
  type Mutation,
  remove,
  rewriteBody,
  testMutations,
} from "./valid-run/mutations.ts";
import { again, callOf, entryOf, OUTCOME_UNKNOWN, type Run } from "./valid-run/run.ts";

/** Appends a copy of the reversal to the ledger, without changing the wallet. */
function reverseAgain(run: Run, marker: string, difference: Partial<StoredEntry> = {}): void {
  const entry = entryOf(run, marker);
  const last = run.ledger.filter(({ customer }) => customer === entry.customer).at(-1) ?? entry;
  const position = { sequence: last.sequence + 1, recordedAtMs: last.recordedAtMs + 1 };
  run.ledger.push({ ...entry, ...position, balanceAfter: last.balanceAfter + entry.amount, ...difference });
}

/** Replaces the outcome of all calls of a reversal. */
const answer = (run: Run, marker: string, outcome: CallOutcome): void =>
  change(
    run.calls,
    ({ request }) => request.marker === marker,
    () => ({ outcome }),
  );

const isItem = (marker: string, feature: string) => (entry: StoredEntry) =>
  entry.marker === marker && entry.feature === feature;

const NOTHING_LEFT: CallOutcome = { kind: "fail", status: 409, code: "nothing_to_reverse", conflict: null };

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "an acknowledged reversal is lost",
    invariant: "I1",
    says: /undo-2 for con_\w+ got .*, but its entries return nothing/,
    mutate: (run) => {
      remove(run.ledger, isOf("undo-2"));
      remove(run.keys, isKey("key-undo-2"));
    },
  },
  {
    bug: "an acknowledged reversal of a whole charge is lost",
    invariant: "I1",
    says: /reverse-undone for con_\w+ got .*, but its entries return nothing/,
    mutate: (run) => remove(run.ledger, isOf("reverse-undone")),
  },
  {
    bug: "the key of a whole reversal is lost",
    invariant: "I2",
    says: /reverse-undone is stored as reversal .* but its reverse con_\w+ does not point to it/,
    mutate: (run) => remove(run.keys, ({ key, endpoint }) => endpoint === 5 && key.startsWith("reverse ")),
  },
  {
    bug: "a retry reverses a part again",
    invariant: "I3",
    says: /undo-2 is stored 2 times as reversal, expected 1 to 1/,
    mutate: (run) => reverseAgain(run, "undo-2"),
  },
  {
    bug: "a retry reverses a part again in the same millisecond",
    invariant: "I2",
    says: /key-undo-2 had more than one effect/,
    mutate: (run) => reverseAgain(run, "undo-2", { recordedAtMs: entryOf(run, "undo-2").recordedAtMs }),
  },
  {
    bug: "two concurrent reversals of a whole charge both take effect",
    invariant: "I3",
    says: /reverse-undone is stored 2 times as reversal, expected 1 to 1/,
    mutate: (run) => reverseAgain(run, "reverse-undone"),
  },
  {
    bug: "reversals return more than was charged",
    invariant: "I4",
    says: /customer_10: .* reverse 14 units, but it has only 13/,
    mutate: (run) => change(run.ledger, isOf("undo-2"), () => ({ quantity: 3 })),
  },
  {
    bug: "a rejected reversal is stored",
    invariant: "I3",
    says: /undo-late is stored 1 times as reversal, expected 0 to 0/,
    mutate: (run) => reverseAgain(run, "undo-2", { marker: "undo-late" }),
  },
  {
    bug: "a reversal is stored after the same request was rejected",
    invariant: "I3",
    says: /undo-unknown is stored 1 times as reversal, expected 0 to 0/,
    mutate: (run) => run.calls.push(callOf(firstCall(run, "undo-unknown").request, NOTHING_LEFT)),
  },
  {
    bug: "a reversal was never requested",
    invariant: "I3",
    says: /undo-nobody was never sent, but is stored as reversal/,
    mutate: (run) => change(run.ledger, isOf("undo-unknown"), () => ({ marker: "undo-nobody" })),
  },
  {
    bug: "a stored reversal was never executed",
    invariant: "I3",
    says: /undo-unknown is stored 1 times as reversal, expected 0 to 0/,
    mutate: (run) => answer(run, "undo-unknown", { kind: "info", status: 503, reason: "unavailable" }),
  },
  {
    bug: "the note and the key of a client's reversal are lost",
    invariant: "I3",
    says: /of customer_10 has 1 reversed .*, expected 0/,
    mutate: (run) => change(run.ledger, isOf("undo-unknown"), () => ({ marker: null, keyHash: null })),
  },
  {
    bug: "a reversal has a different quantity from its request",
    invariant: "I1",
    says: /undo-unknown is stored with quantity 2 instead of 1/,
    mutate: (run) => change(run.ledger, isOf("undo-unknown"), () => ({ quantity: 2 })),
  },
  {
    bug: "a reversal of one feature reverses another feature",
    invariant: "I1",
    says: /undo-item is stored with name video.encode instead of tokens.generate/,
    mutate: (run) => change(run.ledger, isOf("undo-item"), () => ({ feature: "video.encode" })),
  },
  {
    bug: "a reversal is stored for another charge",
    invariant: "I1",
    says: /undo-2 for con_\w+ reversed another charge/,
    mutate: (run) =>
      change(run.ledger, isOf("undo-2"), () => ({ reverses: entryOf(run, "undone-unknown").sequence })),
  },
  {
    bug: "a reversal of a part has two entries",
    invariant: "I2",
    says: /undo-item for con_\w+ has 2 entries/,
    mutate: (run) =>
      change(run.ledger, isItem("reverse-undone-items", "video.encode"), () => {
        const { marker, keyHash, recordedAtMs } = entryOf(run, "undo-item");
        return { marker, keyHash, recordedAtMs };
      }),
  },
  {
    bug: "a whole reversal does not reverse one of the charges",
    invariant: "I1",
    says: /reverse-undone-items for con_\w+ left 40 video.encode/,
    mutate: (run) => remove(run.ledger, isItem("reverse-undone-items", "video.encode")),
  },
  {
    bug: "a whole reversal with unknown outcome does not reverse a part",
    invariant: "I1",
    says: /reverse-undone-unknown for con_\w+ left 1 images.render/,
    mutate: (run) => {
      remove(run.ledger, isOf("undo-unknown"));
      remove(run.keys, isKey("key-undo-unknown"));
    },
  },
  {
    bug: "a reversal is rejected although enough is left",
    invariant: "I1",
    says: /undo-refused for con_\w+ got .*nothing_to_reverse.*, but 1 can still be reversed/,
    mutate: (run) => answer(run, "undo-refused", NOTHING_LEFT),
  },
  {
    bug: "an acknowledged charge is not found",
    invariant: "replies",
    says: /undo-refused of .* was rejected without reason/,
    mutate: (run) =>
      answer(run, "undo-refused", { kind: "fail", status: 404, code: "charge_not_found", conflict: null }),
  },
  {
    bug: "a replay of a reversal has different bytes",
    invariant: "I2",
    says: /key-undo-2: different responses/,
    mutate: (run) => {
      const { request, outcome } = firstCall(run, "undo-2");
      if (outcome.kind !== "ok") throw new Error("undo-2 was not acknowledged");
      const body = outcome.body.replace(/"balance":\d+/, '"balance":1');
      run.calls.push(callOf(request, again({ ...outcome, body })));
    },
  },
  {
    bug: "two whole reversals of a charge are both returned as new",
    invariant: "I2",
    says: /reverse con_\w+: two responses are not marked as replays/,
    mutate: (run) => {
      const { request, outcome } = firstCall(run, "reverse-undone");
      run.calls.push(callOf(request, outcome));
    },
  },
  {
    bug: "a reused key with another payload is accepted",
    invariant: "I2",
    says: /key-undo-2: two payloads accepted/,
    mutate: (run) => answer(run, "undo-rival", again(firstCall(run, "undo-2").outcome)),
  },
  {
    bug: "a reversal is rejected for a key that no other request has",
    invariant: "I2",
    says: /undo-refused got 409, but no other request has key-undo-refused/,
    mutate: (run) =>
      answer(run, "undo-refused", {
        ...{ kind: "fail", status: 409, code: "idempotency_key_reused", conflict: "payload" },
      }),
  },
  {
    bug: "the key of a reversal points to another charge",
    invariant: "I2",
    says: /key-undo-2 (points|returned)/,
    mutate: (run) => {
      const other = run.keys.find(isKey("key-undo-item"));
      change(run.keys, isKey("key-undo-2"), () => ({ subjectId: other?.subjectId ?? "" }));
    },
  },
  {
    bug: "the key of a reversal is stored for consume requests",
    invariant: "I2",
    says: /key-undo-2/,
    mutate: (run) => change(run.keys, isKey("key-undo-2"), () => ({ endpoint: 2 })),
  },
  {
    bug: "a reversal has the hash of another key",
    invariant: "I2",
    says: /of undo-2 has key hash .*, which is not the hash of key-undo-2/,
    mutate: (run) =>
      change(run.ledger, isOf("undo-2"), () => ({ keyHash: entryOf(run, "undo-item").keyHash })),
  },
  {
    bug: "the returned credits in a response differ from the ledger",
    invariant: "I1",
    says: /undo-2 for con_\w+ got .*, but its entries return 0 \+ 20 for 2 images.render/,
    mutate: (run) => {
      rewriteBody(run, "undo-2", /"overageCredits":20/g, '"overageCredits":10');
      rewriteBody(run, "undo-2", /"creditsReturned":0/g, '"creditsReturned":10');
    },
  },
  {
    bug: "the total in a response is not the sum of its items",
    invariant: "replies",
    says: /reverse-undone of .* returned a total that differs from the sum of its items/,
    mutate: (run) => rewriteBody(run, "reverse-undone", '"overageCredits":10', '"overageCredits":20'),
  },
  {
    bug: "a response names another charge",
    invariant: "replies",
    says: /undo-2 of .* returned another charge/,
    mutate: (run) => rewriteBody(run, "undo-2", /"con_.{4}/, '"con_0000'),
  },
  {
    bug: "a response has a different quantity from its request",
    invariant: "replies",
    says: /undo-2 of .* reversed another quantity or feature/,
    mutate: (run) => rewriteBody(run, "undo-2", '"quantity":2', '"quantity":3'),
  },
  {
    bug: "a response has a different balance from the balance after the reversal",
    invariant: "I4",
    says: /of customer_10: the balance for images.render is 1, but the model says 100/,
    mutate: (run) => rewriteBody(run, "reverse-undone", /"balance":\d+/, '"balance":1'),
  },
  {
    bug: "a reversal returns credits before overage",
    invariant: "I4",
    says: /of customer_10: credits is 10, but the model says 0/,
    mutate: (run) =>
      change(run.ledger, isOf("undo-2"), () => ({
        ...{ amount: 10, parts: "1:10", overage: 10, overageParts: "1:10" },
      })),
  },
  {
    bug: "a reversal precedes an earlier reversal that had already returned",
    invariant: "I5",
    says: /customer_10: .* got its response before .* was sent/,
    mutate: (run) =>
      change(
        run.calls,
        ({ request }) => request.marker === "undo-2",
        (call) => ({ startMs: call.startMs + 100_000, endMs: call.endMs + 100_000 }),
      ),
  },
  {
    bug: "a check is stored as a reversal",
    invariant: "I7",
    says: /beyond-check is stored 1 times as reversal/,
    mutate: (run) => reverseAgain(run, "undo-2", { marker: "beyond-check" }),
  },
  {
    bug: "the charge of a reversal is missing",
    invariant: "I4",
    says: /reverses \d+, which is not/,
    mutate: (run) => {
      answer(run, "undone", OUTCOME_UNKNOWN);
      remove(run.ledger, isOf("undone"));
    },
  },
];

testMutations(MUTATIONS);
