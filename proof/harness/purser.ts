import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { steadyPort } from "./steady-port.ts";

export const THIS_TREE = join(import.meta.dirname, "../..");

const LOG_PIECES_MAX = 40;
const STOP_MAX_MS = 30_000;
const LOG_MAX_MS = 5_000;
const SAMPLE_MS = 20;

/** The caller's compile cache, which halves the start time of Node.js. */
const { NODE_COMPILE_CACHE } = process.env;

/** Starts a Purser command with a clean environment, so that no setting from the caller changes the result. */
export function spawnPurser(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { tree = THIS_TREE, node = [] }: { tree?: string; node?: readonly string[] } = {},
) {
  return spawn(process.execPath, [...node, join(tree, "service/src/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs a Purser command until it ends. */
export async function runPurser(
  args: readonly string[],
  databaseUrl: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return collectOutput(spawnPurser(args, { DATABASE_URL: databaseUrl }));
}

/** Waits for a process to end. */
export async function collectOutput(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, output: `${output}${errors}`.trim() };
}

export type ServiceOptions = {
  readonly name?: string;
  /** The source tree of another commit. */
  readonly tree?: string;
  /** Options of Node.js. */
  readonly node?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** With "error", the service logs no ready message, and no warnings during an outage. */
  readonly logLevel?: "info" | "error";
};

/** `purser serve` in its own process. A restart keeps the port. */
export class Service {
  readonly name: string;
  readonly port: number;
  readonly #databaseUrl: string;
  readonly #options: ServiceOptions;
  readonly #log: string[] = [];
  #child: ChildProcess | null = null;

  /** Returns when the service is ready. */
  static async start(
    databaseUrl: string,
    stack: AsyncDisposableStack,
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = await Service.prepare(databaseUrl, stack, options);
    await service.launch();
    return service;
  }

  /** Prepares a service without starting it. The stack stops it. */
  static async prepare(
    databaseUrl: string,
    stack: AsyncDisposableStack,
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = new Service(databaseUrl, await steadyPort(), options);
    stack.defer(() => service.#end("SIGTERM"));
    return service;
  }

  private constructor(databaseUrl: string, port: number, options: ServiceOptions) {
    this.name = options.name ?? "service";
    this.port = port;
    this.#databaseUrl = databaseUrl;
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Whether the process was started and has not ended. */
  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The service's exit status and the end of its output. */
  get lastOutput(): string {
    const { exitCode, signalCode } = this.#child ?? { exitCode: null, signalCode: null };
    return `exit code ${exitCode}, signal ${signalCode}\n${this.#log.join("")}`;
  }

  /** Starts the process. Resolves when it is ready, and rejects if it ends first. */
  launch(): Promise<void> {
    const { node = ["--max-semi-space-size=64"], logLevel = "info", tree = THIS_TREE } = this.#options;
    const environment = {
      METRICS_PORT: "0",
      ...this.#options.environment,
      DATABASE_URL: this.#databaseUrl,
      PORT: String(this.port),
      LOG_LEVEL: logLevel,
    };
    const child = spawnPurser(["serve"], environment, { tree, node });
    this.#child = child;
    return new Promise((resolve, reject) => {
      child.once("exit", () => reject(new Error(`the service ended: ${this.lastOutput}`)));
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk: Buffer) => {
          if (this.#log.push(chunk.toString()) > LOG_PIECES_MAX) this.#log.shift();
          if (chunk.includes('"msg":"ready"')) resolve();
        });
      }
    });
  }

  /** The value of this field in the JSON lines of the service's log. Waits for it for a few seconds. */
  async logged(field: string): Promise<string> {
    const pattern = new RegExp(`"${field}":"([^"]+)"`);
    for (let waitedMs = 0; waitedMs < LOG_MAX_MS; waitedMs += SAMPLE_MS) {
      const [, value] = pattern.exec(this.lastOutput) ?? [];
      if (value !== undefined) return value;
      await pause(SAMPLE_MS);
    }
    throw new Error(`the service did not log ${field}: ${this.lastOutput}`);
  }

  /** `kill -9`. Returns when the process has ended. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Sends SIGTERM. Returns whether the process ended in time with exit code 0. */
  async stop(): Promise<boolean> {
    if (!this.isAlive) return false;
    await this.#end("SIGTERM");
    return this.#child?.exitCode === 0;
  }

  /** Peak resident memory, as reported by the kernel. */
  peakMegabytes(): Promise<number> {
    return readMegabytes(this.#child, "VmHWM");
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error("the service was not started");
    return pid;
  }

  residentMegabytes(): Promise<number> {
    return readMegabytes(this.#child, "VmRSS");
  }

  #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    return this.#child === null ? Promise.resolve() : endProcess(this.#child, signal);
  }
}

/** Returns when the process has ended. Kills it if it does not end in time. */
export async function endProcess(
  child: ChildProcess,
  signal: "SIGTERM" | "SIGKILL" = "SIGTERM",
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
  await ended;
  clearTimeout(timer);
}

export type CommandRun = {
  /** Null if a signal ended the command. */
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
  readonly peakMegabytes: number;
};

/** Starts `purser verify`. */
export function startVerify(
  databaseUrl: string,
  options: readonly string[] = [],
): { readonly ended: Promise<CommandRun>; stop(): void } {
  const startMs = performance.now();
  const child = spawnPurser(["verify", ...options], { DATABASE_URL: databaseUrl });
  const finish = async (): Promise<CommandRun> => {
    let peakMegabytes = 0;
    const sample = async (): Promise<void> => {
      while (child.exitCode === null && child.signalCode === null) {
        // Fails if the process has just ended.
        const megabytes = await readMegabytes(child, "VmHWM").catch(() => 0);
        peakMegabytes = Math.max(peakMegabytes, megabytes || 0);
        await pause(SAMPLE_MS);
      }
    };
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), sample()]);
    const seconds = (performance.now() - startMs) / 1_000;
    return { code: child.exitCode, output: `${output}${errors}`.trim(), seconds, peakMegabytes };
  };
  return { ended: finish(), stop: () => void child.kill("SIGTERM") };
}

/** Runs `purser verify`. Throws unless it succeeds. */
export async function verify(databaseUrl: string): Promise<CommandRun> {
  const run = await startVerify(databaseUrl).ended;
  if (run.code !== 0) throw new Error(`purser verify ended with code ${run.code}: ${run.output}`);
  return run;
}

async function readMegabytes(child: ChildProcess | null, name: "VmHWM" | "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${child?.pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024;
}
