import { expect, test } from "vitest";
import { claimModel } from "./claim.ts";
import type { ClaimMistake, Payload } from "./claim-state.ts";
import { explore, type Model } from "./explore.ts";
import { moveModel } from "./move.ts";
import type { MoveMistake } from "./move-state.ts";

// Decision 29. The models are small enough to visit every state. The nightly run visits larger ones too.

const IS_LONG = process.env["EVERY_STATE"] === "1";

const A: Payload = { name: "A", home: 1 };
const B: Payload = { name: "B", home: 2 };
/** Shares its home with A. */
const C: Payload = { name: "C", home: 1 };

// Each mistake is planted in one of these, all of which are sound without it.
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
  "two writes of each writer": { writers: 2, writes: 2, movers: 1, aborts: 1, crashes: 1 },
  "there and back": { writers: 1, writes: 2, movers: 2, aborts: 0, crashes: 1, returns: 1 },
  "there, back and there again": { writers: 1, writes: 1, movers: 2, aborts: 0, crashes: 1, returns: 2 },
  "another move after an abort": { writers: 1, writes: 1, movers: 2, aborts: 1, crashes: 1, returns: 1 },
};
const LONG_MOVES = {
  "two writers, two movers, an abort and a way back": {
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
  "a key used on several databases causes one charge and stays usable: %s",
  (_, options) => expectSound(claimModel(options)),
);

test.each<[ClaimMistake, keyof typeof KEYS, string]>([
  ["no claim", "two payloads on two homes", "charged twice"],
  ["claim replaced without a void", "two payloads on two homes", "charged twice"],
  ["void ignored", "two payloads on two homes", "charged twice"],
  ["void met without a replacement", "two payloads on two homes", "the key is not usable"],
  [
    "conflict with an unsettled claim",
    "two payloads on two homes",
    "a response that the charges do not explain",
  ],
  ["conflict with a void", "two payloads on two homes", "a response that the charges do not explain"],
  ["claim released by a refusal", "two payloads on two homes", "charged twice"],
  ["generations of a key limited", "two payloads on two homes", "the key is not usable"],
  ["claim purged before its charge", "a purge of three requests", "charged twice"],
  ["new charge purged", "a purge of three requests", "charged twice"],
])("the model of keys finds the mistake: %s", (mistake, name, expected) => {
  expect(explore(claimModel({ ...KEYS[name], mistake })).problem).toBe(expected);
});

test.each(Object.entries(MOVES))("a project that moves loses no write and stays usable: %s", (_, options) =>
  expectSound(moveModel(options)),
);

test.each<[MoveMistake, keyof typeof MOVES, string]>([
  ["no lock", "two movers", "an acknowledged write is lost or doubled"],
  ["gate read before the lock", "two movers", "an acknowledged write is lost or doubled"],
  ["no wait for writers", "two movers", "an acknowledged write is lost or doubled"],
  ["switch without comparison", "two movers", "an acknowledged write is lost or doubled"],
  ["copy without reading the gate", "two movers", "an acknowledged write is lost or doubled"],
  ["epoch not compared", "there and back", "both gates are open"],
  ["old route never refreshed", "there and back", "some writes can never end"],
  ["end of another move reported", "there, back and there again", "some writes can never end"],
])("the model of moves finds the mistake: %s", (mistake, name, expected) => {
  expect(explore(moveModel({ ...MOVES[name], mistake })).problem).toBe(expected);
});

test.runIf(IS_LONG).each(Object.entries(LONG_KEYS))(
  "a key over several databases is charged once and stays usable: %s",
  { timeout: 900_000 },
  (_, options) => expectSound(claimModel(options)),
);

test.runIf(IS_LONG).each(Object.entries(LONG_MOVES))(
  "a project that moves loses no write and stays usable: %s",
  { timeout: 900_000 },
  (_, options) => expectSound(moveModel(options)),
);
