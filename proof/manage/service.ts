import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../service/src/postgres/free-port.ts";

const MAIN = join(import.meta.dirname, "../../service/src/main.ts");
const LOG_PIECES_MAX = 10;

/** The service as a process of its own, so that a kill is a real one. */
export class Service {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #log: string[] = [];

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /** Ready when this returns; stopped at the latest with the stack. */
  static async start(
    databaseUrl: string,
    stack: AsyncDisposableStack,
    memory: readonly string[] = ["--max-semi-space-size=64"],
  ): Promise<Service> {
    const port = await freePort();
    const child = spawn(process.execPath, [...memory, MAIN, "serve"], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        PORT: String(port),
        METRICS_PORT: "0",
        LOG_LEVEL: "info",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const service = new Service(`http://127.0.0.1:${port}`, child);
    stack.defer(() => service.#end("SIGTERM"));
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the service ended with code ${code}`)));
      child.stdout.on("data", (chunk: Buffer) => {
        if (service.#log.push(chunk.toString()) > LOG_PIECES_MAX) service.#log.shift();
        if (chunk.includes('"msg":"ready"')) resolve();
      });
    });
    return service;
  }

  /** The last it had to say, for whoever wonders what went wrong. */
  get lastWords(): string {
    return this.#log.join("");
  }

  /** `kill -9`; ends when the process has ended. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** The most memory that it ever had, as the kernel counts it. */
  async peakMegabytes(): Promise<number> {
    return this.#readMegabytes("VmHWM");
  }

  async residentMegabytes(): Promise<number> {
    return this.#readMegabytes("VmRSS");
  }

  async #readMegabytes(name: "VmHWM" | "VmRSS"): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024;
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
