import { integerBetween } from "../chance.ts";
import type { Call } from "../history/call.ts";
import type { Client } from "./client.ts";
import { makeRequest, makeRival } from "./make-request.ts";

/** What a client does in one turn; `other` is another client, for what two do at once. */
type Scenario = { readonly weight: number; play(client: Client, other: Client): Promise<readonly Call[]> };

/** Weights in percent: a quarter without a key. */
const SCENARIOS: readonly Scenario[] = [
  { weight: 25, play: (client) => inTurn(() => client.send(makeRequest({ isKeyed: false }))) },
  { weight: 41, play: (client) => inTurn(() => client.send(makeRequest({ isKeyed: true }))) },
  // The same twice, whatever came of the first.
  {
    weight: 10,
    play: (client) => {
      const request = makeRequest({ isKeyed: true });
      return inTurn(
        () => client.send(request),
        () => client.send(request),
      );
    },
  },
  // The same by two clients at once.
  {
    weight: 8,
    play: (client, other) => {
      const request = makeRequest({ isKeyed: true });
      return Promise.all([client.send(request), other.send(request)]);
    },
  },
  // A late retry: the answer may come from a process or a server that has died since.
  {
    weight: 9,
    play: (client) => inTurn(() => client.send(client.findEarlier() ?? makeRequest({ isKeyed: true }))),
  },
  // A key used again for something else.
  {
    weight: 4,
    play: (client) => {
      const request = makeRequest({ isKeyed: true });
      return inTurn(
        () => client.send(request),
        () => client.send(makeRival(request)),
      );
    },
  },
  // Two payloads race for one key.
  {
    weight: 2,
    play: (client, other) => {
      const request = makeRequest({ isKeyed: true });
      return Promise.all([client.send(request), other.send(makeRival(request))]);
    },
  },
  // Refused only after the key was looked up, so it goes the whole way to the database and must leave nothing.
  { weight: 1, play: (client) => inTurn(() => client.send(makeRequest({ isKeyed: true, isTooOld: true }))) },
];

const WEIGHT_TOTAL = SCENARIOS.reduce((total, { weight }) => total + weight, 0);

export function playScenario(client: Client, other: Client): Promise<readonly Call[]> {
  let left = integerBetween(0, WEIGHT_TOTAL);
  for (const { weight, play } of SCENARIOS) {
    if (left < weight) return play(client, other);
    left -= weight;
  }
  throw new Error("the weights do not add up");
}

async function inTurn(...sends: readonly (() => Promise<Call>)[]): Promise<Call[]> {
  const calls: Call[] = [];
  for (const send of sends) calls.push(await send());
  return calls;
}
