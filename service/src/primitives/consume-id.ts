import { assert } from "./assert.ts";
import { brandAs, type CustomerNumber, type Instant } from "./brand.ts";
import type { Uuid } from "./uuid.ts";

/** The parts of a consume ID locate its ledger entry: month, customer, and sequence in the customer's ledger. */
export type ConsumeId = {
  readonly recordedAt: Instant;
  readonly customerNumber: CustomerNumber;
  readonly sequence: number;
};

/** The maximum number of charges in one request. */
export const ITEMS_MAX = 20;

const FIVE_BYTES = 2 ** 40;

/** 6 bytes of milliseconds, 5 of customer number, 5 of sequence. Unique without a column or an index. */
export function consumeId({ recordedAt, customerNumber, sequence }: ConsumeId): Uuid {
  assert(customerNumber < FIVE_BYTES && sequence < FIVE_BYTES, "a consume ID has room for 2^40 of each");
  const id = Buffer.allocUnsafe(16);
  id.writeUIntBE(recordedAt, 0, 6);
  id.writeUIntBE(customerNumber, 6, 5);
  id.writeUIntBE(sequence, 11, 5);
  return id;
}

/** The ID of the request that a charge belongs to. The charges of one request are consecutive, and the first one has this ID. */
export function requestIdOf(charge: ConsumeId & { readonly place: { readonly index: number } | null }): Uuid {
  const { recordedAt, customerNumber, sequence, place } = charge;
  return consumeId({ recordedAt, customerNumber, sequence: sequence - (place?.index ?? 0) });
}

export function readConsumeId(id: Uuid): ConsumeId {
  return {
    recordedAt: brandAs<Instant>(id.readUIntBE(0, 6)),
    customerNumber: brandAs<CustomerNumber>(id.readUIntBE(6, 5)),
    sequence: id.readUIntBE(11, 5),
  };
}
