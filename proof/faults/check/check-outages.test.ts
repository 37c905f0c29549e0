import { expect, test } from "vitest";
import type { Call, CallOutcome } from "../history.ts";
import { checkOutages } from "./check-outages.ts";
import { callOf, eventOf, okEvent, RESET, reused, UNAVAILABLE } from "./valid-run/run.ts";

const OUTAGE = { killedAtMs: 1_000, deadAtMs: 1_010, restartedAtMs: 2_000, acceptedAtMs: 2_500 };

const at = (startMs: number, endMs: number, outcome: CallOutcome): Call => ({
  ...callOf(eventOf(`at-${startMs}`, null), outcome, startMs),
  endMs,
});

const VALID: readonly Call[] = [
  at(900, 905, okEvent(1)),
  // Committed just before the kill.
  at(995, 1_020, okEvent(2)),
  at(996, 1_700, UNAVAILABLE),
  at(1_100, 1_101, UNAVAILABLE),
  at(2_550, 2_551, UNAVAILABLE),
  at(2_560, 2_700, okEvent(3)),
  at(2_600, 2_800, UNAVAILABLE),
  at(2_900, 2_905, okEvent(4)),
];

test("an outage is measured by its slowest reply, its first 200 and its last rejection", () => {
  expect(checkOutages(VALID, [OUTAGE])).toEqual({
    violations: [],
    replyMsMax: 704,
    recoveryMs: [200],
    lastRefusalMsMax: 300,
  });
});

test("a rejection caused by the next kill does not count as slow recovery", () => {
  const next = { killedAtMs: 9_000, deadAtMs: 9_010, restartedAtMs: 9_100, acceptedAtMs: 9_200 };
  const calls = [...VALID, at(8_999, 9_500, UNAVAILABLE), at(9_600, 9_610, okEvent(5))];
  expect(checkOutages(calls, [OUTAGE, next])).toMatchObject({ violations: [], lastRefusalMsMax: 300 });
});

test.each([
  { bug: "a reply takes a second", call: at(1_200, 2_200, UNAVAILABLE), invariant: "replies" },
  { bug: "a call gets no response", call: at(1_200, 1_300, RESET), invariant: "replies" },
  {
    bug: "a call is acknowledged without a database",
    call: at(1_200, 1_201, okEvent(9)),
    invariant: "replies",
  },
  {
    bug: "a rejection needs the database",
    call: at(1_200, 1_201, reused("payload")),
    invariant: "replies",
  },
  { bug: "a call is rejected long after the recovery", call: at(5_000, 5_001, UNAVAILABLE), invariant: "I8" },
])("$bug: reported", ({ call, invariant }) => {
  const { violations } = checkOutages([...VALID, call], [OUTAGE]);
  expect(violations.map((violation) => violation.invariant)).toEqual([invariant]);
});

test("a service that never responds again is reported", () => {
  const { violations } = checkOutages([at(900, 905, okEvent(1)), at(1_100, 1_101, UNAVAILABLE)], [OUTAGE]);
  expect(violations.map((violation) => violation.invariant)).toEqual(["I8"]);
});

test("a service that recovers too late is reported", () => {
  const { violations } = checkOutages([at(900, 905, okEvent(1)), at(6_000, 6_005, okEvent(2))], [OUTAGE]);
  expect(violations.map((violation) => violation.invariant)).toEqual(["I8"]);
});
