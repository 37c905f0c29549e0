import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { steadyPort } from "./steady-port.ts";

export const THIS_TREE = join(import.meta.dirname, "../..");

const LOG_PIECES_MAX = 40;
const STOP_MAX_MS = 30_000;
const SAMPLE_MS = 20;

/** Purser as operators run it. Nothing else of this program's environment: a stray setting must not change what is proven. */
export function spawnPurser(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { tree = THIS_TREE, memory = [] }: { tree?: string; memory?: readonly string[] } = {},
) {
  return spawn(process.execPath, [...memory, join(tree, "service/src/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export type ServiceOptions = {
  readonly name?: string;
  /** Of another commit, to compare with. */
  readonly tree?: string;
  readonly memory?: readonly string[];
  /** With "error" it does not report that it is ready, and an outage costs it no time for writing warnings. */
  readonly logLevel?: "info" | "error";
};

/** `purser serve` as a process of its own, so that a kill is a real one. It keeps its port when it is started again. */
export class Service {
  readonly name: string;
  readonly port: number;
  readonly #databaseUrl: string;
  readonly #options: ServiceOptions;
  readonly #log: string[] = [];
  #child: ChildProcess | null = null;

  /** Ready when this returns. */
  static async start(
    databaseUrl: string,
    stack: AsyncDisposableStack,
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = await Service.prepare(databaseUrl, stack, options);
    await service.launch();
    return service;
  }

  /** Not started yet; stopped at the latest with the stack. */
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

  /** Whether it runs, or at least has not ended. */
  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How it ended, if it did, and the last that it printed. */
  get lastOutput(): string {
    const { exitCode, signalCode } = this.#child ?? { exitCode: null, signalCode: null };
    return `exit code ${exitCode}, signal ${signalCode}\n${this.#log.join("")}`;
  }

  /** Resolves when it is ready, rejects when it ends before. */
  launch(): Promise<void> {
    const { memory = ["--max-semi-space-size=64"], logLevel = "info", ...options } = this.#options;
    const environment = {
      DATABASE_URL: this.#databaseUrl,
      PORT: String(this.port),
      METRICS_PORT: "0",
      LOG_LEVEL: logLevel,
    };
    const child = spawnPurser(["serve"], environment, { ...options, memory });
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

  /** `kill -9`; ends when the process has ended. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Asks it to stop, and returns whether it did, in time and with exit code 0. */
  async stop(): Promise<boolean> {
    if (!this.isAlive) return false;
    await this.#end("SIGTERM");
    return this.#child?.exitCode === 0;
  }

  /** The most memory that it ever had, as the kernel counts it. */
  peakMegabytes(): Promise<number> {
    return readMegabytes(this.#child, "VmHWM");
  }

  residentMegabytes(): Promise<number> {
    return readMegabytes(this.#child, "VmRSS");
  }

  #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    return this.#child === null ? Promise.resolve() : endProcess(this.#child, signal);
  }
}

/** Ends when the process has ended; one that does not end in time is killed. */
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
  /** Null: it was stopped. */
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
  readonly peakMegabytes: number;
};

/** `purser verify`, in a process of its own. */
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
        // Gone at the end of the process.
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

/** To its end, which must be a good one. */
export async function verify(databaseUrl: string): Promise<CommandRun> {
  const run = await startVerify(databaseUrl).ended;
  if (run.code !== 0) throw new Error(`purser verify ended with code ${run.code}: ${run.output}`);
  return run;
}

async function readMegabytes(child: ChildProcess | null, name: "VmHWM" | "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${child?.pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024;
}
