import { after, type Model } from "./explore.ts";

/**
 * One idempotency key in a project that is spread over several databases. The claim of the key is stored in a database that the key
 * determines. The charge is stored in the home of the customer, which the payload determines. Each step is one transaction in one of them.
 *
 * A request that is refused leaves its claim. Another payload may then use the key: it first writes a void at the home of the claim, so
 * that nothing can be charged there anymore, and then replaces the claim with the next generation.
 */

/** Mistakes that the model must find. */
export type ClaimMistake =
  | "no claim"
  | "claim replaced without a void"
  | "void ignored"
  | "conflict with an unsettled claim"
  | "claim released by a refusal"
  | "claim purged before its charge";

/** A payload, and the home of its customer. */
export type Payload = { readonly name: string; readonly home: number };

type Claim = { payload: string; home: number; generation: number };
type Step = "start" | "settle" | "answer" | "void" | "replace" | "done";
type Request = {
  payload: string;
  home: number;
  step: Step;
  generation: number;
  /** The use of the key for which it was charged. */
  use: number;
  /** The claim of another payload that it met. */
  met: Claim | null;
  repeats: number;
};
type Purge = { step: "off" | "void" | "claim" | "done"; claim: Claim | null };

export type ClaimState = {
  claim: Claim | null;
  homes: Record<
    number,
    { kind: "settled"; payload: string; use: number } | { kind: "void"; generation: number }
  >;
  /** Each purge of the charge begins another use of the key. */
  use: number;
  /** The number of charges of each use. */
  charges: number[];
  /** The payloads that were acknowledged in each use. */
  acknowledged: string[][];
  /** A conflict was reported although no other payload was charged. */
  hasFalseConflict: boolean;
  requests: Request[];
  crashes: number;
  purge: Purge;
};

/** Two replacements are enough in practice. A request that meets a third one is rejected and can be repeated. */
const GENERATIONS_MAX = 3;
/** The first generation of a claim rises with time, so that a void of an earlier use does not stop a later one. */
const GENERATIONS_OF_USE = 10;

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
  /** The retention time of the key ends while requests are still running. */
  readonly purges?: boolean;
  readonly mistake?: ClaimMistake;
}): Model<ClaimState> {
  return {
    first: {
      claim: null,
      homes: {},
      use: 0,
      charges: [0, 0],
      acknowledged: [[], []],
      hasFalseConflict: false,
      requests: payloads.map(({ name, home }) => ({
        payload: name,
        home,
        step: "start",
        generation: 0,
        use: 0,
        met: null,
        repeats,
      })),
      crashes,
      purge: { step: purges ? "off" : "done", claim: null },
    },
    *next(state) {
      for (const index of state.requests.keys()) yield* stepsOf(state, index, mistake);
      yield* purgeSteps(state, mistake);
    },
    problemOf({ charges, acknowledged, hasFalseConflict }) {
      if (charges.some((count) => count > 1)) return "charged twice";
      if (acknowledged.some(({ length }) => length > 1)) return "two payloads were acknowledged";
      return hasFalseConflict ? "a conflict although nothing was charged" : null;
    },
  };
}

function* stepsOf(state: ClaimState, index: number, mistake: ClaimMistake | undefined) {
  const request = state.requests[index];
  if (request === undefined) return;
  /** One step of this request. */
  const go = (change: (copy: ClaimState, own: Request) => void): ClaimState =>
    after(state, (copy) => {
      const own = copy.requests[index];
      if (own !== undefined) change(copy, own);
    });
  const again = (own: Request): void => {
    own.step = "start";
    own.generation = 0;
    own.met = null;
  };
  switch (request.step) {
    case "start":
      yield go((copy, own) => claim(copy, own));
      if (mistake === "no claim")
        yield go((_, own) => {
          own.step = "settle";
        });
      break;
    case "settle":
      yield* settleSteps(state, request, go, again, mistake);
      break;
    case "answer":
      yield go(acknowledge);
      break;
    case "void":
      yield go((copy, own) => writeVoid(copy, own, mistake));
      break;
    case "replace":
      yield go((copy, own) => replaceClaim(copy, own, again));
      break;
    case "done":
      if (request.repeats > 0)
        yield go((_, own) => {
          again(own);
          own.repeats -= 1;
        });
  }
  if (request.step !== "start" && request.step !== "done" && state.crashes > 0)
    yield go((copy, own) => {
      again(own);
      copy.crashes -= 1;
    });
}

