import { type PublicIdPrefix, parsePublicId } from "./public-id.ts";
import { TIME_MAX } from "./timestamp.ts";
import type { Uuid } from "./uuid.ts";

/** Of an id that begins with the moment it was made at. Null when it is none of this kind, or of no moment of ours. */
export function parseTimedId(prefix: PublicIdPrefix, text: string): Uuid | null {
  const id = parsePublicId(prefix, text);
  return id === null || id.readUIntBE(0, 6) > TIME_MAX ? null : id;
}
