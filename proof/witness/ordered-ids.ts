import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

// Loaded into the service before any other module. Makes IDs of the same millisecond sort in creation order instead of random order,
// so that lists sorted by ID are the same in both trees.
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
