import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { BATCH_EVENTS, CALLS, type CallName, CUSTOMERS, FEATURE } from "../../harness/calls.ts";
import { type OpenLoopResult, runOpenLoop } from "../../harness/open-loop.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { Service, THIS_TREE, verify } from "../../harness/purser.ts";
import { runBareBatches } from "../bare/bare.ts";
import { runWrk, type WrkResult } from "../load/wrk.ts";
import { type Counts, count, expectGrowth, growth } from "../server.ts";
import { millisecondsSince, readProcessorTimes } from "./processor-time.ts";

/** Warm-up time of a new process. V8 takes this long to optimize functions that run once per batch (decision 16). */
const FIRST_WARM_UP_SECONDS = 20;
const WARM_UP_SECONDS = 2;
/** More than the number of open calls, so that a slow call does not delay other calls. */
const OPEN_LOOP_CONNECTIONS = 256;
const QUIET_MS = 500;
const CALLS_AT_ONCE = 100;

/** Rows are counted to check that each call with a response was executed exactly once. */
const ROWS = {
  entries: "select count(*) from cell.ledger",
  denials: "select count(*) from cell.denials",
  events: "select count(*) from cell.events",
  keys: "select count(*) from cell.keyed_requests",
};
const ROWS_OF_CALL: Readonly<Record<CallName, Counts>> = {
  consume: { entries: 1, denials: 0, events: 0, keys: 1 },
  check: { entries: 0, denials: 0, events: 0, keys: 0 },
  events: { entries: 0, denials: 0, events: 1, keys: 1 },
  batch: { entries: 0, denials: 0, events: BATCH_EVENTS, keys: BATCH_EVENTS },
  /** A hold and its settlement are two calls. */
  holds: { entries: 0.5, denials: 0, events: 0, keys: 0.5 },
};

/** Total size of the cell's tables, partitions and indexes, and the WAL position. */
const BYTES = {
  stored: `select sum(pg_total_relation_size(c.oid))
    from pg_class as c
    where c.relnamespace = 'cell'::regnamespace and c.relkind = 'r'`,
  wal: "select pg_current_wal_lsn() - '0/0'::pg_lsn",
};

/** A charge without a hold has one entry and one key, so these numbers must be equal. Databases of older commits have no holds. */
const CHARGES = `
  select
    count(*) as entries,
    count(q.key_hash) as entries_with_key,
    count(distinct l.key_hash) as keys_of_entries,
    (select count(*) from cell.keyed_requests where endpoint = 2) as keys
  from cell.ledger as l
  left join cell.keyed_requests as q on q.key_hash = l.key_hash and q.endpoint = 2
  where l.kind = 2 and to_jsonb(l) ->> 'hold_number' is null`;

export type Load = {
  readonly call: CallName;
  readonly customers: number;
  /** Uses UUIDv7 keys. */
  readonly hasOrderedKeys?: boolean;
};

export type Measured = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly storedBytesPerCall: number;
  readonly walBytesPerCall: number;
  /** Processor time of the service and its database connections. */
  readonly processorMicrosPerCall: number;
};

/** Purser processes with production settings, and the load on them. */
export class Purser {
  readonly #server: PostgresServer;
  readonly #stack: AsyncDisposableStack;
  readonly #tree: string;
  readonly #database: string;
  readonly #apiKey: string;
  readonly #environment: Readonly<Record<string, string>>;
  #services: Service[] = [];
  readonly #warm = new Set<string>();

