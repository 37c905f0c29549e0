import { integerBetween } from "../../harness/chance.ts";
import type { Call } from "../history/call.ts";
import type { Client } from "./client.ts";
import {
  makeCheck,
  makeConsume,
  makeCounterpart,
  makeDoomed,
  makeEvent,
  makeKeyed,
  makeRival,
} from "./make-request.ts";

/** What a client does in one turn; `other` is another client, for what two do at once. */
type Scenario = { readonly weight: number; play(client: Client, other: Client): Promise<readonly Call[]> };

/** Weights in percent. Whatever has a key is a consume two times in three, else an event. */
const SCENARIOS: readonly Scenario[] = [
  { weight: 9, play: (client) => inTurn(() => client.send(makeEvent())) },
  { weight: 45, play: (client) => inTurn(() => client.send(makeKeyed())) },
  // The same twice, whatever came of the first.
  {
    weight: 10,
    play: (client) => {
      const request = makeKeyed();
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
      const request = makeKeyed();
      return Promise.all([client.send(request), other.send(request)]);
    },
  },
  // A late retry: the answer may come from a process or a server that has died since.
  {
    weight: 9,
    play: (client) => inTurn(() => client.send(client.findEarlier() ?? makeKeyed())),
  },
  // A key used again for something else.
  {
    weight: 4,
    play: (client) => {
      const request = makeKeyed();
      return inTurn(
        () => client.send(request),
        () => client.send(makeRival(request)),
      );
    },
  },
  // Two payloads race for one key.
  {
    weight: 3,
    play: (client, other) => {
      const request = makeKeyed();
      return Promise.all([client.send(request), other.send(makeRival(request))]);
    },
  },
  // A key used again on the other endpoint.
  {
    weight: 3,
    play: (client) => {
      const request = makeKeyed();
      return inTurn(
        () => client.send(request),
        () => client.send(makeCounterpart(request)),
      );
    },
  },
  // Two endpoints race for one key.
  {
    weight: 2,
    play: (client, other) => {
      const request = makeKeyed();
      return Promise.all([client.send(request), other.send(makeCounterpart(request))]);
    },
  },
  { weight: 3, play: (client) => inTurn(() => client.send(makeCheck(makeConsume()))) },
  // Asks first, and then does it.
  {
    weight: 3,
    play: (client) => {
      const request = makeConsume();
      return inTurn(
        () => client.send(makeCheck(request)),
        () => client.send(request),
      );
    },
  },
  { weight: 1, play: (client) => inTurn(() => client.send(makeDoomed())) },
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
