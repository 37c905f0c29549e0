import { hash } from "node:crypto";

/**
 * The first 16 bytes of SHA-256, which identify a key or a request. A collision is expected after about 2^64 hashes. A hex string, because
 * Node creates strings three times as fast as buffers, and strings can be compared and sorted.
 */
export type ShortHash = string;
export type Fingerprint = ShortHash;

/** A field's name and its value as canonical JSON. The value is null if the field is absent or equal to its default. */
type CanonicalField = readonly [name: string, value: string | null];

/**
 * Hashes the validated request, not its bytes: requests that differ only in the order of fields or the spelling of numbers have the same
 * fingerprint. Expects the fields sorted by name, as in canonical JSON. Callers omit fields equal to their default, so that a new optional
 * field does not change existing fingerprints.
 */
export function fingerprint(fields: readonly CanonicalField[]): Fingerprint {
  let canonical = "";
  for (const [name, value] of fields) {
    if (value !== null) canonical += `${canonical === "" ? "{" : ","}"${name}":${value}`;
  }
  return shortHash(`${canonical}}`);
}

export function shortHash(text: string): ShortHash {
  return hash("sha256", text, "hex").slice(0, 32);
}