  static async prepare(
    server: PostgresServer,
    stack: AsyncDisposableStack,
    {
      tree = THIS_TREE,
      database = "purser",
      customers = CUSTOMERS,
      environment = {},
    }: {
      tree?: string;
      database?: string;
      customers?: number;
      environment?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Purser> {
    await server.query("postgres", `create database ${database}`);
    // Uses the code of the other tree, whose tables may differ. Its path and its first parameters must not change.
    const preparation: typeof import("./prepare-database.ts") = await import(
      join(tree, "proof/bench/purser/prepare-database.ts")
    );
    const apiKey = await preparation.prepareDatabase(server, database, customers);
    return new Purser({ server, stack, tree, database, apiKey, environment });
  }

  private constructor(parts: {
    readonly server: PostgresServer;
    readonly stack: AsyncDisposableStack;
    readonly tree: string;
    readonly database: string;
    readonly apiKey: string;
    readonly environment: Readonly<Record<string, string>>;
  }) {
    this.#server = parts.server;
    this.#stack = parts.stack;
    this.#tree = parts.tree;
    this.#database = parts.database;
    this.#apiKey = parts.apiKey;
    this.#environment = parts.environment;
  }

  /** Measures at full speed. The connections are divided among the processes. */
  async measure(
    load: Load,
    options: {
      seconds: number;
      connections: number;
      processes: 1 | 2;
      warmUpSeconds?: number;
      /** Returns a promise that resolves when the load may start. */
      untilStart?: () => Promise<void>;
    },
  ): Promise<Measured> {
    const urls = await this.#addresses(options.processes);
    const connections = Math.ceil(options.connections / urls.length);
    const run = (seconds: number): Promise<WrkResult[]> =>
      Promise.all(urls.map((url) => runWrk({ ...this.#target(url, load), seconds, connections })));
    const warmUpSeconds = this.#warmUpSeconds(load.call, urls.length, options.warmUpSeconds);
    if (warmUpSeconds > 0) await run(warmUpSeconds);
    // Counting rows sets hint bits, which writes to the WAL. So bytes are read after the first count and before the second.
    const rowsBefore = await this.#countAtRest();
    const bytesBefore = await this.#count(BYTES);
    await options.untilStart?.();
    const pids = this.#services.map(({ pid }) => pid);
    const timesBefore = await readProcessorTimes(this.#server, this.#database, pids);
    const results = await run(options.seconds);
    const times = await readProcessorTimes(this.#server, this.#database, pids);
    const processorMs = millisecondsSince(timesBefore, times);
    const bytes = growth(bytesBefore, await this.#count(BYTES));
    const grown = growth(rowsBefore, await this.#count(ROWS));

    const errors = sum(results.map((result) => result.errors));
    if (errors > 0) throw new Error(`${load.call}: ${errors} calls failed or were denied`);
    const read = sum(results.map((result) => result.requests));
    const done = storedCalls(load.call, grown) ?? read;
    // Calls that are open when wrk stops are stored, but not counted by it.
    if (done < read || done > read + connections * urls.length) {
      throw new Error(`${load.call}: wrk read ${read} responses, but ${done} are stored`);
    }
    // The last holds may still be open.
    if (load.call !== "holds") expectGrowth(grown, ROWS_OF_CALL[load.call], done);
    return {
      perSecond: sum(results.map((result) => result.requests / result.seconds)),
      p50Ms: Math.max(...results.map((result) => result.p50Ms)),
      p99Ms: Math.max(...results.map((result) => result.p99Ms)),
      storedBytesPerCall: (bytes["stored"] ?? Number.NaN) / done,
      walBytesPerCall: (bytes["wal"] ?? Number.NaN) / done,
      processorMicrosPerCall: (processorMs * 1_000) / done,
    };
  }

  /** Measures at a fixed rate, through one process. */
  async measureAtRate(
    load: Load,
    options: { seconds: number; perSecond: number; tracedEvery?: number },
  ): Promise<OpenLoopResult> {
    const [url = ""] = await this.#addresses(1);
    const before = await this.#countAtRest();
    const result = await runOpenLoop({
      ...{ ...this.#target(url, load), ...options },
      warmUpSeconds: WARM_UP_SECONDS,
      connections: OPEN_LOOP_CONNECTIONS,
      keyPrefix: `bench-${randomUUID().slice(0, 13)}-`,
    });
    if (result.errors > 0) throw new Error(`${load.call}: ${result.errors} calls failed or were denied`);
    expectGrowth(growth(before, await this.#count(ROWS)), ROWS_OF_CALL[load.call], result.sent);
    return result;
  }

  /** Events per second of multi-row inserts into this database, without Purser. */
  runBareBatches(options: { seconds: number; clients: number }): Promise<number> {
    return runBareBatches(this.#server, this.#database, options);
  }

  /** Calls `work` while a customer has this many open holds. */
  async withHolds<T>(customerId: string, holds: number, work: () => Promise<T>): Promise<T> {
    const run = randomUUID();
    const body = { customerId, feature: FEATURE, expiresInSeconds: 86_400 };
    const opened = await this.#callAll(
      Array.from({ length: holds }, (_, index) => ["holds", { ...body, idempotencyKey: `${run}-${index}` }]),
    );
    const result = await work();
    await this.#callAll(opened.map(({ holdId }) => [`holds/${holdId}/release`, { customerId }]));
    return result;
  }

  async charge(customerId: string): Promise<void> {
    await this.#callAll([["consume", { customerId, feature: FEATURE, idempotencyKey: randomUUID() }]]);
  }

  async #callAll(calls: readonly (readonly [path: string, body: object])[]): Promise<{ holdId: string }[]> {
    const [url = ""] = await this.#addresses(1);
    const headers = { authorization: `Bearer ${this.#apiKey}`, "content-type": "application/json" };
    const replies: { holdId: string }[] = [];
    for (let at = 0; at < calls.length; at += CALLS_AT_ONCE)
      replies.push(
        ...(await Promise.all(
          calls.slice(at, at + CALLS_AT_ONCE).map(async ([path, body]) => {
            const reply = await fetch(`${url}/v1/${path}`, {
              method: "POST",
              headers,
              body: JSON.stringify(body),
            });
            if (reply.status !== 200) throw new Error(`${path}: ${await reply.text()}`);
            return (await reply.json()) as { holdId: string };
          }),
        )),
      );
    return replies;
  }

  /** Checks that every charge of all measurements has its own key. */
  async checkCharges(): Promise<void> {
    const [row = {}] = await this.#server.query(this.#database, CHARGES);
    const counts = Object.values(row).map(Number);
    if (new Set(counts).size !== 1) throw new Error(`charges and keys differ: ${JSON.stringify(row)}`);
  }

  /** Runs `purser verify`. */
  async verify(): Promise<void> {
    await verify(this.#server.url(this.#database));
  }

  /** Stops all processes. The next measurement starts new processes and warms them up. */
  async stop(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
    this.#services = [];
    this.#warm.clear();
  }

  async #addresses(processes: number): Promise<readonly string[]> {
    while (this.#services.length < processes) {
      const databaseUrl = this.#server.url(this.#database);
      const options = { tree: this.#tree, environment: this.#environment };
      this.#services.push(await Service.start(databaseUrl, this.#stack, options));
    }
    return this.#services.slice(0, processes).map(({ url }) => url);
  }

  #target(url: string, { call, ...load }: Load) {
    return { url, apiKey: this.#apiKey, call: CALLS[call], ...load };
  }

  #warmUpSeconds(call: CallName, processes: number, later = WARM_UP_SECONDS): number {
    const name = `${call} ${processes}`;
    if (this.#warm.has(name)) return later;
    this.#warm.add(name);
    return Math.max(FIRST_WARM_UP_SECONDS, later);
  }

  /** Waits until no call from the previous load is open. */
  async #countAtRest(): Promise<Counts> {
    for (let last = await this.#count(ROWS); ; ) {
      await pause(QUIET_MS);
      const rows = await this.#count(ROWS);
      if (isDeepStrictEqual(rows, last)) return rows;
      last = rows;
    }
  }

  #count(queries: typeof ROWS | typeof BYTES): Promise<Counts> {
    return count(this.#server, this.#database, queries);
  }
}

/** Number of calls that stored rows. Null for checks, which store nothing. */
function storedCalls(call: CallName, grown: Counts): number | null {
  if (call === "check") return null;
  if (call === "batch") return (grown["keys"] ?? Number.NaN) / BATCH_EVENTS;
  return (grown["keys"] ?? Number.NaN) + (call === "holds" ? (grown["entries"] ?? Number.NaN) : 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
