import { setTimeout as pause } from "node:timers/promises";
import { integerBetween, pickFrom } from "../harness/random.ts";
import { Client, type Target } from "./client.ts";
import type { Call, History } from "./history.ts";
import { KnownCharges, reverseCharge } from "./known-charges.ts";
import { changeHold, holdersIn, KnownHolds, makeEnd } from "./known-holds.ts";
import {
  isRepeatable,
  type KeyedRequest,
  makeBatch,
  makeCheck,
  makeConsume,
  makeCounterpart,
  makeEvent,
  makeInvalid,
  makeKeyed,
  makeRival,
  type RepeatableRequest,
  SHORT_HOLD_SECONDS,
  type Traffic,
} from "./requests.ts";

const CLIENTS = 16;
/** The pauses of a client. */
export type Pace = {
  /** The longest pause between two turns. */
  readonly thinkMsMax: number;
  /** The pause after a failed call. Without it, rejections would make up most of the history, because they return quickly. */
  readonly backOffMs: { readonly min: number; readonly max: number };
};

/** Enough load for batches to form, but not so much that the services run out of CPU time. */
const FAST: Pace = { thinkMsMax: 6, backOffMs: { min: 10, max: 50 } };

const RETRY_CLIENTS = 8;
const RETRY_TIME_MAX_MS = 120_000;
const RETRY_PAUSE_MS = 100;
/** After this time, all short holds that were not extended have expired. */
const HOLDS_END_MS = SHORT_HOLD_SECONDS * 1_000 + 200;

/** Sixteen clients, each in its own loop until `stop`. */
export class Load {
  /** Can change during the run, and then applies to the next requests. */
  traffic: Traffic;
  readonly holds = new KnownHolds();
  readonly #charges = new KnownCharges();
  readonly #clients: readonly Client[];
  readonly #loops: Promise<unknown>;
  readonly #pace: Pace;
  #isStopping = false;

  constructor(target: Target, history: History, traffic: Traffic = { hasItems: true }, pace: Pace = FAST) {
    this.traffic = traffic;
    this.#pace = pace;
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, index) => new Client(`client-${index}`, target, history),
    );
    this.#loops = Promise.all(this.#clients.map((client) => this.#loop(client)));
  }

  /** Returns when all open calls have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#loops;
    for (const client of this.#clients) client.close();
  }

  async #loop(client: Client): Promise<void> {
    const others = this.#clients.filter((other) => other !== client);
    while (!this.#isStopping) {
      const { holds, traffic } = this;
      const other = pickFrom(others) ?? client;
      const calls = await playScenario({ client, other, traffic, holds, charges: this.#charges });
      for (const call of calls) {
        holds.note(call);
        this.#charges.note(call);
      }
      const hasFailed = calls.some(({ outcome }) => outcome.kind === "info");
      const { thinkMsMax, backOffMs } = this.#pace;
      await pause(hasFailed ? integerBetween(backOffMs.min, backOffMs.max) : integerBetween(0, thinkMsMax));
    }
  }
}

/** One turn of a client. `other` is a second client, for concurrent requests. */
type Turn = {
  readonly client: Client;
  readonly other: Client;
  readonly traffic: Traffic;
  readonly holds: KnownHolds;
  readonly charges: KnownCharges;
};
type Scenario = { readonly weight: number; play(turn: Turn): Promise<readonly Call[]> };

/** The second request in a scenario, derived from the first. */
type Follow = (request: KeyedRequest, traffic: Traffic) => KeyedRequest;
const same: Follow = (request) => request;

const one = (weight: number, make: (turn: Turn) => Parameters<Client["send"]>[0]): Scenario => ({
  weight,
  play: async (turn) => [await turn.client.send(make(turn))],
});
const inTurn = (weight: number, follow: Follow): Scenario => ({
  weight,
  async play({ client, traffic }) {
    const request = makeKeyed(traffic);
    return [await client.send(request), await client.send(follow(request, traffic))];
  },
});
const atOnce = (weight: number, follow: Follow): Scenario => ({
  weight,
  play({ client, other, traffic }) {
    const request = makeKeyed(traffic);
    return Promise.all([client.send(request), other.send(follow(request, traffic))]);
  },
});

