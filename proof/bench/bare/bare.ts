import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { BATCH_EVENTS, CUSTOMERS } from "../../harness/calls.ts";
import { quantile } from "../../harness/figures.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { type Counts, count, expectGrowth, growth } from "../server.ts";

const CHARGES = "bare_charges";
const EVENTS = "bare_events";
const COST = 10;
/** Client counts to try. The best count depends on the machine, so the best result is used. */
const CLIENTS = [8, 16, 32, 64];
/** Reads pages that were not used recently, so that their full-page images are not part of the measurement. */
const WARM_UP = { seconds: 2, clients: 16 };

const run = promisify(execFile);

/**
 * Plain tables, as an experienced engineer would design them. The key row references its ledger row, so that nothing is
 * stored twice or updated after the insert. Pages of balances have free space for new row versions.
 */
export async function prepareBareCharges(server: PostgresServer): Promise<void> {
  const database = await server.createDatabase(CHARGES);
  await database.query(
    `create table keys (
       project_id integer not null,
       key text not null,
       environment_id integer not null,
       endpoint smallint not null,
       fingerprint bytea not null,
       allowed boolean not null,
       reason text,
       ledger_id uuid,
       recorded_at timestamptz not null,
       primary key (project_id, key)
     );
     create table balances (
       customer_id text primary key,
       balance bigint not null check (balance >= 0)
     ) with (fillfactor = 50);
     create table ledger (
       id uuid primary key default uuidv7(),
       customer_id text not null,
       feature text not null,
       quantity integer not null,
       amount bigint not null,
       balance_after bigint not null,
       recorded_at timestamptz not null
     );
     create index ledger_customer on ledger (customer_id, recorded_at);
     insert into balances (customer_id, balance)
     select 'customer_' || n, 1000000000
     from generate_series(1, ${CUSTOMERS}) as n;`,
  );
}

/** Plain tables that store the same data as an event in the service: a key row and an event row. */
export async function prepareBareEvents(server: PostgresServer): Promise<void> {
  const database = await server.createDatabase(EVENTS);
  await database.query(
    `create table keys (
       project_id integer not null,
       key text not null,
       environment_id integer not null,
       endpoint smallint not null,
       fingerprint bytea not null,
       event_id uuid not null,
       recorded_at timestamptz not null,
       primary key (project_id, key)
     );
     create table events (
       id uuid primary key,
       environment_id integer not null,
       customer_id text not null,
       event text not null,
       quantity integer not null,
       metadata jsonb,
       occurred_at timestamptz not null,
       recorded_at timestamptz not null,
       request_id text not null
     );`,
  );
}

export type BareCharges = { readonly perSecond: number; readonly clients: number };

/** Returns the best result over all client counts. For the hot customer, `customers` is 1. */
export async function runBareCharges(
  server: PostgresServer,
  options: { seconds: number; customers: number; onEach: (result: BareCharges) => void },
): Promise<BareCharges> {
  const { seconds, customers } = options;
  const measure = (load: { seconds: number; clients: number }): Promise<number> =>
    runPgbench(server, CHARGES, {
      ...{ ...load, script: "charge-transaction", variables: { customers } },
      rows: {
        keys: "select count(*) from keys",
        entries: "select count(*) from ledger",
        charged: "select -sum(balance) from balances",
      },
      expected: { keys: 1, entries: 1, charged: COST },
    });
  await measure(WARM_UP);
  let best: BareCharges = { perSecond: 0, clients: 0 };
  for (const clients of CLIENTS) {
    const perSecond = await measure({ seconds, clients });
    options.onEach({ perSecond, clients });
    if (perSecond > best.perSecond) best = { perSecond, clients };
  }
  return best;
}

export type BareLatency = { readonly p50Ms: number; readonly p99Ms: number };

/** Measures at a fixed rate. Latency is measured from the time at which a transaction was due. */
export async function runBareChargesAtRate(
  server: PostgresServer,
  options: { seconds: number; clients: number; perSecond: number },
): Promise<BareLatency> {
  const directory = await mkdtemp(join(tmpdir(), "pgbench-"));
  try {
    const { seconds, clients, perSecond } = options;
    await runPgbench(server, CHARGES, {
      ...{ seconds, clients, script: "charge-transaction", variables: { customers: CUSTOMERS } },
      ...{ rows: { keys: "select count(*) from keys" }, expected: { keys: 1 } },
      more: ["--rate", String(perSecond), "--log", "--log-prefix", join(directory, "log")],
    });
    const files = await readdir(directory);
    const logs = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")));
    // The third field is the latency in microseconds, including the delay after the transaction was due.
    const latencies = logs.flatMap((log) =>
      log
        .trimEnd()
        .split("\n")
        .map((line) => Number(line.split(" ")[2]) / 1_000),
    );
    return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Transactions per second. */
export function runBareEvents(
  server: PostgresServer,
  script: "event-transaction" | "event-one-statement",
  options: { seconds: number; clients: number },
): Promise<number> {
  const rows = { keys: "select count(*) from keys", events: "select count(*) from events" };
  return runPgbench(server, EVENTS, { ...options, script, rows, expected: { keys: 1, events: 1 } });
}

/** Events per second, inserted into Purser's own tables by transactions of two multi-row statements. Customers must exist. */
export async function runBareBatches(
  server: PostgresServer,
  database: string,
  options: { seconds: number; clients: number },
): Promise<number> {
  const ids = {
    first: "select min(number) from cell.customers",
    environment: "select min(environment_id) from cell.customers",
    project: "select min(project_id) from cell.keyed_requests",
  };
  const perSecond = await runPgbench(server, database, {
    ...options,
    script: "event-batch",
    variables: { ...(await count(server, database, ids)), customers: CUSTOMERS, events: BATCH_EVENTS },
    rows: {
      keys: "select count(*) from cell.keyed_requests",
      events: "select count(*) from cell.events",
    },
    expected: { keys: BATCH_EVENTS, events: BATCH_EVENTS },
  });
  return perSecond * BATCH_EVENTS;
}

type PgbenchOptions = {
  /** Name of an SQL file in this directory, without its extension. */
  readonly script: string;
  readonly seconds: number;
  readonly clients: number;
  readonly variables?: Readonly<Record<string, number>>;
  /** Queries that count rows. Each transaction increases each count by `expected`. */
  readonly rows: Readonly<Record<string, string>>;
  readonly expected: Counts;
  /** Further options of pgbench. */
  readonly more?: readonly string[];
};

/** Returns transactions per second, with prepared statements and keys that no other run uses. Checks the stored rows. */
async function runPgbench(
  server: PostgresServer,
  database: string,
  options: PgbenchOptions,
): Promise<number> {
  const before = await count(server, database, options.rows);
  const variables = { n: 0, run: randomInt(2 ** 32), ...options.variables };
  const { stdout } = await run(
    "pgbench",
    [
      ...["-n", "-M", "prepared", "-j", "2"],
      ...Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
      ...["-c", String(options.clients), "-T", String(options.seconds), ...(options.more ?? [])],
      ...["-f", join(import.meta.dirname, `${options.script}.sql`), server.url(database)],
    ],
    { env: { PATH: `${process.env["PATH"]}:/usr/lib/postgresql/15/bin`, LC_ALL: "C" } },
  );
  const perSecond = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1]);
  const transactions = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1]);
  const failed = Number(/failed transactions: (\d+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0 && transactions > 0 && failed === 0)) throw new Error(`pgbench failed:\n${stdout}`);
  expectGrowth(growth(before, await count(server, database, options.rows)), options.expected, transactions);
  return perSecond;
}
