import { expect, test } from "vitest";
import { type ClaimMistake, claimModel, type Payload } from "./claim.ts";
import { explore } from "./explore.ts";
import { moveModel } from "./move.ts";
import type { MoveMistake } from "./move-state.ts";

// Decision 29. The models are small enough to visit every state.

const A: Payload = { name: "A", home: 1 };
const B: Payload = { name: "B", home: 2 };
/** Shares its home with A. */
const C: Payload = { name: "C", home: 1 };

test.each([
  ["two payloads on two homes", { payloads: [A, A, B], repeats: 1, crashes: 1 }],
  ["three payloads, two of them on one home", { payloads: [A, B, C], repeats: 0, crashes: 2 }],
  ["four requests", { payloads: [A, A, B, C], repeats: 0, crashes: 0 }],
  ["a purge of two payloads", { payloads: [A, B], repeats: 1, crashes: 1, purges: true }],
  ["a purge of three requests", { payloads: [A, A, B], repeats: 0, crashes: 1, purges: true }],
])("a key over several databases is charged once: %s", (_, options) => {
  const { states, problem, path } = explore(claimModel(options));
  expect(problem, JSON.stringify(path, null, 1)).toBeNull();
  expect(states).toBeGreaterThan(1_000);
});

test.each<[ClaimMistake, string]>([
  ["no claim", "charged twice"],
  ["claim replaced without a void", "charged twice"],
  ["void ignored", "charged twice"],
  ["conflict with an unsettled claim", "a conflict although nothing was charged"],
  ["claim released by a refusal", "charged twice"],
  ["claim purged before its charge", "charged twice"],
])("the model of keys finds the mistake: %s", (mistake, expected) => {
  const options = { payloads: [A, A, B], repeats: 1, crashes: 1, purges: true, mistake };
  expect(explore(claimModel(options)).problem).toBe(expected);
});

test.each([
  ["two movers", { writers: 2, writes: 1, movers: 2, aborts: 1, crashes: 1 }],
  ["two writes of each writer", { writers: 2, writes: 2, movers: 1, aborts: 1, crashes: 1 }],
  ["there and back", { writers: 1, writes: 2, movers: 2, aborts: 0, crashes: 1, returns: 1 }],
])("a project that moves loses no write and stays usable: %s", (_, options) => {
  const { states, problem, path } = explore(moveModel(options));
  expect(problem, JSON.stringify(path, null, 1)).toBeNull();
  expect(states).toBeGreaterThan(1_000);
});

test.each<[MoveMistake, string]>([
  ["no lock", "an acknowledged write is lost or doubled"],
  ["gate read before the lock", "an acknowledged write is lost or doubled"],
  ["no wait for writers", "an acknowledged write is lost or doubled"],
  ["switch without comparison", "an acknowledged write is lost or doubled"],
  ["copy without reading the gate", "an acknowledged write is lost or doubled"],
  ["epoch not compared", "both gates are open"],
])("the model of moves finds the mistake: %s", (mistake, expected) => {
  const options = { writers: 2, writes: 1, movers: 2, aborts: 1, crashes: 1, returns: 1, mistake };
  expect(explore(moveModel(options)).problem).toBe(expected);
});
