import type { ServerResponse } from "node:http";

/** A client that reads fewer than `bytesMin` bytes in `ms` is disconnected, because other exports wait for its slot. */
export const STALLED = { ms: 60_000, bytesMin: 1_000_000 } as const;

/**
 * Closes the connection of a client that reads less than `bytesMin` in `ms` while more data is ready. A socket's own timeout
 * restarts with every byte, so one byte a minute would hold the slot forever. Time without ready data does not count,
 * because the export may be scanning many rows before it finds a match.
 */
export function endStalled(
  response: ServerResponse,
  { ms, bytesMin }: { readonly ms: number; readonly bytesMin: number },
): void {
  let waitingSince: number | null = null;
  const timer = setInterval(() => {
    const { socket } = response;
    if (socket === null) return;
    // Bytes passed to the operating system. A chunk counts only after it is written completely.
    const taken = socket.bytesWritten - socket.writableLength;
    const isWaiting = socket.writableLength > 0;
    if (isWaiting && waitingSince !== null && taken - waitingSince < bytesMin) response.destroy();
    waitingSince = isWaiting ? taken : null;
  }, ms);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}

/** Closes the connection if the response is not finished in time. */
export function endAfter(response: ServerResponse, ms: number): void {
  const timer = setTimeout(() => response.destroy(), ms);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}
