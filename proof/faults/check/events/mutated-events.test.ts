import type { StoredEvent } from "../stored.ts";
import { again, callOf, reused } from "../valid-run/calls.ts";
import { eventOf, eventRow, okEvent, uuidOf } from "../valid-run/events.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import { addKey, type Run } from "../valid-run/run.ts";
import { change, isKey, isOf, remove } from "../valid-run/tamper.ts";

const changePlain = (run: Run, difference: Partial<StoredEvent>): void =>
  change(run.events, isOf("plain"), () => difference);
const pointElsewhere = (run: Run): void => change(run.keys, isKey("key-1"), () => ({ subjectId: uuidOf(2) }));

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "an acknowledged event is missing",
    invariant: "I3",
    mutate: (run) => remove(run.events, isOf("plain")),
  },
  {
    bug: "an acknowledged keyed event and its key are missing (reply before commit)",
    invariant: "I6",
    mutate: (run) => {
      remove(run.events, isOf("keyed"));
      remove(run.keys, isKey("key-1"));
    },
  },
  {
    bug: "an event is stored twice",
    invariant: "I3",
    mutate: (run) => run.events.push(eventRow(9, "plain")),
  },
  {
    bug: "a keyed event is stored twice",
    invariant: "I2",
    says: /key-3 did more than one thing/,
    mutate: (run) => run.events.push(eventRow(9, "late")),
  },
  { bug: "one id is stored twice", invariant: "I6", mutate: (run) => run.events.push(eventRow(2, "plain")) },
  {
    bug: "a request of unknown outcome is stored twice",
    invariant: "I3",
    mutate: (run) => run.events.push(eventRow(9, "plain-unknown-stored")),
  },
  {
    bug: "two different answers under one key",
    invariant: "I2",
    says: /different answers/,
    mutate: (run) => run.calls.push(callOf(eventOf("keyed", "key-1"), again(okEvent(2)))),
  },
  {
    bug: "the same answer, in other bytes",
    invariant: "I2",
    says: /different answers/,
    mutate: (run) => {
      const answer = okEvent(1);
      if (answer.kind !== "ok") return;
      run.calls.push(callOf(eventOf("keyed", "key-1"), again({ ...answer, body: `${answer.body}\n` })));
    },
  },
  {
    bug: "two payloads accepted under one key",
    invariant: "I2",
    says: /two payloads/,
    mutate: (run) => run.calls.push(callOf(eventOf("rival", "key-1"), again(okEvent(1)))),
  },
  {
    bug: "two answers under one key claim to be the first",
    invariant: "I2",
    says: /claim to be the first/,
    mutate: (run) => run.calls.push(callOf(eventOf("keyed", "key-1"), okEvent(1))),
  },
  {
    bug: "a 409 under a key that belongs to nothing else",
    invariant: "I2",
    says: /belongs to nothing else/,
    mutate: (run) => run.calls.push(callOf(eventOf("lost", "key-2"), reused("payload"))),
  },
  {
    bug: "a 409 that blames the endpoint, where the payload differs",
    invariant: "replies",
    says: /got 409 for its endpoint/,
    mutate: (run) => run.calls.push(callOf(eventOf("rival", "key-1"), reused("endpoint"))),
  },
  ...["rival", "too-old", "plain-refused", "image-counterpart"].map(
    (marker): Mutation => ({
      bug: `a row for a request that was refused, ${marker}`,
      invariant: "I3",
      mutate: (run) => run.events.push(eventRow(9, marker)),
    }),
  ),
  {
    bug: "a row never sent",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => run.events.push(eventRow(9, "nobody's")),
  },
  {
    bug: "a row without a marker",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => run.events.push({ ...eventRow(9, ""), marker: null }),
  },
  {
    bug: "a key never sent",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => addKey(run, "nobody's", "events", uuidOf(1)),
  },
  { bug: "a key points to another event", invariant: "I6", says: /key-1 points to/, mutate: pointElsewhere },
  {
    bug: "a key stands for another answer than it gave",
    invariant: "I2",
    says: /key-1 answered .* and stands for/,
    mutate: pointElsewhere,
  },
  {
    bug: "a key without its event (key in another transaction)",
    invariant: "I6",
    says: /key-2 points to .* not there/,
    mutate: (run) => addKey(run, "key-2", "events", uuidOf(9)),
  },
  {
    bug: "an event without its key (key in another transaction)",
    invariant: "I6",
    says: /its key-2 does not point to it/,
    mutate: (run) => run.events.push(eventRow(9, "lost")),
  },
  {
    bug: "an acknowledged key is missing",
    invariant: "I6",
    says: /late was acknowledged, key-3 is not stored/,
    mutate: (run) => remove(run.keys, isKey("key-3")),
  },
  { bug: "a wrong quantity", invariant: "I6", mutate: (run) => changePlain(run, { quantity: 8 }) },
  { bug: "a wrong event", invariant: "I6", mutate: (run) => changePlain(run, { event: "images.rendered" }) },
  {
    bug: "another customer",
    invariant: "I6",
    mutate: (run) => changePlain(run, { customerId: "customer_2" }),
  },
  { bug: "no customer", invariant: "I6", mutate: (run) => changePlain(run, { customerId: null }) },
  { bug: "a feature", invariant: "I6", mutate: (run) => changePlain(run, { featureId: 1 }) },
  {
    bug: "an answer that names no event",
    invariant: "I6",
    says: /names no event/,
    mutate: (run) =>
      run.calls.push(callOf(eventOf("nameless", null), { kind: "ok", body: "{}", isReplay: false })),
  },
  {
    bug: "a valid request is refused",
    invariant: "replies",
    mutate: (run) => {
      const refusal = { kind: "fail", status: 401, code: "api_key_invalid", conflict: null } as const;
      run.calls.push(callOf(eventOf("valid", null), refusal));
    },
  },
  {
    bug: "an unforeseen fault",
    invariant: "replies",
    mutate: (run) => {
      const fault = { kind: "info", status: 500, reason: "internal_error" } as const;
      run.calls.push(callOf(eventOf("faulty", null), fault));
    },
  },
];

testMutations(MUTATIONS);
