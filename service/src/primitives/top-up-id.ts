import type { CustomerNumber, Instant } from "./brand.ts";
import { consumeId } from "./consume-id.ts";
import { publicId } from "./public-id.ts";

/** The parts of a top-up's ID: the first request's time, the customer, and the request's number in the customer's wallet. */
type TopUpId = {
  readonly requestedAt: Instant;
  readonly customerNumber: CustomerNumber;
  readonly number: number;
};

/** The same in every attempt. Encoded like a consume ID. */
export function nameTopUp({ requestedAt, customerNumber, number }: TopUpId): string {
  return publicId("top", consumeId({ recordedAt: requestedAt, customerNumber, sequence: number }));
}
