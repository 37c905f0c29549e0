import {
  type ClaimMistake,
  type ClaimState,
  isSame,
  latestGeneration,
  newRequest,
  normalized,
  type Payload,
  type Request,
} from "./claim-state.ts";
import { after, type Model } from "./explore.ts";
import { purgeSteps } from "./purge.ts";

export function claimModel({
  payloads,
  repeats,
  crashes,
  purges = false,
  mistake,
}: {
  readonly payloads: readonly Payload[];
  readonly repeats: number;
  readonly crashes: number;
  /** Whether the key's retention time ends while requests are still running. */
  readonly purges?: boolean;
  readonly mistake?: ClaimMistake;
}): Model<ClaimState> {
  const isUsable = usableBy(payloads, mistake);
  return {
    first: {
      claim: null,
      homes: {},
      charged: [],
      hasFalseResponse: false,
      requests: payloads.map((payload) => newRequest(payload, repeats)),
      crashes,
      purge: { step: purges ? "off" : "done", claim: null, isCharged: false },
    },
    *next(state) {
      for (const index of state.requests.keys()) yield* stepsOf(state, index, mistake);
    },
    *disturb(state) {
      for (const index of state.requests.keys()) yield* disturbancesOf(state, index, mistake);
      yield* purgeSteps(state, mistake);
    },
    // A limit on generations needs their real numbers.
    normalize: mistake === "limited generations of a key" ? (state) => state : normalized,
    problemOf(state) {
      if (state.charged.length > 1) return "charged twice";
      if (state.hasFalseResponse) return "a response that does not match the charges";
      // The claim must have the latest generation, so that its replacement is later than every void.
      if (state.claim !== null && state.claim.generation < latestGeneration(state))
        return "the claim is older than a void";
      return isUsable(state) ? null : "the key is not usable";
    },
    end: {
      isReached: ({ requests }) => requests.every(({ step }) => step === "done"),
      problem: "some requests can never end",
    },
  };
}

/** A request is rejected if it would replace more claims. Otherwise, two requests could replace each other's claims forever. */
const REPLACEMENTS_MAX = 2;

/** Whether a new request with each payload is charged or finds the charge, if it runs alone and is not rejected. */
function usableBy(
  payloads: readonly Payload[],
  mistake: ClaimMistake | undefined,
): (state: ClaimState) => boolean {
  const known = new Map<string, boolean>();
  const isCharged = (state: ClaimState, payload: Payload): boolean => {
    let alone: ClaimState = { ...state, requests: [newRequest(payload, 0)] };
    for (let replacements = 0; replacements <= REPLACEMENTS_MAX; ) {
      const [next] = stepsOf(alone, 0, mistake);
      if (next === undefined) break;
      // Restarts count too, so that a request that always restarts ends this loop.
      if (alone.requests[0]?.step === "replace" || next.requests[0]?.step === "start") replacements += 1;
      alone = next;
    }
    const isDone = alone.requests.every(({ step }) => step === "done");
    return isDone && (alone.charged.length > 0 || alone.hasFalseResponse);
  };
  return (state) => {
    const { claim, homes, charged } = state;
    const key = JSON.stringify([claim, homes, charged]);
    const isUsable = known.get(key) ?? payloads.every((payload) => isCharged(state, payload));
    known.set(key, isUsable);
    return isUsable;
  };
}

type Change = (copy: ClaimState, own: Request) => void;

/** One step of this request. */
function step(state: ClaimState, index: number, change: Change): ClaimState {
  return after(state, (copy) => {
    const own = copy.requests[index];
    if (own !== undefined) change(copy, own);
  });
}

/** The steps of a request that is not rejected. */
function* stepsOf(state: ClaimState, index: number, mistake: ClaimMistake | undefined) {
  const request = state.requests[index];
  if (request === undefined) return;
  const go = (change: Change): ClaimState => step(state, index, change);
  switch (request.step) {
    case "start":
      yield go(claim);
      if (mistake === "no claim")
        yield go((_, own) => {
          own.step = "settle";
        });
      break;
    case "settle":
      yield go((copy, own) => settle(copy, own, mistake));
      break;
    case "answer":
      yield go((_, own) => {
        own.step = "done";
      });
      break;
    case "void":
      yield go((copy, own) => writeVoid(copy, own, mistake));
      break;
    case "replace":
      yield go(replaceClaim);
      break;
    case "done":
      break;
  }
}

