import { expect, test } from "vitest";
import { claimModel } from "./claim.ts";
import type { ClaimMistake, Payload } from "./claim-state.ts";
import { explore, type Model } from "./explore.ts";
import { moveModel } from "./move.ts";
import type { MoveMistake } from "./move-state.ts";

// Decision 29. The models are small enough to visit every state. The nightly run also visits larger models.

const IS_LONG = process.env["EVERY_STATE"] === "1";

const A: Payload = { name: "A", home: 1 };
const B: Payload = { name: "B", home: 2 };
/** Has the same home as A. */
const C: Payload = { name: "C", home: 1 };

// Each seeded bug is tested in one of these models. Without the bug, no model has a problem.
const KEYS = {
  "two payloads on two homes": { payloads: [A, A, B], repeats: 1, crashes: 1 },
  "three payloads, two of them on one home": { payloads: [A, B, C], repeats: 0, crashes: 1 },
  "four requests": { payloads: [A, A, B, C], repeats: 0, crashes: 0 },
  "a purge of two payloads": { payloads: [A, B], repeats: 1, crashes: 1, purges: true },
  "a purge of two payloads on one home": { payloads: [A, C], repeats: 1, crashes: 1, purges: true },
  "a purge of three requests": { payloads: [A, A, B], repeats: 0, crashes: 1, purges: true },
};
const LONG_KEYS = {
  "a purge of repeated requests": { payloads: [A, A, B], repeats: 1, crashes: 1, purges: true },
  "a purge of three payloads": { payloads: [A, B, C], repeats: 0, crashes: 1, purges: true },
  "repeats of three payloads": { payloads: [A, B, C], repeats: 1, crashes: 1 },
};

const MOVES = {
  "two movers": { writers: 2, writes: 1, movers: 2, aborts: 1, crashes: 1 },
  "two writes by each writer": { writers: 2, writes: 2, movers: 1, aborts: 1, crashes: 1 },
  "a move and a move back": { writers: 1, writes: 2, movers: 2, aborts: 0, crashes: 1, returns: 1 },
  "a move, a move back and a third move": {
    writers: 1,
    writes: 1,
    movers: 2,
    aborts: 0,
    crashes: 1,
    returns: 2,
  },
  "another move after an abort": { writers: 1, writes: 1, movers: 2, aborts: 1, crashes: 1, returns: 1 },
};
const LONG_MOVES = {
  "two writers, two movers, an abort and a move back": {
    writers: 2,
    writes: 1,
    movers: 2,
    aborts: 1,
    crashes: 1,
    returns: 1,
  },
};

function expectSound<State extends object>(model: Model<State>): void {
  const { states, problem, path } = explore(model);
  expect(problem, JSON.stringify(path, null, 1)).toBeNull();
  expect(states).toBeGreaterThan(1_000);
}

test.each(Object.entries(KEYS))(
  "a key used in several databases causes one charge and stays usable: %s",
  (_, options) => expectSound(claimModel(options)),
);

test.each<[ClaimMistake, keyof typeof KEYS, string]>([
  ["no claim", "two payloads on two homes", "charged twice"],
  ["claim replaced without a void", "two payloads on two homes", "charged twice"],
  ["void ignored", "two payloads on two homes", "charged twice"],
  ["void found without a replacement", "two payloads on two homes", "the key is not usable"],
  [
    "conflict with an unsettled claim",
    "two payloads on two homes",
    "a response that does not match the charges",
  ],
  ["conflict with a void", "two payloads on two homes", "a response that does not match the charges"],
  ["claim released by a rejection", "two payloads on two homes", "charged twice"],
  ["limited generations of a key", "two payloads on two homes", "the key is not usable"],
  ["claim purged before its charge", "a purge of three requests", "charged twice"],
  ["new charge purged", "a purge of three requests", "charged twice"],
])("the key model finds the bug: %s", (mistake, name, expected) => {
  expect(explore(claimModel({ ...KEYS[name], mistake })).problem).toBe(expected);
});

test.each(Object.entries(MOVES))("a project loses no write in a move and stays usable: %s", (_, options) =>
  expectSound(moveModel(options)),
);

test.each<[MoveMistake, keyof typeof MOVES, string]>([
  ["no lock", "two movers", "an acknowledged write is lost or duplicated"],
  ["gate read before the lock", "two movers", "an acknowledged write is lost or duplicated"],
  ["no wait for writers", "two movers", "an acknowledged write is lost or duplicated"],
  ["switch without comparison", "two movers", "an acknowledged write is lost or duplicated"],
  ["copy without reading the gate", "two movers", "an acknowledged write is lost or duplicated"],
  ["epoch not compared", "a move and a move back", "both gates are open"],
  ["old route never refreshed", "a move and a move back", "some writes can never end"],
  ["end of another move reported", "a move, a move back and a third move", "some writes can never end"],
])("the move model finds the bug: %s", (mistake, name, expected) => {
  expect(explore(moveModel({ ...MOVES[name], mistake })).problem).toBe(expected);
});

test.runIf(IS_LONG).each(Object.entries(LONG_KEYS))(
  "a key used in several databases causes one charge and stays usable, in a large model: %s",
  { timeout: 900_000 },
  (_, options) => expectSound(claimModel(options)),
);

test.runIf(IS_LONG).each(Object.entries(LONG_MOVES))(
  "a project loses no write in a move and stays usable, in a large model: %s",
  { timeout: 900_000 },
  (_, options) => expectSound(moveModel(options)),
);
