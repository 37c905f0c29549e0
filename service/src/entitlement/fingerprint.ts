import { hash } from "node:crypto";

/**
 * 16 bytes of SHA-256 name a key or a request; a chance collision is beyond 2^64 of them. Kept as hex: Node gives it
 * in a third of the time of a buffer, and it compares and sorts like any text.
 */
export type ShortHash = string;
export type Fingerprint = ShortHash;

/** A field's name, and its value as canonical JSON; null when it is absent or equal to its default. */
export type CanonicalField = readonly [name: string, value: string | null];

/**
 * Of the validated request, not of its bytes: reordered fields and other spellings of a number are the same request.
 * Takes the fields sorted by name, as canonical JSON has them. A field equal to its default is left out by the caller,
 * so that tomorrow's optional field changes no fingerprint of today.
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
