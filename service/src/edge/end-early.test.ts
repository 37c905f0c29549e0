import { createServer } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { endStalled } from "./end-early.ts";

const PIECE = Buffer.alloc(64 * 1_024 * 1_024);

/** Measures how long a response lasts for a client that reads a little at a fixed interval. */
async function send(pieces: number, everyMs: number): Promise<{ ms: number; isWhole: boolean }> {
  const ended = Promise.withResolvers<boolean>();
  const server = createServer((_, response) => {
    endStalled(response, { ms: 1_000, bytesMin: 1_000_000 });
    response.once("close", () => ended.resolve(response.writableFinished));
    Readable.from(Array.from({ length: pieces }, () => PIECE)).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const socket = connect({ host: "127.0.0.1", port: port ?? 0 });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.on("data", () => {
    if (everyMs === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), everyMs);
  });
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const startedMs = performance.now();
  const isWhole = await ended.promise;
  return { ms: performance.now() - startedMs, isWhole };
}

test("a client that reads too slowly is disconnected, and one that reads fast enough gets the whole response", async () => {
  expect(await send(4, 0)).toMatchObject({ isWhole: true });
  const slow = await send(4, 3);
  expect(slow.isWhole).toBe(false);
  expect(slow.ms).toBeLessThan(6_000);
}, 30_000);
