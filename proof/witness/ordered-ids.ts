import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

// Loaded into the service before any other module. Without it, IDs of the same millisecond have a random order, and so do lists
// sorted by ID. With it, they are in creation order.
const BYTES = 16;
let count = 0;

const original = crypto.randomFillSync;
crypto.randomFillSync = ((buffer: NodeJS.ArrayBufferView, ...range: number[]) => {
  if (!Buffer.isBuffer(buffer) || buffer.length % BYTES > 0)
    return Reflect.apply(original, crypto, [buffer, ...range]);
  buffer.fill(0);
  for (let offset = 0; offset < buffer.length; offset += BYTES) buffer.writeUInt32BE(++count, offset + 12);
  return buffer;
}) as typeof original;
syncBuiltinESMExports();
