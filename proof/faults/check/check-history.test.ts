import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import {
  callOf,
  honestRun,
  OUTCOME_UNKNOWN,
  okOf,
  REUSED,
  type Run,
  requestOf,
  rowOf,
  storedOf,
  UNAVAILABLE,
  uuidOf,
} from "./honest-run.ts";
import type { StoredEvent } from "./stored.ts";
import type { Invariant } from "./violation.ts";

test("a run in which all went as promised passes", () => {
  const run = honestRun();
  expect(checkHistory(run.calls, storedOf(run))).toEqual({
    verdict: "pass",
    violations: [],
    doubts: [],
    acknowledged: 3,
    unknown: 3,
    stored: 4,
  });
});

type PlantedBug = {
  bug: string;
  invariant: Invariant;
  /** Where several checks see the bug: which of them is meant. */
  says?: RegExp;
  plant: (run: Run) => void;
};

const remove = (run: Run, marker: string): void => {
  run.events = run.events.filter((event) => event.marker !== marker);
};
const change = (run: Run, marker: string, difference: Partial<StoredEvent>): void => {
  run.events = run.events.map((event) => (event.marker === marker ? { ...event, ...difference } : event));
};
const unlink = (run: Run, key: string): void => {
  run.keys = run.keys.filter((row) => row.key !== key);
};

