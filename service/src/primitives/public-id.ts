import { assert } from "./assert.ts";
import { TIME_MAX } from "./timestamp.ts";
import type { Uuid } from "./uuid.ts";

/** The digits of Crockford's base 32 in lower case: without i, l, o and u, which are easy to confuse. */
export const BASE_32_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const CODES = Buffer.from(BASE_32_DIGITS);
/** A reused buffer, because appending to a string digit by digit would allocate thirty strings. */
const DIGITS = Buffer.alloc(32);

/** A public ID looks like `evt_01k9…`. The prefix names the type. The 26 characters encode 16 bytes, and sort like the bytes. */
export type PublicIdPrefix = "con" | "den" | "evt" | "hld" | "log" | "ntc" | "req" | "top";

export function publicId(prefix: PublicIdPrefix, uuid: Uuid): string {
  assert(uuid.length === 16, "a public ID encodes 16 bytes");
  let length = DIGITS.write(`${prefix}_`, "latin1");
  // 128 bits in 26 digits of 5 bits: the first digit carries the top 3 bits.
  let bits = 0;
  let held = 2;
  for (const byte of uuid) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      DIGITS[length++] = CODES[(bits >> held) & 31] ?? 0;
    }
    bits &= (1 << held) - 1;
  }
  return DIGITS.toString("latin1", 0, length);
}

/** Parses a public ID. Null if the text is not an ID with this prefix. */
export function parsePublicId(prefix: PublicIdPrefix, text: string): Uuid | null {
  const digits = text.slice(prefix.length + 1);
  if (!text.startsWith(`${prefix}_`) || digits.length !== 26) return null;
  const uuid = Buffer.alloc(16);
  let bits = 0;
  let held = -2;
  let at = 0;
  for (const digit of digits) {
    const value = BASE_32_DIGITS.indexOf(digit);
    if (value < 0) return null;
    bits = (bits << 5) | value;
    held += 5;
    // The first digit carries 3 bits, not 5.
    if (at === 0 && held === 3 && value > 7) return null;
    if (held < 8) continue;
    held -= 8;
    uuid[at++] = (bits >> held) & 255;
    bits &= (1 << held) - 1;
  }
  return uuid;
}

/** Parses a public ID that starts with its time of creation. Also null if that time is beyond the year 9999. */
export function parseTimedId(prefix: PublicIdPrefix, text: string): Uuid | null {
  const id = parsePublicId(prefix, text);
  return id === null || id.readUIntBE(0, 6) > TIME_MAX ? null : id;
}
