import { integerBetween, pickFrom } from "../harness/random.ts";
import { findCharge } from "./check/answers.ts";
import type { Client } from "./client.ts";
import type { Call, Item, ReverseRequest } from "./history.ts";
import { makeConsume, nextMarker, type Traffic } from "./requests.ts";

/** A charge that was acknowledged. */
type KnownCharge = {
  readonly consumeId: string;
  readonly customerId: string;
  readonly items: readonly Item[];
};

/** Maximum number of charges to remember. Small, so that clients reverse most charges several times until nothing is left. */
const KNOWN_MAX = 150;

/** The latest charges of a run, shared by its clients. */
export class KnownCharges {
  readonly #all: KnownCharge[] = [];
  readonly #withOverage: KnownCharge[] = [];

  note(call: Call): void {
    const charge = findCharge(call);
    if (charge === null) return;
    const { consumeId, items } = charge;
    const known = { consumeId, customerId: call.request.customerId, items };
    keep(this.#all, known);
    if (items.some(({ overageCredits }) => overageCredits > 0)) keep(this.#withOverage, known);
  }

  /** Picks a charge, half of the time a charge with overage. Null if there is none. */
  pick(): KnownCharge | null {
    return pickFrom(integerBetween(0, 2) === 0 ? this.#withOverage : this.#all);
  }
}

function keep(latest: KnownCharge[], known: KnownCharge): void {
  latest.push(known);
  if (latest.length > KNOWN_MAX) latest.shift();
}

type Turn = { readonly client: Client; readonly other: Client; readonly traffic: Traffic };

/** Reverses a charge or a part of it. Sometimes two clients do this concurrently, with the same request or different requests. */
export async function reverseCharge(charge: KnownCharge, turn: Turn): Promise<readonly Call[]> {
  const { client, other, traffic } = turn;
  const request = makeReversal(charge);
  const chance = integerBetween(0, 100);
  if (chance < 25) return Promise.all([client.send(request), other.send(request)]);
  if (chance < 40) return Promise.all([client.send(request), other.send(makeReversal(charge))]);
  const call = await client.send(request);
  if (chance < 50) return [call, await client.send(request)];
  if (request.key === null || chance >= 60) return [call];
  // The same key with another payload, or on another endpoint.
  const { key, quantity } = request;
  const rival = chance < 55 ? { ...request, quantity: quantity + 1 } : { ...makeConsume(traffic), key };
  return [call, await client.send({ ...rival, marker: nextMarker() })];
}

/** Reverses the whole charge a third of the time, otherwise a part. */
function makeReversal({ consumeId, customerId, items }: KnownCharge): ReverseRequest {
  const charge = { endpoint: "reverse", consumeId, customerId } as const;
  const item = pickFrom(items);
  if (item === null || integerBetween(0, 3) === 0)
    return { ...charge, marker: `reverse-${consumeId}`, key: null, quantity: null };
  const marker = nextMarker();
  const isNamed = items.length > 1 || integerBetween(0, 2) === 0;
  const quantity = integerBetween(1, item.quantity + 1);
  return { ...charge, marker, key: `key-${marker}`, quantity, feature: isNamed ? item.feature : null };
}
