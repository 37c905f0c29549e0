/**
 * One idempotency key in a project that is spread over several databases. The key determines the database of its
 * claim. The payload determines the customer's home, where the charge is stored. Each step is one transaction in one database.
 *
 * A rejected request leaves its claim behind, and a request with another payload may then use the key. The second request first writes a
 * void at the home of the claim, which prevents further charges there. It then replaces the claim with the next generation. A request that
 * finds its own claim voided replaces the claim itself, because the request that wrote the void may have crashed.
 */

/** Seeded bugs that the model must find. */
export type ClaimMistake =
  | "no claim"
  | "claim replaced without a void"
  | "void ignored"
  | "void found without a replacement"
  | "conflict with an unsettled claim"
  | "conflict with a void"
  | "claim released by a rejection"
  | "limited generations of a key"
  | "claim purged before its charge"
  | "new charge purged";

/** A payload, and the home of its customer. */
export type Payload = { readonly name: string; readonly home: number };

export type Claim = { payload: string; home: number; generation: number };

export type Request = {
  payload: string;
  home: number;
  step: "start" | "settle" | "answer" | "void" | "replace" | "done";
  generation: number;
  /** The existing claim that this request replaces. */
  met: Claim | null;
  repeats: number;
};

export type ClaimState = {
  claim: Claim | null;
  homes: Record<number, { kind: "settled"; payload: string } | { kind: "void"; generation: number }>;
  /** The payloads that were charged since the last purge of a charge. */
  charged: string[];
  /** Whether a request got a conflict or a stored response that does not match the charges. */
  hasFalseResponse: boolean;
  requests: Request[];
  crashes: number;
  purge: { step: "off" | "void" | "claim" | "done"; claim: Claim | null; isCharged: boolean };
};

export function newRequest({ name, home }: Payload, repeats: number): Request {
  return { payload: name, home, step: "start", generation: 0, met: null, repeats };
}

export function isSame(claim: Claim | null, other: Claim): boolean {
  return claim?.payload === other.payload && claim.generation === other.generation;
}

/** Returns the latest generation in the claim, voids and requests. */
export function latestGeneration(state: ClaimState): number {
  return Math.max(0, ...generationsOf(state));
}

function generationsOf({ claim, homes, requests, purge }: ClaimState): number[] {
  const claims = [claim, purge.claim, ...requests.map(({ met }) => met)];
  const voids = Object.values(homes).map((home) => (home.kind === "void" ? home.generation : 0));
  return [
    ...claims.map((of) => of?.generation ?? 0),
    ...voids,
    ...requests.map(({ generation }) => generation),
  ].filter((generation) => generation > 0);
}

/** Requests with the same payload are interchangeable, and only the order of the generations matters. */
export function normalized(state: ClaimState): ClaimState {
  const requests = state.requests.map(withoutPast);
  const { step } = state.purge;
  const purge = step === "done" ? { step, claim: null, isCharged: false } : state.purge;
  const homes = withEffect({ ...state, requests, purge });
  const short = { ...state, requests, purge, homes };
  const order = [...new Set(generationsOf(short))].sort((a, b) => a - b);
  const rank = (generation: number): number => order.indexOf(generation) + 1;
  const ranked = <T extends { generation: number }>(of: T): T => ({ ...of, generation: rank(of.generation) });
  return {
    ...short,
    claim: state.claim && ranked(state.claim),
    homes: Object.fromEntries(
      Object.entries(homes).map(([home, stored]) => [home, stored.kind === "void" ? ranked(stored) : stored]),
    ),
    purge: { ...purge, claim: purge.claim && ranked(purge.claim) },
    requests: requests
      .map((request) => ({ ...ranked(request), met: request.met && ranked(request.met) }))
      .map((request) => ({ request, text: JSON.stringify(request) }))
      .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
      .map(({ request }) => request),
  };
}

/** Removes data that the next steps do not use: only a request that is about to settle uses its generation. */
function withoutPast(request: Request): Request {
  const { step } = request;
  return {
    ...request,
    generation: step === "settle" ? request.generation : 0,
    met: step === "void" || step === "replace" ? request.met : null,
  };
}

/** Removes voids that are older than the claim and than all requests at their home. */
function withEffect({ claim, homes, requests }: ClaimState): ClaimState["homes"] {
  const hasEffect = (home: number, generation: number): boolean =>
    (claim?.home === home && claim.generation <= generation) ||
    requests.some((own) => own.step === "settle" && own.home === home && own.generation <= generation);
  return Object.fromEntries(
    Object.entries(homes).filter(
      ([home, stored]) => stored.kind === "settled" || hasEffect(Number(home), stored.generation),
    ),
  );
}
