import { expect, test } from "vitest";
import type { Call, CallOutcome } from "../history.ts";
import { checkRestarts } from "./check-outages.ts";
import { callOf, eventOf, okEvent, RESET } from "./valid-run/run.ts";

const at = (startMs: number, outcome: CallOutcome, service = "a"): Call => ({
  ...callOf(eventOf("plain", null), outcome, startMs),
  service,
});
const RESTARTS = [
  { service: "a", killedAtMs: 1_000, startedAtMs: 1_010 },
  { service: "b", killedAtMs: 2_200, startedAtMs: 2_210 },
  { service: "a", killedAtMs: 3_000, startedAtMs: 3_010 },
];
const VALID: readonly Call[] = [
  at(500, RESET),
  at(900, okEvent(1)),
  at(900, okEvent(1), "b"),
  at(999, RESET),
  at(1_200, okEvent(1), "b"),
  at(2_000, okEvent(2)),
  at(2_205, RESET, "b"),
  at(2_500, okEvent(3)),
  at(2_600, okEvent(3), "b"),
  at(3_500, okEvent(4)),
];

test("a restart is measured from the start to the first 200 of the same process", () => {
  expect(checkRestarts(VALID, RESTARTS)).toEqual({ violations: [], restartMs: [995, 495, 395] });
});

test("a restart without a response is reported, even if the next restart gets a response", () => {
  const calls = VALID.filter(({ startMs }) => startMs !== 2_000 && startMs !== 2_500);
  const { violations, restartMs } = checkRestarts(calls, RESTARTS);
  expect(violations.map(({ invariant }) => invariant)).toEqual(["I8"]);
  expect(restartMs).toEqual([495, 395]);
});

test("a restart that takes too long is reported", () => {
  const { violations } = checkRestarts([at(900, okEvent(1)), at(20_000, okEvent(1))], RESTARTS.slice(2));
  expect(violations.map(({ invariant }) => invariant)).toEqual(["I8"]);
});

test.each([
  { bug: "a process that was not killed breaks a connection", startMs: 2_700, service: "a" },
  { bug: "a process fails together with the killed process", startMs: 1_005, service: "b" },
])("$bug: reported", ({ startMs, service }) => {
  const { violations } = checkRestarts([...VALID, at(startMs, RESET, service)], RESTARTS);
  expect(violations.map(({ invariant }) => invariant)).toEqual(["replies"]);
});
