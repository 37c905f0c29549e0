import type { StoredEvent } from "./stored.ts";
import { change, isKey, isOf, type Mutation, remove, testMutations } from "./valid-run/mutations.ts";
import {
  addKey,
  again,
  callOf,
  eventOf,
  eventRow,
  okEvent,
  type Run,
  reused,
  uuidOf,
} from "./valid-run/run.ts";

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
    says: /key-3 had more than one effect/,
    mutate: (run) => run.events.push(eventRow(9, "late")),
  },
  {
    bug: "two events have the same id",
    invariant: "I6",
    mutate: (run) => run.events.push(eventRow(2, "plain")),
  },
  {
    bug: "a request with unknown outcome is stored twice",
    invariant: "I3",
    mutate: (run) => run.events.push(eventRow(9, "plain-unknown-stored")),
  },
  {
    bug: "a key has two different responses",
    invariant: "I2",
    says: /different responses/,
    mutate: (run) => run.calls.push(callOf(eventOf("keyed", "key-1"), again(okEvent(2)))),
  },
  {
    bug: "a replay has different bytes",
    invariant: "I2",
    says: /different responses/,
    mutate: (run) => {
      const answer = okEvent(1);
      if (answer.kind !== "ok") return;
      run.calls.push(callOf(eventOf("keyed", "key-1"), again({ ...answer, body: `${answer.body}\n` })));
    },
  },
  {
    bug: "two payloads are accepted under one key",
    invariant: "I2",
    says: /two payloads/,
    mutate: (run) => run.calls.push(callOf(eventOf("rival", "key-1"), again(okEvent(1)))),
  },
  {
    bug: "two responses under one key are not marked as replays",
    invariant: "I2",
    says: /two responses are not marked as replays/,
    mutate: (run) => run.calls.push(callOf(eventOf("keyed", "key-1"), okEvent(1))),
  },
  {
    bug: "a request gets 409 for a key that no other request has",
    invariant: "I2",
    says: /no other request has key-2/,
    mutate: (run) => run.calls.push(callOf(eventOf("lost", "key-2"), reused("payload"))),
  },
  {
    bug: "a 409 names the endpoint, but the payload differs",
    invariant: "replies",
    says: /got 409 for its endpoint/,
    mutate: (run) => run.calls.push(callOf(eventOf("rival", "key-1"), reused("endpoint"))),
  },
  ...["rival", "too-old", "plain-refused", "image-counterpart"].map(
    (marker): Mutation => ({
      bug: `a rejected request has an event row: ${marker}`,
      invariant: "I3",
      mutate: (run) => run.events.push(eventRow(9, marker)),
    }),
  ),
  {
    bug: "an event row has no request",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => run.events.push(eventRow(9, "unsent")),
  },
  {
    bug: "an event row has no marker",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => run.events.push({ ...eventRow(9, ""), marker: null }),
  },
  {
    bug: "a stored key was never sent",
    invariant: "I3",
    says: /never sent/,
    mutate: (run) => addKey(run, "unsent", "events", uuidOf(1)),
  },
  { bug: "a key points to another event", invariant: "I6", says: /key-1 points to/, mutate: pointElsewhere },
  {
    bug: "a key points to a different event from its response",
    invariant: "I2",
    says: /key-1 returned .* but points to/,
    mutate: pointElsewhere,
  },
  {
    bug: "a key has no event (key in another transaction)",
    invariant: "I6",
    says: /key-2 points to .* which does not exist/,
    mutate: (run) => addKey(run, "key-2", "events", uuidOf(9)),
  },
  {
    bug: "an event has no key (key in another transaction)",
    invariant: "I6",
    says: /its key-2 does not point to it/,
    mutate: (run) => run.events.push(eventRow(9, "lost")),
  },
  {
    bug: "an acknowledged key is missing",
    invariant: "I6",
    says: /late was acknowledged, but key-3 is not stored/,
    mutate: (run) => remove(run.keys, isKey("key-3")),
  },
  {
    bug: "an event has the wrong quantity",
    invariant: "I6",
    mutate: (run) => changePlain(run, { quantity: 8 }),
  },
  {
    bug: "an event has the wrong event key",
    invariant: "I6",
    mutate: (run) => changePlain(run, { event: "images.rendered" }),
  },
  {
    bug: "an event is stored for another customer",
    invariant: "I6",
    mutate: (run) => changePlain(run, { customerId: "customer_2" }),
  },
  {
    bug: "an event has no customer",
    invariant: "I6",
    mutate: (run) => changePlain(run, { customerId: null }),
  },
  { bug: "an event has a feature", invariant: "I6", mutate: (run) => changePlain(run, { featureId: 1 }) },
  {
    bug: "a response has no eventId",
    invariant: "I6",
    says: /the response has no eventId/,
    mutate: (run) =>
      run.calls.push(callOf(eventOf("without-id", null), { kind: "ok", body: "{}", isReplay: false })),
  },
  {
    bug: "a valid request is rejected",
    invariant: "replies",
    mutate: (run) => {
      const refusal = { kind: "fail", status: 401, code: "api_key_invalid", conflict: null } as const;
      run.calls.push(callOf(eventOf("valid", null), refusal));
    },
  },
  {
    bug: "a call gets an unexpected 500",
    invariant: "replies",
    mutate: (run) => {
      const fault = { kind: "info", status: 500, reason: "internal_error" } as const;
      run.calls.push(callOf(eventOf("faulty", null), fault));
    },
  },
];

testMutations(MUTATIONS);
