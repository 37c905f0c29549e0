import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { CALLS, type CallName } from "../../harness/load/calls.ts";
import { type OpenLoopResult, runOpenLoop } from "../../harness/load/open-loop.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { Service, THIS_TREE, verify } from "../../harness/purser.ts";
import { runWrk, type WrkResult } from "../load/wrk.ts";
import { type Counts, count, expectGrowth, growth } from "../server.ts";

/** A service runs for weeks; its first seconds, while the compiler is at work, are not what is measured. */
const FIRST_WARM_UP_SECONDS = 8;
const WARM_UP_SECONDS = 2;
/** More than are ever under way: a call that is due must not wait for one that is slow. */
const OPEN_LOOP_CONNECTIONS = 256;
const QUIET_MS = 500;

/** What a call leaves behind, so that no answer is counted whose work was not done, or done twice. */
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
};

/** Tables, partitions and indexes of the cell, and the log written so far. */
const BYTES = {
  stored: `select sum(pg_total_relation_size(c.oid))
    from pg_class as c
    where c.relnamespace = 'cell'::regnamespace and c.relkind = 'r'`,
  wal: "select pg_current_wal_lsn() - '0/0'::pg_lsn",
};

/** Each charge is one entry under one key: these are all the same number. */
const CHARGES = `
  select
    count(*) as entries,
    count(q.key_hash) as entries_with_key,
    count(distinct l.key_hash) as keys_of_entries,
    (select count(*) from cell.keyed_requests where endpoint = 2) as keys
  from cell.ledger as l
  left join cell.keyed_requests as q on q.key_hash = l.key_hash and q.endpoint = 2
  where l.kind = 2`;

export type Load = { readonly call: CallName; readonly customers: number };

export type Measured = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly storedBytesPerCall: number;
  readonly walBytesPerCall: number;
};

/** Purser as it is run in production, and its callers. */
export class Purser {
  readonly #server: PostgresServer;
  readonly #stack: AsyncDisposableStack;
  readonly #tree: string;
  readonly #database: string;
  readonly #apiKey: string;
  readonly #urls: string[] = [];
  readonly #warm = new Set<string>();

  static async prepare(
    server: PostgresServer,
    stack: AsyncDisposableStack,
    { tree, database } = { tree: THIS_TREE, database: "purser" },
  ): Promise<Purser> {
    await server.query("postgres", `create database ${database}`);
    // By the code of that tree: its tables may differ from ours.
    const preparation: typeof import("./prepare-database.ts") = await import(
      join(tree, "proof/bench/purser/prepare-database.ts")
    );
    const apiKey = await preparation.prepareDatabase(server, database);
    return new Purser({ server, stack, tree, database, apiKey });
  }

  private constructor(parts: {
    readonly server: PostgresServer;
    readonly stack: AsyncDisposableStack;
    readonly tree: string;
    readonly database: string;
    readonly apiKey: string;
  }) {
    this.#server = parts.server;
    this.#stack = parts.stack;
    this.#tree = parts.tree;
    this.#database = parts.database;
    this.#apiKey = parts.apiKey;
  }

  /** As fast as it answers; the connections are shared out among the processes. */
  async measure(
    load: Load,
    options: {
      seconds: number;
      connections: number;
      processes: 1 | 2;
      warmUpSeconds?: number;
      /** Ends when the load may begin. */
      untilStart?: () => Promise<void>;
    },
  ): Promise<Measured> {
    const urls = await this.#addresses(options.processes);
    const connections = Math.ceil(options.connections / urls.length);
    const run = (seconds: number): Promise<WrkResult[]> =>
      Promise.all(
        urls.map((url) =>
          runWrk({
            url,
            apiKey: this.#apiKey,
            call: CALLS[load.call],
            customers: load.customers,
            seconds,
            connections,
          }),
        ),
      );
    const warmUpSeconds = this.#warmUpSeconds(load.call, urls.length, options.warmUpSeconds);
    if (warmUpSeconds > 0) await run(warmUpSeconds);
    // Counting sets hint bits, which are logged: the bytes are read on the inner side of it.
    const rowsBefore = await this.#countAtRest();
    const bytesBefore = await this.#count(BYTES);
    await options.untilStart?.();
    const results = await run(options.seconds);
    const bytes = growth(bytesBefore, await this.#count(BYTES));
    const grown = growth(rowsBefore, await this.#count(ROWS));

    const errors = sum(results.map((result) => result.errors));
    if (errors > 0) throw new Error(`${load.call}: ${errors} calls failed or were denied`);
    const read = sum(results.map((result) => result.requests));
    const done = (load.call === "check" ? null : grown["keys"]) ?? read;
    // Those under way when wrk stops are stored but not counted by it.
    if (done < read || done > read + connections * urls.length) {
      throw new Error(`${load.call}: wrk read ${read} answers, but ${done} are stored`);
    }
    expectGrowth(grown, rowsOf(load.call, done));
    return {
      perSecond: sum(results.map((result) => result.requests / result.seconds)),
      p50Ms: Math.max(...results.map((result) => result.p50Ms)),
      p99Ms: Math.max(...results.map((result) => result.p99Ms)),
      storedBytesPerCall: (bytes["stored"] ?? Number.NaN) / done,
      walBytesPerCall: (bytes["wal"] ?? Number.NaN) / done,
    };
  }

  /** At a fixed rate, through one process. */
  async measureAtRate(load: Load, options: { seconds: number; perSecond: number }): Promise<OpenLoopResult> {
    const [url = ""] = await this.#addresses(1);
    const before = await this.#countAtRest();
    const result = await runOpenLoop({
      url,
      apiKey: this.#apiKey,
      call: CALLS[load.call],
      customers: load.customers,
      perSecond: options.perSecond,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds: options.seconds,
      connections: OPEN_LOOP_CONNECTIONS,
      keyPrefix: `bench-${randomUUID().slice(0, 13)}-`,
    });
    if (result.errors > 0) throw new Error(`${load.call}: ${result.errors} calls failed or were denied`);
    expectGrowth(growth(before, await this.#count(ROWS)), rowsOf(load.call, result.sent));
    return result;
  }

  /** Over all that was measured: no charge without its key, none under another's. */
  async checkCharges(): Promise<void> {
    const [row = {}] = await this.#server.query(this.#database, CHARGES);
    const counts = Object.values(row).map(Number);
    if (new Set(counts).size !== 1) throw new Error(`charges and keys differ: ${JSON.stringify(row)}`);
  }

  /** Every wallet against its ledger, by the command that operators have for it. */
  async verify(): Promise<void> {
    await verify(this.#server.url(this.#database));
  }

  async #addresses(processes: number): Promise<readonly string[]> {
    while (this.#urls.length < processes) {
      const databaseUrl = this.#server.url(this.#database);
      this.#urls.push((await Service.start(databaseUrl, this.#stack, { tree: this.#tree })).url);
    }
    return this.#urls.slice(0, processes);
  }

  #warmUpSeconds(call: CallName, processes: number, later = WARM_UP_SECONDS): number {
    const name = `${call} ${processes}`;
    if (this.#warm.has(name)) return later;
    this.#warm.add(name);
    return FIRST_WARM_UP_SECONDS;
  }

  /** When nothing of the load before is under way any more: on a busy machine that takes longer than a moment. */
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

function rowsOf(call: CallName, done: number): Counts {
  return Object.fromEntries(Object.entries(ROWS_OF_CALL[call]).map(([name, each]) => [name, each * done]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
