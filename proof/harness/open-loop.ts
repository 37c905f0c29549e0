import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "./calls.ts";

export type OpenLoopOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly call: Call;
  readonly customers: number;
  readonly perSecond: number;
  /** Seconds of load before the measurement, at the same rate. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly keyPrefix?: string;
  /** Every nth measured call is traced. 0: none. */
  readonly tracedEvery?: number;
};

/** A traced call. `lateMs` is the part of its latency that passed before the generator sent it. */
export type TracedCall = { readonly traceId: string; readonly latencyMs: number; readonly lateMs: number };

export type OpenLoopResult = {
  readonly sent: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Delay caused by the load generator. Included in `p50Ms` and `p99Ms`. */
  readonly lateP99Ms: number;
  readonly traced: readonly TracedCall[];
};

/** Longer than any timeout of the service. */
const SETTLE_SECONDS_MAX = 10;
const HEAD_END = "\r\n\r\n";

/** Runs the load generator in a separate process, so that other work does not delay it. */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const child = spawn(process.execPath, [import.meta.filename], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(options));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`the open loop ended with code ${code}`);
  return JSON.parse(output);
}

/** Measures a load alternately alone and together with other work, so that a noisy machine affects both. */
export async function measureBeside<T>(
  rounds: number,
  measure: () => Promise<T>,
  start: () => Promise<{ stop(): Promise<unknown> }>,
): Promise<{ alone: T[]; beside: T[] }> {
  const alone: T[] = [];
  const beside: T[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await measure());
    const other = await start();
    beside.push(await measure());
    await other.stop();
  }
  return { alone, beside };
}

/**
 * Starts calls at a fixed rate, even while earlier calls are open, as independent users do. Latency is measured from the time at which
 * a call was due, so a pause of the service increases the latency of all calls that were due during the pause.
 */
async function runLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { call, perSecond, warmUpSeconds } = options;
  const total = Math.round(perSecond * (warmUpSeconds + options.seconds));
  const firstMeasured = Math.round(perSecond * warmUpSeconds);
  const latencies = new Float64Array(total - firstMeasured);
  const lateness = new Float64Array(total - firstMeasured);
  const traced: TracedCall[] = [];
  const { hostname, port } = new URL(options.url);
  const idle = await Promise.all(
    Array.from({ length: options.connections }, () =>
      Connection.open({ host: hostname, port: Number(port) }),
    ),
  );
  const connections = [...idle];
  let due = 0;
  let started = 0;
  let answered = 0;
  let errors = 0;

  const startMs = performance.now() + 100;
  const dueAtMs = (index: number): number => startMs + (index * 1_000) / perSecond;
  const startDue = (): void => {
    // Rotates through the connections, because the service closes idle connections.
    while (started < due) {
      const connection = idle.shift();
      if (connection === undefined) return;
      start(connection, started++);
    }
  };
  const start = (connection: Connection, index: number): void => {
    const traceId = index >= firstMeasured ? traceOf(options, index) : null;
    const lateMs = performance.now() - dueAtMs(index);
    connection.send(requestOf(options, index, traceId), (answer) => {
      answered += 1;
      if (call.proof !== null ? !answer.includes(call.proof) : !answer.startsWith("HTTP/1.1 200"))
        errors += 1;
      const latencyMs = performance.now() - dueAtMs(index);
      if (index >= firstMeasured) latencies[index - firstMeasured] = latencyMs;
      if (traceId !== null) traced.push({ traceId, latencyMs, lateMs });
      idle.push(connection);
      startDue();
    });
  };

  while (due < total) {
    for (const nowMs = performance.now(); due < total && dueAtMs(due) <= nowMs; due++) {
      if (due >= firstMeasured) lateness[due - firstMeasured] = nowMs - dueAtMs(due);
    }
    startDue();
    await pause(1);
  }
  const giveUpAtMs = performance.now() + SETTLE_SECONDS_MAX * 1_000;
  while (answered < total && performance.now() < giveUpAtMs) await pause(10);
  for (const connection of connections) connection.close();
  latencies.sort();
  lateness.sort();
  return {
    sent: total,
    errors: errors + (total - answered),
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    lateP99Ms: percentile(lateness, 99),
    traced,
  };
}

function traceOf({ tracedEvery = 0 }: OpenLoopOptions, index: number): string | null {
  if (tracedEvery === 0 || index % tracedEvery !== 0) return null;
  return (index + 1).toString(16).padStart(32, "0");
}

function requestOf(
  { call, apiKey, customers, keyPrefix = "" }: OpenLoopOptions,
  index: number,
  traceId: string | null,
): string {
  const customer = 1 + Math.floor(Math.random() * customers);
  const body = call.body.replace("%d", String(customer)).replace("%s", `${keyPrefix}${index}`);
  return (
    `POST ${call.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
    `${traceId === null ? "" : `traceparent: 00-${traceId}-${traceId.slice(16)}-01\r\n`}\r\n${body}`
  );
}

function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/** A keep-alive HTTP connection with one open call at a time. Node's own client would use too much CPU time. */
class Connection {
  readonly #socket: Socket;
  #received = "";
  #onAnswer: ((answer: string) => void) | null = null;

  static async open(options: { host: string; port: number }): Promise<Connection> {
    const socket = connect({ ...options, noDelay: true });
    await once(socket, "connect");
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#receive(chunk));
    // Unhandled, so it ends the program: a run with broken connections measures nothing.
    socket.on("end", () => socket.destroy(new Error("the service closed a connection")));
  }

  send(request: string, onAnswer: (answer: string) => void): void {
    this.#onAnswer = onAnswer;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("end").destroy();
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    const answer = this.#received;
    const onAnswer = this.#onAnswer;
    this.#received = "";
    this.#onAnswer = null;
    onAnswer?.(answer);
  }
}

if (import.meta.main) console.log(JSON.stringify(await runLoop(JSON.parse(await text(process.stdin)))));
