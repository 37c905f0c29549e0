import { integerBetween, pickFrom } from "../harness/random.ts";
import { findDecision, findExtension } from "./check/answers.ts";
import type { Client } from "./client.ts";
import { type Call, type HoldChangeRequest, type Item, itemsOf } from "./history.ts";
import { nextMarker, SHORT_HOLD_SECONDS } from "./requests.ts";

/** An acknowledged hold that no acknowledged request has ended. */
export type KnownHold = {
  readonly holdId: string;
  readonly customerId: string;
  readonly items: readonly Item[];
  readonly expiresAtMs: number;
};

/** Clients change holds only while more than this many are open, so that most holds are open during a kill. */
const OPEN_MIN = 40;
/** On average, one of this many short holds is abandoned, as if its caller had crashed. */
const ABANDONED_ONE_IN = 8;
/** An abandoned hold is changed again at the earliest this long after its end. */
const LATE_MS = 500;
const EXTENDED_BY_MS = 30_000;

/** The open holds of a run, shared by its clients. */
export class KnownHolds {
  readonly #seen = new Set<string>();
  readonly #open: KnownHold[] = [];
  readonly #abandoned: KnownHold[] = [];

  /** Remembers a hold when it is first acknowledged. */
  note(call: Call): void {
    const { request } = call;
    const decision = findDecision(call);
    if (request.endpoint !== "holds" || decision === null) return;
    const { holdId, expiresAtMs } = decision;
    if (holdId === null || expiresAtMs === null || this.#seen.has(holdId)) return;
    this.#seen.add(holdId);
    const isAbandoned =
      request.expiresInSeconds === SHORT_HOLD_SECONDS && integerBetween(0, ABANDONED_ONE_IN) === 0;
    const { customerId } = request;
    const hold = { holdId, customerId, items: itemsOf(request), expiresAtMs };
    (isAbandoned ? this.#abandoned : this.#open).push(hold);
  }

  /** Takes a hold to change, so that no other client gets it. Null if too few holds are open. */
  take(): KnownHold | null {
    const [oldest] = this.#abandoned;
    if (oldest !== undefined && oldest.expiresAtMs + LATE_MS < Date.now()) {
      this.#abandoned.shift();
      // No request uses the other half again.
      if (integerBetween(0, 2) === 0) return oldest;
    }
    if (this.#open.length <= OPEN_MIN) return null;
    return this.#open.splice(integerBetween(0, this.#open.length), 1)[0] ?? null;
  }

  /** Keeps a hold that is still open. */
  keep(hold: KnownHold): void {
    this.#open.push(hold);
  }

  /** Called after the load. Takes half of the holds that have expired. */
  takeEnded(): KnownHold[] {
    const ended = [...this.#open, ...this.#abandoned].filter(({ expiresAtMs }) => expiresAtMs < Date.now());
    return ended.filter((_, index) => index % 2 === 0);
  }
}

type Turn = { readonly client: Client; readonly other: Client; readonly holds: KnownHolds };

/** Settles, releases or extends a hold. Sometimes two clients do this concurrently, with the same request or different requests. */
export async function changeHold(hold: KnownHold, { client, other, holds }: Turn): Promise<readonly Call[]> {
  const chance = integerBetween(0, 100);
  if (chance < 20 && hold.items.length === 1) {
    const call = await client.send(makeExtension(hold));
    const extension = findExtension(call);
    const items = hold.items.map((item) => ({ ...item, quantity: extension?.quantity ?? item.quantity }));
    if (call.outcome.kind !== "fail")
      holds.keep({ ...hold, items, expiresAtMs: extension?.expiresAtMs ?? hold.expiresAtMs });
    return [call];
  }
  const request = makeEnd(hold);
  if (chance < 40) {
    const rival = chance < 25 ? request : chance < 35 ? makeSettlement(hold) : makeRelease(hold);
    return Promise.all([client.send(request), other.send(rival)]);
  }
  return [await client.send(request)];
}

/** Settles or releases the hold. */
export function makeEnd(hold: KnownHold): HoldChangeRequest {
  return integerBetween(0, 4) === 0 ? makeRelease(hold) : makeSettlement(hold);
}

function makeSettlement(hold: KnownHold): HoldChangeRequest {
  const settle = { ...changeOf(hold), endpoint: "settle", atMostHeld: integerBetween(0, 6) === 0 } as const;
  const chance = integerBetween(0, 100);
  if (chance < 20) return { ...settle, used: null };
  const [item] = hold.items;
  if (hold.items.length === 1 && item !== undefined)
    return { ...settle, used: chance < 30 ? 0 : pickUsed(item) };
  // A feature that is left out was not used.
  const named = hold.items.filter((_, index) => index === 0 || integerBetween(0, 4) > 0);
  return { ...settle, used: named.map((each) => ({ ...each, quantity: pickUsed(each) })) };
}

/** Picks a quantity from 0 to twice the held quantity. */
function pickUsed({ quantity }: Item): number {
  return integerBetween(0, 2 * quantity + 1);
}

function makeRelease(hold: KnownHold): HoldChangeRequest {
  return { ...changeOf(hold), endpoint: "release" };
}

function makeExtension(hold: KnownHold): HoldChangeRequest {
  const held = hold.items[0]?.quantity ?? 1;
  const quantity = held + integerBetween(0, held + 1);
  const expiresAt = new Date(hold.expiresAtMs + (pickFrom([0, EXTENDED_BY_MS]) ?? 0)).toISOString();
  return { ...changeOf(hold), endpoint: "extend", quantity, expiresAt };
}

function changeOf({ holdId, customerId }: KnownHold) {
  return { key: null, marker: nextMarker(), customerId, holdId };
}

/** The customers for whom a hold was requested. */
export function holdersIn(calls: readonly Call[]): string[] {
  const openings = calls.filter(({ request }) => request.endpoint === "holds");
  return [...new Set(openings.map(({ request }) => request.customerId))];
}
