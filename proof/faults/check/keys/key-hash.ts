import { createHash } from "node:crypto";
import { toUuid } from "../public-uuid.ts";

/** As the tables promise it: the first 16 bytes of SHA-256 of the key. */
export function keyHashOf(key: string): string {
  return toUuid(createHash("sha256").update(key).digest("hex").slice(0, 32));
}
