import { createHash } from "node:crypto";
import { integerBetween, pickFrom } from "../chance.ts";
import type { EventRequest } from "../history/call.ts";

const EVENTS = ["tokens.generated", "images.rendered", "seconds.transcribed"];
const CUSTOMERS_SHARED = 40;
/** One request in this many names a customer nobody has seen, so that crashes also meet rows being created. */
const NEW_CUSTOMER_EVERY = 50;
const TOO_OLD = "2020-01-01T00:00:00Z";

let made = 0;

/** A request like no other: its marker and, if it has one, its key are used by nothing else in this run. */
export function makeRequest(options: { isKeyed: boolean; isTooOld?: boolean }): EventRequest {
  made += 1;
  const isNewCustomer = integerBetween(0, NEW_CUSTOMER_EVERY) === 0;
  return {
    key: options.isKeyed ? `key-${made}` : null,
    marker: `marker-${made}`,
    customerId: isNewCustomer ? `customer_new_${made}` : `customer_${integerBetween(0, CUSTOMERS_SHARED)}`,
    event: pickFrom(EVENTS) ?? "",
    quantity: integerBetween(1, 1_000),
    isTooOld: options.isTooOld ?? false,
  };
}

/** Another payload under the same key: only one of the two may ever be stored. */
export function makeRival({ key }: EventRequest): EventRequest {
  return { ...makeRequest({ isKeyed: false }), key };
}

export function toBody(request: EventRequest): string {
  const { key, marker, customerId, event, quantity, isTooOld } = request;
  return JSON.stringify({
    customerId,
    event,
    quantity,
    metadata: { marker },
    ...(key === null ? {} : { idempotencyKey: key }),
    ...(isTooOld ? { timestamp: TOO_OLD } : {}),
  });
}

/** The client's own, over what it means to record: not the key, and nothing of how the service computes its own. */
export function fingerprintOf(request: EventRequest): string {
  return createHash("sha256")
    .update(toBody({ ...request, key: null }))
    .digest("hex")
    .slice(0, 16);
}