type Go = (change: (copy: ClaimState, own: Request) => void) => ClaimState;

/** In the database of the key. */
function claim(copy: ClaimState, own: Request): void {
  const generation = copy.use * GENERATIONS_OF_USE + 1;
  copy.claim ??= { payload: own.payload, home: own.home, generation };
  if (copy.claim.payload === own.payload) {
    own.generation = copy.claim.generation;
    own.step = "settle";
  } else {
    own.met = copy.claim;
    own.step = "void";
  }
}

/** At the home of the customer: charges, repeats the response, or is refused. */
function* settleSteps(
  { homes }: ClaimState,
  { payload, home, generation }: Request,
  go: Go,
  again: (own: Request) => void,
  mistake: ClaimMistake | undefined,
) {
  const stored = homes[home];
  if (stored?.kind === "settled") {
    yield go((copy, own) => {
      own.use = stored.use;
      if (stored.payload === payload) acknowledge(copy, own);
      own.step = "done";
    });
    return;
  }
  if (stored?.kind === "void" && stored.generation >= generation && mistake !== "void ignored") {
    yield go((_, own) => again(own));
    return;
  }
  yield go((copy, own) => {
    copy.homes[home] = { kind: "settled", payload, use: copy.use };
    copy.charges[copy.use] = (copy.charges[copy.use] ?? 0) + 1;
    own.use = copy.use;
    own.step = "answer";
  });
  // A refusal stores nothing.
  yield go((copy, own) => {
    own.step = "done";
    if (mistake === "claim released by a refusal") copy.claim = null;
  });
}

function acknowledge(copy: ClaimState, own: Request): void {
  const known = copy.acknowledged[own.use] ?? [];
  if (!known.includes(own.payload)) copy.acknowledged[own.use] = [...known, own.payload].sort();
  own.step = "done";
}

/** At the home of the claim that it met. */
function writeVoid(copy: ClaimState, own: Request, mistake: ClaimMistake | undefined): void {
  const { met } = own;
  if (met === null || met.generation % GENERATIONS_OF_USE >= GENERATIONS_MAX) {
    own.step = "done";
    return;
  }
  const stored = copy.homes[met.home];
  if (mistake === "conflict with an unsettled claim") {
    const isCharged = Object.values(copy.homes).some(
      (home) => home.kind === "settled" && home.payload !== own.payload,
    );
    if (!isCharged) copy.hasFalseConflict = true;
    own.step = "done";
  } else if (stored?.kind === "settled") {
    own.step = stored.payload === own.payload ? "start" : "done";
  } else {
    if (mistake !== "claim replaced without a void") {
      const generation = Math.max(met.generation, stored?.generation ?? 0);
      copy.homes[met.home] = { kind: "void", generation };
    }
    own.step = "replace";
  }
}

/** In the database of the key, unless the claim has changed. */
function replaceClaim(copy: ClaimState, own: Request, again: (own: Request) => void): void {
  const { met } = own;
  const { claim: current } = copy;
  if (met === null || current?.payload !== met.payload || current.generation !== met.generation) {
    again(own);
    return;
  }
  const generation = met.generation + 1;
  copy.claim = { payload: own.payload, home: own.home, generation };
  own.generation = generation;
  own.step = "settle";
  own.met = null;
}

/**
 * The end of the retention time, after which the key may be used again. A void replaces the charge before the claim is deleted. In the other
 * order, another payload could be charged while the charge is still stored.
 */
function* purgeSteps(state: ClaimState, mistake: ClaimMistake | undefined) {
  const { claim: current, purge } = state;
  const isClaimFirst = mistake === "claim purged before its charge";
  if (purge.step === "off" && current !== null && state.homes[current.home]?.kind === "settled")
    yield after(state, (copy) => {
      copy.purge = { step: isClaimFirst ? "claim" : "void", claim: current };
    });
  const purged = purge.claim;
  if (purge.step === "void" && purged !== null)
    yield after(state, (copy) => {
      copy.homes[purged.home] = { kind: "void", generation: purged.generation };
      copy.use += 1;
      copy.purge.step = isClaimFirst ? "done" : "claim";
    });
  if (purge.step === "claim" && purged !== null)
    yield after(state, (copy) => {
      const { claim } = copy;
      if (claim?.payload === purged.payload && claim.generation === purged.generation) copy.claim = null;
      copy.purge.step = isClaimFirst ? "void" : "done";
    });
}