/** Two thirds of the requests with a key use credits, the others are events. Batches add more events. */
const SCENARIOS: readonly Scenario[] = [
  one(9, () => makeEvent()),
  one(45, ({ traffic }) => makeKeyed(traffic)),
  inTurn(10, same),
  atOnce(8, same),
  // A late retry: the process or server that gave the first response may have died since.
  one(9, ({ client, traffic }) => client.findEarlier() ?? makeKeyed(traffic)),
  // The same key with another payload, sequentially and concurrently.
  inTurn(4, makeRival),
  atOnce(3, makeRival),
  // The same key on another endpoint, sequentially and concurrently.
  inTurn(3, makeCounterpart),
  atOnce(2, makeCounterpart),
  one(3, ({ traffic }) => makeCheck(makeConsume(traffic))),
  // A check, then a consume request with the same payload.
  {
    weight: 3,
    async play({ client, traffic }) {
      const request = makeConsume(traffic);
      return [await client.send(makeCheck(request)), await client.send(request)];
    },
  },
  one(1, ({ traffic }) => makeInvalid(traffic)),
  // A batch of events, half of the time through two clients concurrently.
  {
    weight: 2,
    async play({ client, other, traffic }) {
      if (!traffic.hasItems) return [await client.send(makeKeyed(traffic))];
      const batch = makeBatch(client.findEarlier());
      const senders = integerBetween(0, 2) === 0 ? [client, other] : [client];
      return (await Promise.all(senders.map((sender) => sender.sendBatch(batch)))).flat();
    },
  },
  {
    weight: 16,
    async play(turn) {
      const hold = turn.holds.take();
      return hold === null ? [await turn.client.send(makeKeyed(turn.traffic))] : changeHold(hold, turn);
    },
  },
  {
    weight: 8,
    async play(turn) {
      const charge = turn.traffic.hasReversals ? turn.charges.pick() : null;
      return charge === null
        ? [await turn.client.send(makeKeyed(turn.traffic))]
        : reverseCharge(charge, turn);
    },
  },
];

const WEIGHT_TOTAL = SCENARIOS.reduce((total, { weight }) => total + weight, 0);

function playScenario(turn: Turn): Promise<readonly Call[]> {
  let left = integerBetween(0, WEIGHT_TOTAL);
  for (const { weight, play } of SCENARIOS) {
    if (left < weight) return play(turn);
    left -= weight;
  }
  throw new Error("the weights do not add up");
}

/**
 * Called after the last fault. Retries half of the requests without a definite outcome until their outcome is definite. For the other half, only
 * the database is checked. `unsettled` is the number of requests that still have no definite outcome.
 */
export async function retryUnknown(
  target: Target,
  history: History,
): Promise<{ retried: number; unsettled: number }> {
  const retries = listIndefinite(history.calls).filter((_, index) => index % 2 === 0);
  return { retried: retries.length, unsettled: await settleAll(target, history, retries) };
}

/** Repeats random acknowledged requests. The checker compares the responses. Returns the number of requests that failed. */
export function replaySome(target: Target, history: History, count: number): Promise<number> {
  const acknowledged = history.calls.flatMap(({ request, outcome }) =>
    outcome.kind === "ok" && "key" in request && request.key !== null && isRepeatable(request)
      ? [request]
      : [],
  );
  const chosen = Array.from({ length: count }, () => pickFrom(acknowledged)).filter((one) => one !== null);
  return settleAll(target, history, chosen);
}

/**
 * Waits until short holds have expired. Then settles or releases half of them late. Every customer with holds also gets a decision,
 * which must release or charge the other holds. Returns the number of requests that failed.
 */
export async function endHolds(target: Target, history: History, { holds, traffic }: Load): Promise<number> {
  await pause(HOLDS_END_MS);
  const late = await settleAll(target, history, holds.takeEnded().map(makeEnd));
  const decisions = holdersIn(history.calls).map((customerId) => ({ ...makeConsume(traffic), customerId }));
  return late + (await settleAll(target, history, decisions));
}

/** Sends each request until it has a definite outcome. Returns the number of requests without one. */
async function settleAll(
  target: Target,
  history: History,
  requests: readonly RepeatableRequest[],
): Promise<number> {
  const giveUpAtMs = performance.now() + RETRY_TIME_MAX_MS;
  const waiting = [...requests];
  let unsettled = 0;
  const work = async (_: unknown, index: number): Promise<void> => {
    const client = new Client(`retry-${index}`, target, history);
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      if (!(await isSettled(client, request, giveUpAtMs))) unsettled += 1;
    }
    client.close();
  };
  await Promise.all(Array.from({ length: RETRY_CLIENTS }, work));
  return unsettled;
}

async function isSettled(client: Client, request: RepeatableRequest, giveUpAtMs: number): Promise<boolean> {
  while (performance.now() < giveUpAtMs) {
    const { outcome } = await client.send(request);
    if (outcome.kind !== "info") return true;
    await pause(RETRY_PAUSE_MS);
  }
  return false;
}

/** Lists each request once, even if several of its calls failed. */
function listIndefinite(calls: readonly Call[]): RepeatableRequest[] {
  const byMarker = new Map<string, RepeatableRequest>();
  for (const { request, outcome } of calls) {
    if (isRepeatable(request) && outcome.kind === "info") byMarker.set(request.marker, request);
  }
  return [...byMarker.values()];
}
