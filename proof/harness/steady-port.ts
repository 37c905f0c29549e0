import { createServer } from "node:net";
import { integerBetween } from "./random.ts";

/** Below Linux's ephemeral port range. */
const PORTS = { min: 20_000, max: 32_000 };
const ATTEMPTS_MAX = 100;

/**
 * Returns a port that stays free while its server is down. Ephemeral ports do not: a connection attempt to a closed local port can
 * use the same port as its source and connect to itself.
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
