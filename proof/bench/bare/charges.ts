import { CUSTOMERS } from "../../harness/load/calls.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { count, expectGrowth, growth } from "../server.ts";
import { runPgbench } from "./pgbench.ts";

const DATABASE = "bare_charges";
const COST = 10;
/** Which of them suits a machine best is its own affair; bare PostgreSQL is given the best of these. */
const CLIENTS = [8, 16, 32, 64];
/** Pages that were not touched since the last turn are read, and logged whole, before and not during the measurement. */
const WARM_UP = { seconds: 2, clients: 16 };

/**
 * Plain tables as a careful engineer would write them. The key row says which ledger row is its answer, so that nothing
 * is stored twice and nothing is updated after it was inserted; a page of balances keeps room for its next versions.
 */
export async function prepareBareCharges(server: PostgresServer): Promise<void> {
  await server.query("postgres", `create database ${DATABASE}`);
  await server.query(
    DATABASE,
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

export type BareCharges = { readonly perSecond: number; readonly clients: number };

/** The best of all numbers of clients; `customers` 1 is the hot one. */
export async function runBareCharges(
  server: PostgresServer,
  options: { seconds: number; customers: number; onEach: (result: BareCharges) => void },
): Promise<BareCharges> {
  await runCounted(server, { ...options, ...WARM_UP });
  let best: BareCharges = { perSecond: 0, clients: 0 };
  for (const clients of CLIENTS) {
    const perSecond = await runCounted(server, { ...options, clients });
    options.onEach({ perSecond, clients });
    if (perSecond > best.perSecond) best = { perSecond, clients };
  }
  return best;
}

const ROWS = {
  keys: "select count(*) from keys",
  entries: "select count(*) from ledger",
  charged: "select -sum(balance) from balances",
};

async function runCounted(
  server: PostgresServer,
  options: { seconds: number; customers: number; clients: number },
): Promise<number> {
  const { seconds, customers, clients } = options;
  const url = server.url(DATABASE);
  const before = await count(server, DATABASE, ROWS);
  const { perSecond, transactions } = await runPgbench({
    url,
    script: "charge-transaction",
    seconds,
    clients,
    variables: { customers },
  });
  const grown = growth(before, await count(server, DATABASE, ROWS));
  expectGrowth(grown, { keys: transactions, entries: transactions, charged: transactions * COST });
  return perSecond;
}
