import { hash } from "node:crypto";
import { BASE_32_DIGITS } from "../primitives/public-id.ts";
import { type ShortHash, shortHash } from "./fingerprint.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
/** A ULID in Crockford's base 32. The first digit has only 3 bits, because a ULID has 128 bits. */
const ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i;

/**
 * The 16 bytes under which an idempotency key is stored. A UUIDv7 or ULID starts with its time, and so does its hash: 48 bits of time, then
 * 80 bits of SHA-256 of the whole text. Keys from the same hour are then neighbors in the index instead of being spread over all pages. Any
 * other key is hashed to 128 bits of SHA-256.
 */
export function hashKey(key: string): ShortHash {
  const time = timeOf(key);
  return time === null ? shortHash(key) : time + hash("sha256", key, "hex").slice(0, 20);
}

/** Hashes a member ID together with the request's key. A hash of the ID alone would let a reader of the table test guessed IDs. */
export function hashMember(key: string, memberId: string): ShortHash {
  return shortHash(`${key} ${memberId}`);
}

/** The time in a UUIDv7 or ULID, in milliseconds as 12 hexadecimal digits. Null for any other key. */
function timeOf(key: string): string | null {
  if (key.length === 36 && UUID_V7.test(key)) return (key.slice(0, 8) + key.slice(9, 13)).toLowerCase();
  if (key.length === 26 && ULID.test(key)) return ulidTime(key.toLowerCase());
  return null;
}

function ulidTime(key: string): string {
  let time = 0;
  for (let at = 0; at < 10; at++) time = time * 32 + BASE_32_DIGITS.indexOf(key.charAt(at));
  return time.toString(16).padStart(12, "0");
}
