import { assert } from "./assert.ts";
import type { Uuid } from "./uuid.ts";

/** Crockford's base 32, lower case: no i, l, o or u to misread. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** `evt_01k9…`: a prefix that says what it is, and a UUIDv7 in 26 characters that still sorts by time. */
export type PublicIdPrefix = "evt" | "req";

export function publicId(prefix: PublicIdPrefix, uuid: Uuid): string {
  assert(uuid.length === 16, "a public id is made of 16 bytes");
  let text = `${prefix}_`;
  // 128 bits in 26 digits of 5 bits: the first digit carries the top 3 bits.
  let bits = 0;
  let held = 2;
  for (const byte of uuid) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      text += ALPHABET[(bits >> held) & 31];
    }
    bits &= (1 << held) - 1;
  }
  return text;
}
