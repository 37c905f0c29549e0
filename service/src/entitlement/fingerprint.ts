import { hash } from "node:crypto";

/**
 * The first 16 bytes of SHA-256 identify a key or a request; a collision is expected after about 2^64 of them. Stored as
 * hex: Node creates it in a third of the time of a buffer, and it can be compared and sorted as text.
 */
export type ShortHash = string;
export type Fingerprint = ShortHash;

/** A field's name, and its value as canonical JSON; null when it is absent or equal to its default. */
type CanonicalField = readonly [name: string, value: string | null];

/**
 * Hashes the validated request, not its bytes: reordered fields and other spellings of a number are the same request.
 * Expects the fields sorted by name, as in canonical JSON. Callers omit fields equal to their default, so that a new
 * optional field changes no existing fingerprint.
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
