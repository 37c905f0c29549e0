import type { ServerResponse } from "node:http";

/**
 * Hangs up on a reader who has not taken what was waiting for a whole turn of the clock. A socket's own timeout begins anew with
 * every byte that is taken, so that one byte a minute keeps the place of somebody else for ever. Where nothing is waiting nobody
 * is slow: where few rows are meant, many are passed by for one.
 */
export function endStalled(response: ServerResponse, ms: number): void {
  let waitingSince: number | null = null;
  const timer = setInterval(() => {
    const { socket } = response;
    if (socket === null) return;
    // Of what was handed over: a piece that is not taken whole is not taken.
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && taken === waitingSince) response.destroy();
    waitingSince = socket.writableLength > 0 ? taken : null;
  }, ms);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}
