/**
 * One idempotency key in a project that is spread over several databases. The claim of the key is stored in a database that the key
 * determines. The charge is stored in the home of the customer, which the payload determines. Each step is one transaction in one of them.
 *
 * A request that is refused leaves its claim. Another payload may then use the key: it first writes a void at the home of the claim, so
 * that nothing can be charged there any more, and then replaces the claim with the next generation. A request that meets a void of its
 * own claim replaces that claim itself, because the request that wrote the void may never continue.
 */

/** Mistakes that the model must find. */
export type ClaimMistake =
  | "no claim"
  | "claim replaced without a void"
  | "void ignored"
  | "void met without a replacement"
  | "conflict with an unsettled claim"
  | "conflict with a void"
  | "claim released by a refusal"
  | "generations of a key limited"
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
  /** The claim that it replaces. */
  met: Claim | null;
  repeats: number;
};

export type ClaimState = {
  claim: Claim | null;
  homes: Record<number, { kind: "settled"; payload: string } | { kind: "void"; generation: number }>;
  /** The payloads that were charged since the last purge of a charge. */
  charged: string[];
  /** A conflict or a stored response was returned that the charges do not explain. */
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

/** The latest generation of anything. */
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

/** Requests with the same payload have no names, and only the order of the generations matters. */
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

/** Only a request that is about to settle uses its generation. */
function withoutPast(request: Request): Request {
  const { step } = request;
  return {
    ...request,
    generation: step === "settle" ? request.generation : 0,
    met: step === "void" || step === "replace" ? request.met : null,
  };
}

/** Without the voids that are older than the claim and all requests at their home. */
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