const PLANTED: readonly PlantedBug[] = [
  { bug: "an acknowledged event is missing", invariant: "I3", plant: (run) => remove(run, "plain") },
  {
    bug: "an acknowledged keyed event and its key are missing (reply before commit)",
    invariant: "I6",
    plant: (run) => {
      remove(run, "keyed");
      unlink(run, "key-1");
    },
  },
  { bug: "an event is stored twice", invariant: "I3", plant: (run) => run.events.push(rowOf(9, "plain")) },
  {
    bug: "a keyed event is stored twice",
    invariant: "I3",
    plant: (run) => run.events.push(rowOf(9, "late")),
  },
  { bug: "one id is stored twice", invariant: "I6", plant: (run) => run.events.push(rowOf(2, "plain")) },
  {
    bug: "a request of unknown outcome is stored twice",
    invariant: "I3",
    plant: (run) => run.events.push(rowOf(9, "plain-unknown-stored")),
  },
  {
    bug: "two different answers under one key",
    invariant: "I2",
    plant: (run) => run.calls.push(callOf(requestOf("keyed", "key-1"), okOf(2, true))),
  },
  {
    bug: "the same answer, in other bytes",
    invariant: "I2",
    plant: (run) => {
      const answer = okOf(1, true);
      if (answer.kind !== "ok") return;
      run.calls.push(callOf(requestOf("keyed", "key-1"), { ...answer, body: `${answer.body}\n` }));
    },
  },
  {
    bug: "two payloads accepted under one key",
    invariant: "I2",
    plant: (run) => run.calls.push(callOf(requestOf("rival", "key-1"), okOf(1, true))),
  },
  {
    bug: "two answers under one key claim to be the first",
    invariant: "I2",
    plant: (run) => run.calls.push(callOf(requestOf("keyed", "key-1"), okOf(1))),
  },
  {
    bug: "a 409 under a key that belongs to nothing else",
    invariant: "I2",
    plant: (run) => run.calls.push(callOf(requestOf("lost", "key-2"), REUSED)),
  },
  {
    bug: "a row for a request refused with 409",
    invariant: "I3",
    plant: (run) => run.events.push(rowOf(9, "rival")),
  },
  {
    bug: "a row for a request refused with 422",
    invariant: "I3",
    plant: (run) => run.events.push(rowOf(9, "too-old")),
  },
  {
    bug: "a row for a request that was told: nothing was executed",
    invariant: "I3",
    plant: (run) => run.events.push(rowOf(9, "plain-refused")),
  },
  { bug: "a row never sent", invariant: "I3", plant: (run) => run.events.push(rowOf(9, "nobody's")) },
  {
    bug: "a row without a marker",
    invariant: "I3",
    plant: (run) => run.events.push({ ...rowOf(9, ""), marker: null }),
  },
  {
    bug: "a key never sent",
    invariant: "I3",
    plant: (run) => run.keys.push({ key: "nobody's", subjectId: uuidOf(1) }),
  },
  {
    bug: "a key points to another event",
    invariant: "I6",
    plant: (run) => {
      unlink(run, "key-1");
      run.keys.push({ key: "key-1", subjectId: uuidOf(2) });
    },
  },
  {
    bug: "a key without its event (key in another transaction)",
    invariant: "I6",
    plant: (run) => run.keys.push({ key: "key-2", subjectId: uuidOf(9) }),
  },
  {
    bug: "an event without its key (key in another transaction)",
    invariant: "I6",
    plant: (run) => run.events.push(rowOf(9, "lost")),
  },
  {
    bug: "an acknowledged key is missing",
    invariant: "I6",
    says: /late was acknowledged, key-3 is not stored/,
    plant: (run) => unlink(run, "key-3"),
  },
  {
    bug: "a key stands for another answer than it gave",
    invariant: "I2",
    says: /key-1 answered .* and stands for/,
    plant: (run) => {
      unlink(run, "key-1");
      run.keys.push({ key: "key-1", subjectId: uuidOf(2) });
    },
  },
  { bug: "a wrong quantity", invariant: "I6", plant: (run) => change(run, "plain", { quantity: 8 }) },
  {
    bug: "a wrong event",
    invariant: "I6",
    plant: (run) => change(run, "plain", { event: "images.rendered" }),
  },
  {
    bug: "another customer",
    invariant: "I6",
    plant: (run) => change(run, "plain", { customerId: "customer_2" }),
  },
  { bug: "no customer", invariant: "I6", plant: (run) => change(run, "plain", { customerId: null }) },
  { bug: "a feature", invariant: "I6", plant: (run) => change(run, "plain", { featureId: 1 }) },
  {
    bug: "an answer that names no event",
    invariant: "I6",
    plant: (run) =>
      run.calls.push(
        callOf(requestOf("nameless", null), { kind: "ok", body: "{}", eventId: "", isReplay: false }),
      ),
  },
  {
    bug: "a valid request is refused",
    invariant: "replies",
    plant: (run) =>
      run.calls.push(
        callOf(requestOf("valid", null), { kind: "fail", status: 401, code: "api_key_invalid" }),
      ),
  },
  {
    bug: "an unforeseen fault",
    invariant: "replies",
    plant: (run) =>
      run.calls.push(
        callOf(requestOf("faulty", null), { kind: "info", status: 500, reason: "internal_error" }),
      ),
  },
];

test.each(PLANTED)("$bug: caught as $invariant", ({ invariant, says = /./, plant }) => {
  const run = honestRun();
  plant(run);
  const report = checkHistory(run.calls, storedOf(run));
  expect(report.verdict).toBe("fail");
  expect(report.violations).toContainEqual({ invariant, text: expect.stringMatching(says) });
});

test("a run whose rows could not be read is unknown, never a pass", () => {
  expect(checkHistory(honestRun().calls, null)).toMatchObject({
    verdict: "unknown",
    violations: [],
    stored: null,
  });
});

test("a violation that was seen stays one, even if the rows could not be read", () => {
  const { calls } = honestRun();
  calls.push(callOf(requestOf("keyed", "key-1"), okOf(2, true)));
  expect(checkHistory(calls, null).verdict).toBe("fail");
});

test("a run in which nothing was acknowledged is unknown", () => {
  const calls = [callOf(requestOf("a", null), UNAVAILABLE), callOf(requestOf("b", "key-1"), OUTCOME_UNKNOWN)];
  expect(checkHistory(calls, { events: [], keys: [] }).verdict).toBe("unknown");
});