/** Events that interrupt a request: a rejection, a crash, and a retry by the caller. A rejection can follow several replacements. */
function* disturbancesOf(state: ClaimState, index: number, mistake: ClaimMistake | undefined) {
  const request = state.requests[index];
  if (request === undefined) return;
  if (request.step === "settle" && mayCharge(state, request, mistake))
    yield step(state, index, (copy, own) => {
      own.step = "done";
      if (mistake === "claim released by a rejection") copy.claim = null;
    });
  if (request.step === "void" || request.step === "replace")
    yield step(state, index, (_, own) => {
      own.step = "done";
    });
  if (request.step !== "start" && request.step !== "done" && state.crashes > 0)
    yield step(state, index, (copy, own) => {
      again(own);
      copy.crashes -= 1;
    });
  if (request.step === "done" && request.repeats > 0)
    yield step(state, index, (_, own) => {
      again(own);
      own.repeats -= 1;
    });
}

function again(own: Request): void {
  own.step = "start";
  own.generation = 0;
  own.met = null;
}

/** Runs in the key's database. First generations increase over time, so that the void of a purged claim does not stop a later claim. */
function claim(copy: ClaimState, own: Request): void {
  copy.claim ??= { payload: own.payload, home: own.home, generation: latestGeneration(copy) + 1 };
  if (copy.claim.payload === own.payload) {
    own.generation = copy.claim.generation;
    own.step = "settle";
  } else {
    own.met = copy.claim;
    own.step = "void";
  }
}

function mayCharge(
  { homes }: ClaimState,
  { home, generation }: Request,
  mistake: ClaimMistake | undefined,
): boolean {
  const stored = homes[home];
  if (stored?.kind === "settled") return false;
  return stored === undefined || stored.generation < generation || mistake === "void ignored";
}

/** Runs at the customer's home. Charges, or returns the stored response. */
function settle(copy: ClaimState, own: Request, mistake: ClaimMistake | undefined): void {
  const { payload, home, generation } = own;
  const stored = copy.homes[home];
  if (stored?.kind === "settled" && stored.payload !== payload) {
    conflict(copy, own);
  } else if (stored?.kind === "settled") {
    if (!copy.charged.includes(payload)) copy.hasFalseResponse = true;
    own.step = "done";
  } else if (mayCharge(copy, own, mistake)) {
    copy.homes[home] = { kind: "settled", payload };
    copy.charged = [...copy.charged, payload];
    own.step = "answer";
  } else if (mistake === "conflict with a void") {
    conflict(copy, own);
  } else if (mistake === "void found without a replacement") {
    again(own);
  } else {
    own.met = { payload, home, generation };
    own.step = "replace";
  }
}

/** Reports that the key was used with another payload. Checks this against `charged`, which does not depend on the stored rows. */
function conflict(copy: ClaimState, own: Request): void {
  if (!copy.charged.some((payload) => payload !== own.payload)) copy.hasFalseResponse = true;
  own.step = "done";
}

/** Runs at the home of the existing claim. */
function writeVoid(copy: ClaimState, own: Request, mistake: ClaimMistake | undefined): void {
  const { met } = own;
  const stored = copy.homes[met?.home ?? 0];
  const isLimited = mistake === "limited generations of a key" && (met?.generation ?? 0) >= 3;
  if (mistake === "conflict with an unsettled claim") {
    conflict(copy, own);
  } else if (met === null || (stored?.kind === "settled" && stored.payload === own.payload)) {
    again(own);
  } else if (stored?.kind === "settled") {
    conflict(copy, own);
  } else if (isLimited) {
    own.step = "done";
  } else {
    if (mistake !== "claim replaced without a void") {
      const generation = Math.max(met.generation, stored?.generation ?? 0);
      copy.homes[met.home] = { kind: "void", generation };
    }
    own.step = "replace";
  }
}

/** Runs in the key's database. Starts again if the claim has changed. */
function replaceClaim(copy: ClaimState, own: Request): void {
  const { met } = own;
  if (met === null || !isSame(copy.claim, met)) {
    again(own);
    return;
  }
  const generation = met.generation + 1;
  copy.claim = { payload: own.payload, home: own.home, generation };
  own.generation = generation;
  own.step = "settle";
  own.met = null;
}
