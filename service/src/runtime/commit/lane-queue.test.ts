import { expect, test } from "vitest";
import { LaneQueue } from "./lane-queue.ts";
import type { Outcome, Pending } from "./request.ts";

/** A request of an age; its body does not matter to a queue. */
function waiting(ageMs: number, outcomes: Outcome[], isUncertain = false): Pending {
  const enqueuedAtMs = performance.now() - ageMs;
  const settle = (outcome: Outcome) => void outcomes.push(outcome);
  const request = {} as Pending["request"];
  return { request, enqueuedAtMs, settle, name: null, isUncertain, skips: 0, fetches: 0 };
}

test("a request that comes back too old is refused at once, whenever the timer runs", () => {
  const queue = new LaneQueue();
  const outcomes: Outcome[] = [];
  queue.lead([waiting(3_000, outcomes), waiting(3_000, outcomes, true), waiting(10, outcomes)]);
  queue.close();
  expect(outcomes).toEqual([{ kind: "overloaded" }, { kind: "outcome_unknown" }]);
  expect(queue.length).toBe(1);
});
