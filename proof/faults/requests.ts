import { createHash } from "node:crypto";
import { integerBetween, pickFrom } from "../harness/random.ts";
import { FEATURES, isFeatureKey, LIMITED_FEATURE, type PlanKey, UNKNOWN_FEATURE } from "./catalog.ts";
import {
  type CheckRequest,
  type ClientRequest,
  type ConsumeRequest,
  claimedKey,
  type DecidedRequest,
  type EventRequest,
  type HoldChangeRequest,
  type HoldRequest,
  type Item,
  isDecided,
  isHoldChange,
  itemsOf,
  type ReverseRequest,
} from "./history.ts";

/** A fifth of all consume requests are for this customer, so that all processes contend for its wallet. */
const HOT = "customer_hot";
const HOT_ONE_IN = 5;
const RICH = 30;
/** A small number, so that each of these customers runs out of credits several times in a run. */
const DRY = 10;
/** Customers on plans with overage. They use it soon, because most of them buy no credits. */
const OVERAGE = 12;
/** On average, one of this many holds is for a customer with overage, because a settlement uses overage only after all credits. */
const OVERAGE_HOLD_ONE_IN = 3;
/** On average, one of this many requests is for a new customer, so that some crashes happen while rows are created. */
const NEW_ONE_IN = 50;

/** On average, one of this many consume requests has items and a member, if the service accepts them. */
const ITEMS_ONE_IN = 4;
const ITEMS_MAX = 4;
/** On average, one of this many item lists has a single item. Its charge is stored as for a request without items. */
const SINGLE_ITEM_ONE_IN = 10;
/** On average, one of this many item lists may contain the limited feature. A higher share would cause too many denials. */
const LIMITED_ONE_IN = 4;

const EVENTS = ["tokens.generated", "images.rendered", "seconds.transcribed"];
/** Exclusive maximum. Tokens are priced per thousand, so most prices must be rounded up. */
const QUANTITY_MAX = {
  "images.render": 4,
  "tokens.generate": 5_000,
  [LIMITED_FEATURE]: 3,
  "video.encode": 8,
  "audio.transcribe": 600,
} as const;
const FEATURE_KEYS = Object.keys(FEATURES).filter(isFeatureKey);
/** On average, one of this many requests for features opens a hold instead of charging, if the service accepts holds. */
const HOLD_ONE_IN = 6;
/** The shortest allowed duration, so that holds expire during a run. One hold in four lasts longer than most runs. */
export const SHORT_HOLD_SECONDS = 60;
const LONG_HOLD_SECONDS = 900;
const LONG_ONE_IN = 4;

/** Percentage of keyed requests that are events. Including events without a key, a third of all requests are events. */
const EVENT_PERCENT = 28;
/** Exclusive maximum. The service commits up to 300 events of a batch together, but smaller batches keep the history short. */
const BATCH_EVENTS_MAX = 12;
const TOO_OLD = "2020-01-01T00:00:00Z";

/** All customers have a small allowance. The hot and rich customers also have more credits in both pools than a run can spend. */
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
  ...Array.from({ length: OVERAGE }, (_, index) => ({
    customerId: `customer_overage_${index}`,
    plan: index % 2 === 0 ? ("metered" as const) : ("postpaid" as const),
    bought: 0,
  })),
];

function pickConsumer(): string {
  return integerBetween(0, HOT_ONE_IN) === 0 ? HOT : pickCustomer();
}

function pickCustomer(): string {
  if (integerBetween(0, NEW_ONE_IN) === 0) return `customer_new_${made}`;
  // The first customer is the hot customer.
  return CUSTOMERS[integerBetween(1, CUSTOMERS.length)]?.customerId ?? HOT;
}

/** Picks the customer for a top-up: half of the time a customer who runs out of credits. */
export function pickBuyer(): string {
  if (integerBetween(0, 2) === 0) return `customer_dry_${integerBetween(0, DRY)}`;
  return CUSTOMERS[integerBetween(0, CUSTOMERS.length)]?.customerId ?? HOT;
}

