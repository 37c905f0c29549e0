import { expect, test } from "vitest";
import { LaneQueue } from "./lane-queue.ts";
import type { Outcome, Pending } from "./request.ts";

/** A request with a given age and number of items. The queue reads nothing else. */
function waiting(ageMs: number, outcomes: Outcome[], isUncertain = false, items = 1): Pending {
  const enqueuedAtMs = performance.now() - ageMs;
  const settle = (outcome: Outcome) => void outcomes.push(outcome);
  const request = {
    endpoint: "consume",
    consumption: { items: Array(items) },
  } as unknown as Pending["request"];
  return { request, enqueuedAtMs, settle, name: null, isUncertain, skips: 0, fetches: 0 };
}

test("a request that is too old when put back is rejected immediately", () => {
  const queue = new LaneQueue(10);
  const outcomes: Outcome[] = [];
  queue.putBack([waiting(3_000, outcomes), waiting(3_000, outcomes, true), waiting(10, outcomes)]);
  queue.close();
  expect(outcomes).toEqual([{ kind: "overloaded" }, { kind: "outcome_unknown" }]);
  expect(queue.length).toBe(1);
});

test("a batch has at most 300 charges, and at least one request", () => {
  const queue = new LaneQueue(10);
  for (const items of [...Array(16).fill(20), 1, 1]) queue.push(waiting(0, [], false, items));
  expect(queue.take()).toHaveLength(15);
  expect(queue.take()).toHaveLength(3);
  expect(queue.take()).toHaveLength(0);
  queue.close();
});
