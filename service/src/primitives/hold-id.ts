import type { CustomerNumber, Instant } from "./brand.ts";
import { consumeId, readConsumeId } from "./consume-id.ts";
import { parseTimedId, publicId } from "./public-id.ts";
import type { Uuid } from "./uuid.ts";

/** The parts of a hold ID locate the hold. The time is only used to reject IDs that were never issued. */
export type HoldId = {
  readonly openedAt: Instant;
  readonly customerNumber: CustomerNumber;
  /** The hold's number in the customer's wallet. */
  readonly number: number;
};

/** Encoded like a consume ID. */
export function holdId({ openedAt, customerNumber, number }: HoldId): Uuid {
  return consumeId({ recordedAt: openedAt, customerNumber, sequence: number });
}

export function readHoldId(id: Uuid): HoldId {
  const { recordedAt, customerNumber, sequence } = readConsumeId(id);
  return { openedAt: recordedAt, customerNumber, number: sequence };
}

export function nameHold(id: HoldId): string {
  return publicId("hld", holdId(id));
}

/** The largest number that fits into the database column. */
export const HOLD_NUMBER_MAX = 0x7fff_ffff;

/** Null if the text is not a hold ID. */
export function parseHoldId(text: string): HoldId | null {
  const uuid = parseTimedId("hld", text);
  if (uuid === null) return null;
  const id = readHoldId(uuid);
  return id.number >= 1 && id.number <= HOLD_NUMBER_MAX ? id : null;
}