let made = 0;

/** Identifies a new request. */
export function nextMarker(): string {
  made += 1;
  return `marker-${made}`;
}

export type KeyedEvent = EventRequest & { readonly key: string };
export type KeyedRequest = ConsumeRequest | HoldRequest | KeyedEvent;

/** A request that has the same effect if it is sent again. */
export type RepeatableRequest = KeyedRequest | HoldChangeRequest | ReverseRequest;

/** Whether the services of the run accept `items`, and whether clients open holds and reverse charges. */
export type Traffic = {
  readonly hasItems: boolean;
  readonly hasHolds?: boolean;
  /** Needs an API key with the `reverse` scope. */
  readonly hasReversals?: boolean;
};

/** A request with a marker and a key that no other request in this run has. */
export function makeKeyed(traffic: Traffic): KeyedRequest {
  return integerBetween(0, 100) < EVENT_PERCENT ? makeKeyedEvent() : makeTaking(traffic);
}

export function makeEvent(): EventRequest {
  return {
    endpoint: "events",
    key: null,
    marker: nextMarker(),
    customerId: pickCustomer(),
    event: pickFrom(EVENTS) ?? "",
    quantity: integerBetween(1, 1_000),
    isTooOld: false,
  };
}

/** An invalid request that reaches the database and must store nothing. */
export function makeInvalid(traffic: Traffic): KeyedRequest {
  if (integerBetween(0, 2) === 0) return { ...makeKeyedEvent(), isTooOld: true };
  const valid = makeTaking(traffic);
  if (!("items" in valid)) return { ...valid, feature: UNKNOWN_FEATURE };
  const wrong = integerBetween(0, valid.items.length);
  const items = valid.items.map((item, index) =>
    index === wrong ? { ...item, feature: UNKNOWN_FEATURE } : item,
  );
  return { ...valid, items };
}

/** The same key with another payload, half of the time for the same customer. Only one of the two may be stored. */
export function makeRival(request: KeyedRequest, traffic: Traffic): KeyedRequest {
  const other = MAKERS[request.endpoint](traffic);
  const customerId = integerBetween(0, 2) === 0 ? request.customerId : other.customerId;
  return { ...other, key: request.key, customerId };
}

/** The same key and customer on another endpoint. */
export function makeCounterpart({ endpoint, key, customerId }: KeyedRequest, traffic: Traffic): KeyedRequest {
  const endpoints = ["events" as const, "consume" as const, ...(traffic.hasHolds ? ["holds" as const] : [])];
  const other = pickFrom(endpoints.filter((name) => name !== endpoint)) ?? "consume";
  return { ...MAKERS[other](traffic), key, customerId };
}

const MAKERS = { events: makeKeyedEvent, consume: makeConsume, holds: makeHold } as const;

/** Has all fields of the consume request. A check must not use up the key. */
export function makeCheck(request: ConsumeRequest): CheckRequest {
  return { ...request, endpoint: "check", marker: nextMarker() };
}

/** A request that charges or holds credits. */
function makeTaking(traffic: Traffic): ConsumeRequest | HoldRequest {
  return traffic.hasHolds && integerBetween(0, HOLD_ONE_IN) === 0 ? makeHold(traffic) : makeConsume(traffic);
}

function makeHold(traffic: Traffic): HoldRequest {
  const isLong = integerBetween(0, LONG_ONE_IN) === 0;
  const asked = makeConsume(traffic);
  const isOverage = integerBetween(0, OVERAGE_HOLD_ONE_IN) === 0;
  return {
    ...asked,
    customerId: isOverage ? `customer_overage_${integerBetween(0, OVERAGE)}` : asked.customerId,
    endpoint: "holds",
    expiresInSeconds: isLong ? LONG_HOLD_SECONDS : SHORT_HOLD_SECONDS,
    onExpiry: integerBetween(0, 3) === 0 ? "charge" : "release",
  };
}

