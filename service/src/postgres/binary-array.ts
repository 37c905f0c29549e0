import { assert } from "../primitives/assert.ts";
import type { Instant } from "../primitives/brand.ts";

// Encodes arrays in PostgreSQL's binary format. A batch writes its rows with `unnest` of one array per column. With text arrays,
// sending 100 events with 9 columns took 2.5 times as long, and 2.6 times the CPU time of this process.

const HEADER_BYTES = 20;
const EPOCH_2000_MS = 946_684_800_000;

export const integers = (values: readonly (number | null)[]): Buffer =>
  fixed(23, 4, values, (buffer, value, at) => buffer.writeInt32BE(value, at));

export const smallints = (values: readonly (number | null)[]): Buffer =>
  fixed(21, 2, values, (buffer, value, at) => buffer.writeInt16BE(value, at));

export const bigints = (values: readonly (number | null)[]): Buffer => fixed(20, 8, values, writeBigint);

export const booleans = (values: readonly boolean[]): Buffer =>
  fixed(16, 1, values, (buffer, value, at) => buffer.writeInt8(value ? 1 : 0, at));

export const uuids = (values: readonly Buffer[]): Buffer =>
  fixed(2950, 16, values, (buffer, value, at) => buffer.set(value, at));

/** UUIDs as 32 hexadecimal digits. */
export const hexUuids = (values: readonly (string | null)[]): Buffer =>
  fixed(2950, 16, values, (buffer, value, at) => buffer.write(value, at, 16, "hex"));

export const timestamps = (values: readonly (Instant | null)[]): Buffer =>
  fixed(1184, 8, values, (buffer, value, at) => {
    const microseconds = (value - EPOCH_2000_MS) * 1000;
    if (Number.isSafeInteger(microseconds)) writeBigint(buffer, microseconds, at);
    else buffer.writeBigInt64BE(BigInt(value - EPOCH_2000_MS) * 1000n, at); // beyond 53 bits
  });

export function texts(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES;
  for (const value of values) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const buffer = header(25, values.length, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at);
      continue;
    }
    const length = buffer.write(value, at + 4);
    buffer.writeInt32BE(length, at);
    at += 4 + length;
  }
  return buffer;
}

/** Writes two halves, because creating a BigInt for each value would take longer than everything else. */
function writeBigint(buffer: Buffer, value: number, at: number): void {
  assert(Number.isSafeInteger(value), "a stored integer is a safe integer");
  buffer.writeInt32BE(Math.floor(value / 2 ** 32), at);
  buffer.writeUInt32BE(value >>> 0, at + 4);
}

function fixed<T>(
  elementType: number,
  width: number,
  values: readonly (T | null)[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const buffer = header(elementType, values.length, HEADER_BYTES + values.length * (4 + width));
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at);
      continue;
    }
    buffer.writeInt32BE(width, at);
    write(buffer, value, at + 4);
    at += 4 + width;
  }
  return at === buffer.length ? buffer : buffer.subarray(0, at);
}

function header(elementType: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  buffer.writeInt32BE(length === 0 ? 0 : 1, 0); // dimensions
  buffer.writeInt32BE(1, 4); // may contain nulls
  buffer.writeInt32BE(elementType, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16); // lower bound
  return length === 0 ? buffer.subarray(0, 12) : buffer;
}
