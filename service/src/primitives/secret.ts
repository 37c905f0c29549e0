import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

// Secrets have a prefix for their type, 32 random characters and a 6-character checksum, so that a typo is rejected without a
// lookup, and secret scanners can recognize them.
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const API_KEY = /^pur_(live|test)_[0-9A-Za-z]{38}$/;
export const MANAGEMENT_TOKEN_PREFIX = "pur_mgmt_";
const MANAGEMENT_TOKEN = /^pur_mgmt_[0-9A-Za-z]{38}$/;

export type EnvironmentKind = "test" | "live";

export function makeApiKey(kind: EnvironmentKind): string {
  return makeSecret(`pur_${kind}_`);
}

export function makeManagementToken(): string {
  return makeSecret(MANAGEMENT_TOKEN_PREFIX);
}

/** Creates a secret with this prefix. Also used for session cookies and one-time links. */
export function makeSecret(prefix: string): string {
  let secret = prefix;
  for (let i = 0; i < RANDOM_LENGTH; i++) secret += DIGITS[randomInt(DIGITS.length)];
  return secret + checksum(secret);
}

export function isWellFormedApiKey(text: string): boolean {
  return API_KEY.test(text) && hasItsChecksum(text);
}

export function isWellFormedManagementToken(text: string): boolean {
  return MANAGEMENT_TOKEN.test(text) && hasItsChecksum(text);
}

/** Only this hash of a secret is stored. */
export function hashSecret(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

function hasItsChecksum(text: string): boolean {
  return text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
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
