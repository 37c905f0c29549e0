import { expect, test } from "vitest";
import { LaneQueue } from "./lane-queue.ts";
import type { Outcome, Pending } from "./request.ts";

/** A request with a given age. The queue does not read its body. */
function waiting(ageMs: number, outcomes: Outcome[], isUncertain = false): Pending {
  const enqueuedAtMs = performance.now() - ageMs;
  const settle = (outcome: Outcome) => void outcomes.push(outcome);
  const request = {} as Pending["request"];
  return { request, enqueuedAtMs, settle, name: null, isUncertain, skips: 0, fetches: 0 };
}

test("a request that is too old when put back is rejected immediately", () => {
  const queue = new LaneQueue();
  const outcomes: Outcome[] = [];
  queue.putBack([waiting(3_000, outcomes), waiting(3_000, outcomes, true), waiting(10, outcomes)]);
  queue.close();
  expect(outcomes).toEqual([{ kind: "overloaded" }, { kind: "outcome_unknown" }]);
  expect(queue.length).toBe(1);
});
