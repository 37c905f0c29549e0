import { integerBetween, pickFrom } from "../../harness/chance.ts";
import { FEATURES, isFeatureKey, UNKNOWN_FEATURE } from "../catalog.ts";
import type { CheckRequest, ClientRequest, ConsumeRequest, EventRequest } from "../history/call.ts";
import { pickConsumer, pickCustomer } from "./customers.ts";

const EVENTS = ["tokens.generated", "images.rendered", "seconds.transcribed"];
/** Up to, and not including. Tokens are priced per thousand: most quantities leave a fraction to round up. */
const QUANTITY_MAX = { "images.render": 4, "tokens.generate": 5_000, "reports.export": 3 } as const;
/** Of keyed requests. With the events that have no key, a third of all requests are events. */
const EVENT_PERCENT = 28;

let made = 0;

export type KeyedRequest = ConsumeRequest | (EventRequest & { readonly key: string });

/** A request like no other: its marker and its key are used by nothing else in this run. */
export function makeKeyed(): KeyedRequest {
  return integerBetween(0, 100) < EVENT_PERCENT ? makeKeyedEvent() : makeConsume();
}

export function makeEvent(): EventRequest {
  made += 1;
  return {
    endpoint: "events",
    key: null,
    marker: `marker-${made}`,
    customerId: pickCustomer(made),
    event: pickFrom(EVENTS) ?? "",
    quantity: integerBetween(1, 1_000),
    isTooOld: false,
  };
}

/** Goes the whole way to the database, and must leave nothing there. */
export function makeDoomed(): KeyedRequest {
  return integerBetween(0, 2) === 0
    ? { ...makeKeyedEvent(), isTooOld: true }
    : { ...makeConsume(), feature: UNKNOWN_FEATURE };
}

/** Another payload under the same key, half of the time of the same customer: only one of the two may ever be stored. */
export function makeRival(request: KeyedRequest): KeyedRequest {
  const other = request.endpoint === "events" ? makeKeyedEvent() : makeConsume();
  const customerId = integerBetween(0, 2) === 0 ? request.customerId : other.customerId;
  return { ...other, key: request.key, customerId };
}

/** The same key and customer on the other endpoint. */
export function makeCounterpart({ endpoint, key, customerId }: KeyedRequest): KeyedRequest {
  return { ...(endpoint === "events" ? makeConsume() : makeKeyedEvent()), key, customerId };
}

/** Asks first, with the very fields of the consume: spec 4.2, a check must not take the key. */
export function makeCheck(request: ConsumeRequest): CheckRequest {
  made += 1;
  return { ...request, endpoint: "check", marker: `marker-${made}` };
}

export function makeConsume(): ConsumeRequest {
  made += 1;
  const feature = pickFrom(Object.keys(FEATURES).filter(isFeatureKey)) ?? "images.render";
  return {
    endpoint: "consume",
    key: `key-${made}`,
    marker: `marker-${made}`,
    customerId: pickConsumer(made),
    feature,
    quantity: integerBetween(1, QUANTITY_MAX[feature]),
  };
}

function makeKeyedEvent(): EventRequest & { readonly key: string } {
  const event = makeEvent();
  return { ...event, key: `key-${made}` };
}

export function isKeyed(request: ClientRequest): request is KeyedRequest {
  return request.endpoint !== "check" && request.key !== null;
}
