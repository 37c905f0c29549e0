import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** `pur_live_` or `pur_test_`, 32 random characters, 6 of checksum: a typo is refused without a look-up. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORM = /^pur_(live|test)_[0-9A-Za-z]{38}$/;

export type EnvironmentKind = "test" | "live";

export function makeApiKey(kind: EnvironmentKind): string {
  let key = `pur_${kind}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) key += DIGITS[randomInt(DIGITS.length)];
  return key + checksum(key);
}

export function isWellFormedApiKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** All that is kept of a key. */
export function hashApiKey(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = (DIGITS[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
