import { expect, test } from "vitest";
import { checkRestarts } from "./check-restarts.ts";
import { callOf, okOf, RESET, requestOf } from "./honest-run.ts";

const plain = requestOf("plain", null);
const RESTARTS = [
  { killedAtMs: 1_000, startedAtMs: 1_010 },
  { killedAtMs: 3_000, startedAtMs: 3_010 },
];

test("a restart is measured from the new start to the first 200", () => {
  const calls = [
    callOf(plain, okOf(1), 900),
    callOf(plain, RESET, 999),
    callOf(plain, okOf(2), 2_000),
    callOf(plain, okOf(3), 2_500),
    callOf(plain, okOf(4), 3_500),
  ];
  expect(checkRestarts(calls, RESTARTS)).toEqual({ violations: [], restartMs: [995, 495] });
});

test("a restart after which nothing is answered is caught, also when the next one is", () => {
  const { violations, restartMs } = checkRestarts([callOf(plain, okOf(1), 3_500)], RESTARTS);
  expect(violations.map(({ invariant }) => invariant)).toEqual(["I8"]);
  expect(restartMs).toEqual([495]);
});

test("a restart that takes too long is caught", () => {
  const { violations } = checkRestarts([callOf(plain, okOf(1), 20_000)], RESTARTS.slice(1));
  expect(violations.map(({ invariant }) => invariant)).toEqual(["I8"]);
});
