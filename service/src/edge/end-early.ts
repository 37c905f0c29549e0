import type { ServerResponse } from "node:http";

/** A reader who takes less than this in so long is gone, or as good as gone, and others wait for the turn. */
export const STALLED = { ms: 60_000, bytesMin: 1_000_000 } as const;

/**
 * Hangs up on a reader who takes less than `bytesMin` in `ms` though more was waiting. A socket's own timeout begins anew with
 * every byte that is taken, so that one byte a minute keeps the place of somebody else forever. Where nothing is waiting nobody
 * is slow: where few rows are meant, many are passed by for one.
 */
export function endStalled(
  response: ServerResponse,
  { ms, bytesMin }: { readonly ms: number; readonly bytesMin: number },
): void {
  let waitingSince: number | null = null;
  const timer = setInterval(() => {
    const { socket } = response;
    if (socket === null) return;
    // Of what was handed over: a piece that is not taken whole is not taken.
    const taken = socket.bytesWritten - socket.writableLength;
    const isWaiting = socket.writableLength > 0;
    if (isWaiting && waitingSince !== null && taken - waitingSince < bytesMin) response.destroy();
    waitingSince = isWaiting ? taken : null;
  }, ms);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}

/** Hangs up on whoever still reads by then. */
export function endAfter(response: ServerResponse, ms: number): void {
  const timer = setTimeout(() => response.destroy(), ms);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}
