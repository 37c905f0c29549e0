import { createServer } from "node:net";
import { integerBetween } from "./random.ts";

/** Below the range from which Linux takes the local ports of outgoing connections. */
const PORTS = { min: 20_000, max: 32_000 };
const ATTEMPTS_MAX = 100;

/**
 * A free port that stays free while its server is down. One from the ephemeral range would not do: among thousands of
 * connection attempts to a dead local port, one is given that very port as its own and connects to itself.
 */
export async function steadyPort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = integerBetween(PORTS.min, PORTS.max);
    if (await isFree(port)) return port;
  }
  throw new Error("found no free port");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
