import { createWriteStream, type WriteStream } from "node:fs";
import type { Call } from "./call.ts";

/** Everything the clients saw, in memory for the checker and as JSON lines for whoever has to explain a failure. */
export class History {
  readonly calls: Call[] = [];
  readonly #file: WriteStream;
  #openCalls = 0;
  #latestOkStartMs = Number.NEGATIVE_INFINITY;

  constructor(path: string) {
    this.#file = createWriteStream(path);
  }

  /** Calls that began and did not end: with any of them the history is not whole. */
  get openCalls(): number {
    return this.#openCalls;
  }

  hasOkStartedSince(ms: number): boolean {
    return this.#latestOkStartMs >= ms;
  }

  async record(work: Promise<Call>): Promise<Call> {
    this.#openCalls += 1;
    const call = await work;
    this.#openCalls -= 1;
    this.calls.push(call);
    if (call.outcome.kind === "ok") this.#latestOkStartMs = Math.max(this.#latestOkStartMs, call.startMs);
    this.#file.write(`${toLine(call)}\n`);
    return call;
  }

  /** Only for the reader of the file: the checker is given the faults apart. */
  noteFault(name: string, times: Readonly<Record<string, number>>): void {
    this.#file.write(`${JSON.stringify({ fault: name, ...times })}\n`);
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.once("error", reject);
      this.#file.end(resolve);
    });
  }
}

function toLine({ client, request, fingerprint, startMs, endMs, outcome }: Call): string {
  return JSON.stringify({ client, ...request, fingerprint, startMs, endMs, outcome });
}
