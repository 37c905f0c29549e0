import { assert } from "../primitives/assert.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";

/** Reads an integer column. A bigint arrives as text and must not lose precision. */
export function readInteger(value: unknown): number {
  const number = typeof value === "string" ? Number(value) : value;
  assert(typeof number === "number" && Number.isSafeInteger(number), `not a safe integer: ${String(value)}`);
  return number;
}

/** Reads a sum, which may exceed 53 bits. */
export function readBigInt(value: unknown): bigint {
  assert(typeof value === "string", "not a sum");
  return BigInt(value);
}

export function readText(value: unknown): string {
  assert(typeof value === "string", "not text");
  return value;
}

export function readBytes(value: unknown): Buffer {
  assert(Buffer.isBuffer(value), "not bytes");
  return value;
}

/** Reads a column selected as `(extract(epoch from x) * 1000)::bigint`. */
export function readInstant(value: unknown): Instant {
  return brandAs<Instant>(readInteger(value));
}

export function readNullable<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value);
}

export function readBoolean(value: unknown): boolean {
  assert(typeof value === "boolean", "not a boolean");
  return value;
}
