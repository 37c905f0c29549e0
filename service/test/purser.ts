import { type ChildProcess, execFile, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";

const MAIN = join(import.meta.dirname, "../src/main.ts");
/** Halves the start time of Node.js. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), "purser-compile-cache") };

type Settings = Readonly<Record<string, string>>;

/** Starts a command of Purser. The process is killed when the test ends. */
export function spawnPurser(args: readonly string[], settings: Settings) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...COMPILE_CACHE, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a command to its end. */
export async function runPurser(args: readonly string[], settings: Settings): Promise<Ended> {
  return promisify(execFile)(process.execPath, [MAIN, ...args], {
    env: { ...COMPILE_CACHE, ...settings },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Ended) => error,
  );
}

export type Served = {
  readonly url: string;
  readonly metricsUrl: string;
  readonly child: ChildProcess;
  /** Everything the process has printed so far. */
  readonly output: () => string;
};

/** Starts `purser serve` in a separate process. Returns when it is ready. */
export async function servePurser(databaseUrl: string, settings: Settings = {}): Promise<Served> {
  const child = spawnPurser(["serve"], {
    DATABASE_URL: databaseUrl,
    PORT: "0",
    METRICS_PORT: "0",
    ...settings,
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk));
  const ready = () => text.split("\n").find((line) => line.includes('"msg":"ready"'));
  await expect.poll(ready).toBeDefined();
  const { url, metricsUrl } = JSON.parse(ready() ?? "");
  return { url, metricsUrl, child, output: () => text };
}