export function makeConsume({ hasItems }: Traffic): ConsumeRequest {
  const marker = nextMarker();
  const sent = { endpoint: "consume", key: `key-${made}`, marker, customerId: pickConsumer() } as const;
  if (hasItems && integerBetween(0, ITEMS_ONE_IN) === 0) return { ...sent, items: makeItems() };
  return { ...sent, ...makeItem(pickFrom(FEATURE_KEYS) ?? "images.render") };
}

/** Different features of both pools, in any order. */
function makeItems(): Item[] {
  const isLimited = integerBetween(0, LIMITED_ONE_IN) === 0;
  const isSingle = integerBetween(0, SINGLE_ITEM_ONE_IN) === 0;
  return FEATURE_KEYS.filter((feature) => isLimited || feature !== LIMITED_FEATURE)
    .map((feature) => ({ feature, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, isSingle ? 1 : integerBetween(2, ITEMS_MAX + 1))
    .map(({ feature }) => makeItem(feature));
}

function makeItem(feature: keyof typeof QUANTITY_MAX): Item {
  return { feature, quantity: integerBetween(1, QUANTITY_MAX[feature]) };
}

function makeKeyedEvent(): KeyedEvent {
  const event = makeEvent();
  return { ...event, key: `key-${made}` };
}

/** New events, one of them twice, plus a reused key with another payload, an invalid event, and an event that was sent before. */
export function makeBatch(earlier: RepeatableRequest | null): KeyedEvent[] {
  const events = Array.from({ length: integerBetween(2, BATCH_EVENTS_MAX) }, makeKeyedEvent);
  const [first, second = makeKeyedEvent()] = events;
  return [
    ...events,
    ...(first === undefined ? [] : [first]),
    { ...makeKeyedEvent(), key: second.key },
    { ...makeKeyedEvent(), isTooOld: true },
    ...(earlier?.endpoint === "events" ? [earlier] : []),
  ];
}

/** All requests except checks and events without a key. */
export function isRepeatable(request: ClientRequest): request is RepeatableRequest {
  return claimedKey(request) !== null || isHoldChange(request);
}

export function pathOf(request: ClientRequest): string {
  if (isHoldChange(request)) return `/v1/holds/${request.holdId}/${request.endpoint}`;
  if (request.endpoint === "reverse") return `/v1/consume/${request.consumeId}/reverse`;
  return `/v1/${request.endpoint}`;
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
  const { marker, customerId } = request;
  const fields = { customerId, metadata: { marker } };
  if (isHoldChange(request)) return toHoldFields(request);
  if (isDecided(request)) return { ...fields, ...toAsked(request) };
  if (request.endpoint === "reverse") {
    const whole = { customerId, note: marker };
    if (request.quantity === null) return whole;
    const { quantity, feature } = request;
    return { ...whole, quantity, ...(feature !== null && { feature }) };
  }
  const { event, quantity, isTooOld } = request;
  return { ...fields, event, quantity, ...(isTooOld ? { timestamp: TOO_OLD } : {}) };
}

function toAsked(request: DecidedRequest): object {
  const { marker } = request;
  const asked = "items" in request ? { memberId: marker, items: request.items } : itemsOf(request)[0];
  if (request.endpoint !== "holds") return { ...asked };
  const { expiresInSeconds, onExpiry } = request;
  return { ...asked, expiresInSeconds, onExpiry };
}

function toHoldFields(request: HoldChangeRequest): object {
  const { customerId, marker } = request;
  switch (request.endpoint) {
    case "settle": {
      const { used, atMostHeld } = request;
      const quantities = used === null ? {} : typeof used === "number" ? { quantity: used } : { items: used };
      return { customerId, metadata: { marker }, ...quantities, ...(atMostHeld && { atMostHeld }) };
    }
    case "release":
      return { customerId };
    case "extend":
      return { customerId, quantity: request.quantity, expiresAt: request.expiresAt };
  }
}
