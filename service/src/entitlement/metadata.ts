import canonicalize from "canonicalize";
import { assert } from "../primitives/assert.ts";
import { isStorableText, UNSTORABLE_TEXT } from "../primitives/storable-text.ts";

/** A caller's JSON object and its size. The canonical JSON text is fingerprinted and stored. */
export type Metadata = {
  readonly canonical: string;
  readonly bytes: number;
  readonly keys: number;
  readonly depth: number;
};

export type MetadataLimits = {
  readonly bytesMax: number;
  readonly keysMax: number;
  readonly depthMax: number;
};

/** Larger than the depth limit of any workspace. Bounds the recursion of `inspect`. */
export const METADATA_DEPTH_MAX = 32;

export type ExceededLimit = {
  readonly kind: "metadata_limit_exceeded";
  readonly limit: "bytes" | "keys" | "depth";
  readonly max: number;
  readonly actual: number;
};

type ParsedMetadata =
  | { kind: "none" }
  | { kind: "metadata"; metadata: Metadata }
  | { kind: "unusable"; problem: string };

/** Treats an empty object as absent metadata. */
export function parseMetadata(value: object): ParsedMetadata {
  const count = { keys: 0, depth: 0 };
  const problem = inspect(value, 1, count);
  if (problem !== null) return { kind: "unusable", problem };
  if (count.keys === 0) return { kind: "none" };
  const canonical = canonicalize(value);
  assert(canonical !== undefined, "a JSON object has a canonical form");
  return {
    kind: "metadata",
    metadata: { canonical, bytes: Buffer.byteLength(canonical), keys: count.keys, depth: count.depth },
  };
}

/** The first workspace limit that the metadata exceeds. */
export function exceededLimit(metadata: Metadata | null, limits: MetadataLimits): ExceededLimit | null {
  if (metadata === null) return null;
  const measures = [
    { limit: "bytes", max: limits.bytesMax, actual: metadata.bytes },
    { limit: "keys", max: limits.keysMax, actual: metadata.keys },
    { limit: "depth", max: limits.depthMax, actual: metadata.depth },
  ] as const;
  const exceeded = measures.find(({ max, actual }) => actual > max);
  return exceeded === undefined ? null : { kind: "metadata_limit_exceeded", ...exceeded };
}

function inspect(value: unknown, depth: number, count: { keys: number; depth: number }): string | null {
  if (typeof value === "string") return isStorableText(value) ? null : UNSTORABLE_TEXT;
  if (typeof value === "number") {
    const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    return isExact ? null : "contains a number beyond 2^53-1, which JSON parsers would round";
  }
  if (typeof value !== "object" || value === null) return null;
  if (depth > METADATA_DEPTH_MAX) return `is nested deeper than ${METADATA_DEPTH_MAX} levels`;
  count.depth = Math.max(count.depth, depth);
  const isArray = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (!isArray) count.keys += 1;
    const problem = (isArray ? null : inspect(key, depth, count)) ?? inspect(item, depth + 1, count);
    if (problem !== null) return problem;
  }
  return null;
}
