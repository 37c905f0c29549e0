import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../src/postgres/free-port.ts";
import type { TestDatabase } from "./harness.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");

/** `purser serve` as a process of its own: another event loop, other caches. Returns where it listens. */
export async function startServiceProcess(database: TestDatabase): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN, "serve"], {
    env: {
      DATABASE_URL: database.serviceUrl,
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "error",
    },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 20_000, interval: 100 }).toBe(true);
  return url;
}
