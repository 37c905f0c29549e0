import { createHash } from "node:crypto";
import { integerBetween, pickFrom } from "../harness/random.ts";
import { FEATURES, isFeatureKey, type PlanKey, UNKNOWN_FEATURE } from "./catalog.ts";
import type { CheckRequest, ClientRequest, ConsumeRequest, EventRequest } from "./history.ts";

/** A fifth of all consume requests are for this customer, so that all processes contend for its wallet. */
const HOT = "customer_hot";
const HOT_ONE_IN = 5;
const RICH = 30;
/** Few enough that each of them runs out of credits several times in a run. */
const DRY = 10;
/** One request in this many is for a new customer, so that some crashes happen while rows are created. */
const NEW_ONE_IN = 50;

const EVENTS = ["tokens.generated", "images.rendered", "seconds.transcribed"];
/** Exclusive. Tokens are priced per thousand, so most quantities leave a fraction to round up. */
const QUANTITY_MAX = { "images.render": 4, "tokens.generate": 5_000, "reports.export": 3 } as const;
/** Percentage of keyed requests that are events. Including events without a key, a third of all requests are events. */
const EVENT_PERCENT = 28;
const TOO_OLD = "2020-01-01T00:00:00Z";

/** All have a small allowance. The hot and the rich customers also have more credits than a run can spend. */
export const CUSTOMERS: readonly {
  readonly customerId: string;
  readonly plan: PlanKey;
  readonly bought: number;
}[] = [
  { customerId: HOT, plan: "starter", bought: 1_000_000_000 },
  ...Array.from({ length: RICH }, (_, index) => ({
    customerId: `customer_rich_${index}`,
    plan: "starter" as const,
    bought: 100_000_000,
  })),
  ...Array.from({ length: DRY }, (_, index) => ({
    customerId: `customer_dry_${index}`,
    plan: "starter" as const,
    bought: 0,
  })),
];

function pickConsumer(): string {
  return integerBetween(0, HOT_ONE_IN) === 0 ? HOT : pickCustomer();
}

function pickCustomer(): string {
  if (integerBetween(0, NEW_ONE_IN) === 0) return `customer_new_${made}`;
  const index = integerBetween(0, RICH + DRY);
  return index < RICH ? `customer_rich_${index}` : `customer_dry_${index - RICH}`;
}

/** The customer of a top-up: in half of all cases one who runs out of credits. */
export function pickBuyer(): string {
  if (integerBetween(0, 2) === 0) return `customer_dry_${integerBetween(0, DRY)}`;
  return CUSTOMERS[integerBetween(0, CUSTOMERS.length)]?.customerId ?? HOT;
}

let made = 0;

export type KeyedRequest = ConsumeRequest | (EventRequest & { readonly key: string });

/** A request whose marker and key no other request in this run has. */
export function makeKeyed(): KeyedRequest {
  return integerBetween(0, 100) < EVENT_PERCENT ? makeKeyedEvent() : makeConsume();
}

export function makeEvent(): EventRequest {
  made += 1;
  return {
    endpoint: "events",
    key: null,
    marker: `marker-${made}`,
    customerId: pickCustomer(),
    event: pickFrom(EVENTS) ?? "",
    quantity: integerBetween(1, 1_000),
    isTooOld: false,
  };
}

/** Reaches the database and must store nothing. */
export function makeInvalid(): KeyedRequest {
  return integerBetween(0, 2) === 0
    ? { ...makeKeyedEvent(), isTooOld: true }
    : { ...makeConsume(), feature: UNKNOWN_FEATURE };
}

/** Another payload under the same key, in half of all cases for the same customer. Only one of the two may be stored. */
export function makeRival(request: KeyedRequest): KeyedRequest {
  const other = request.endpoint === "events" ? makeKeyedEvent() : makeConsume();
  const customerId = integerBetween(0, 2) === 0 ? request.customerId : other.customerId;
  return { ...other, key: request.key, customerId };
}

/** The same key and customer on the other endpoint. */
export function makeCounterpart({ endpoint, key, customerId }: KeyedRequest): KeyedRequest {
  return { ...(endpoint === "events" ? makeConsume() : makeKeyedEvent()), key, customerId };
}

/** Has all fields of the consume request. A check must not use up the key. */
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
    customerId: pickConsumer(),
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

export function toBody(request: ClientRequest): string {
  return JSON.stringify({
    ...toFields(request),
    ...(request.key === null ? {} : { idempotencyKey: request.key }),
  });
}

/** The client's own hash of the payload without the key, independent of the service's fingerprint. */
export function fingerprintOf(request: ClientRequest): string {
  return createHash("sha256")
    .update(request.endpoint)
    .update(JSON.stringify(toFields(request)))
    .digest("hex")
    .slice(0, 16);
}

function toFields(request: ClientRequest): object {
  const { endpoint, marker, customerId, quantity } = request;
  const fields = { customerId, quantity, metadata: { marker } };
  if (endpoint !== "events") return { ...fields, feature: request.feature };
  return { ...fields, event: request.event, ...(request.isTooOld ? { timestamp: TOO_OLD } : {}) };
}
