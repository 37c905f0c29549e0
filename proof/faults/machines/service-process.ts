import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pause } from "../pause.ts";

const MAIN = join(import.meta.dirname, "../../../service/src/main.ts");
const LOG_LINES_MAX = 40;
const STOP_MAX_MS = 30_000;

export type ServiceOptions = {
  readonly name: string;
  readonly databaseUrl: string;
  readonly port: number;
  readonly metricsPort: number;
};

/** `purser serve` as a process of its own, so that a kill is a real one. */
export class ServiceProcess {
  readonly #options: ServiceOptions;
  readonly #log: string[] = [];
  #child: ChildProcess | null = null;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether it runs, or at least has not ended. */
  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How it ended, if it did, and the last it had to say. */
  get lastWords(): string {
    const { exitCode, signalCode } = this.#child ?? { exitCode: null, signalCode: null };
    return `exit code ${exitCode}, signal ${signalCode}\n${this.#log.join("")}`;
  }

  start(): void {
    const { databaseUrl, port, metricsPort } = this.#options;
    const child = spawn(process.execPath, [MAIN, "serve"], {
      // Nothing of this program's own environment: a stray setting must not change what is proven.
      env: {
        DATABASE_URL: databaseUrl,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on(
        "data",
        (chunk: Buffer) => this.#log.push(chunk.toString()) > LOG_LINES_MAX && this.#log.shift(),
      );
    }
    this.#child = child;
  }

  /** `kill -9`; ends when the process has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isAlive) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** As an operator would. Says whether it went by itself and without complaint. */
  async stop(): Promise<boolean> {
    const child = this.#child;
    if (child === null || !this.isAlive) return false;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await Promise.race([ended, pause(STOP_MAX_MS)]);
    return child.exitCode === 0;
  }
}
