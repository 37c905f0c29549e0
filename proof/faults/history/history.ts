import { createWriteStream, type WriteStream } from "node:fs";
import type { Call } from "./call.ts";
import type { ManageCall } from "./manage-call.ts";

/** Everything that was seen, in memory for the checker and as JSON lines for whoever has to explain a failure. */
export class History {
  readonly calls: Call[] = [];
  readonly manageCalls: ManageCall[] = [];
  readonly #file: WriteStream;
  readonly #latestOkStartMs = new Map<string, number>();
  #openCalls = 0;

  constructor(path: string) {
    this.#file = createWriteStream(path);
  }

  /** Calls that began and did not end: with any of them the history is not whole. */
  get openCalls(): number {
    return this.#openCalls;
  }

  /** Whether this process has given a 200 to a call that began since then. */
  hasOkSince(ms: number, service: string): boolean {
    return (this.#latestOkStartMs.get(service) ?? Number.NEGATIVE_INFINITY) >= ms;
  }

  async record(work: Promise<Call>): Promise<Call> {
    const call = await this.#whole(work);
    this.calls.push(call);
    const { service, startMs, outcome } = call;
    if (outcome.kind === "ok" && !this.hasOkSince(startMs, service))
      this.#latestOkStartMs.set(service, startMs);
    const { client, request, fingerprint, endMs } = call;
    this.#write({ client, service, ...request, fingerprint, startMs, endMs, outcome });
    return call;
  }

  async recordManage(work: Promise<ManageCall>): Promise<ManageCall> {
    const call = await this.#whole(work);
    this.manageCalls.push(call);
    const { request, startMs, endMs, outcome } = call;
    this.#write({ client: "manage", ...request, startMs, endMs, outcome });
    return call;
  }

  /** Only for the reader of the file: the checker is given the faults apart. */
  noteFault(name: string, times: Readonly<Record<string, number>>): void {
    this.#write({ fault: name, ...times });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.once("error", reject);
      this.#file.end(resolve);
    });
  }

  async #whole<T>(work: Promise<T>): Promise<T> {
    this.#openCalls += 1;
    const done = await work;
    this.#openCalls -= 1;
    return done;
  }

  #write(line: object): void {
    this.#file.write(`${JSON.stringify(line)}\n`);
  }
}
