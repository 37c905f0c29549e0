import type { PostgresServer } from "../../harness/postgres.ts";
import { count, expectGrowth, growth } from "../server.ts";
import { runPgbench } from "./pgbench.ts";

const DATABASE = "bare_events";

/** Plain tables as a careful engineer would write them, with the same facts in them: a key row and an event row. */
export async function prepareBareEvents(server: PostgresServer): Promise<void> {
  await server.query("postgres", `create database ${DATABASE}`);
  await server.query(
    DATABASE,
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

const ROWS = { keys: "select count(*) from keys", events: "select count(*) from events" };

/** Transactions a second; each has left its two rows. */
export async function runBareEvents(
  server: PostgresServer,
  script: "event-transaction" | "event-one-statement",
  options: { seconds: number; clients: number },
): Promise<number> {
  const before = await count(server, DATABASE, ROWS);
  const { perSecond, transactions } = await runPgbench({ url: server.url(DATABASE), script, ...options });
  const grown = growth(before, await count(server, DATABASE, ROWS));
  expectGrowth(grown, { keys: transactions, events: transactions });
  return perSecond;
}
