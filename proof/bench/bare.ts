import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BenchServer, countRows } from "./server.ts";

const DATABASE = "bare";
const run = promisify(execFile);

/** Plain tables as a careful engineer would write them, with the same facts in them: a key row and an event row. */
export async function prepareBare(server: BenchServer): Promise<void> {
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

/** Transactions a second, by the rows that are there afterwards. */
export async function runBare(
  server: BenchServer,
  script: "transaction" | "one-statement",
  options: { seconds: number; connections: number },
): Promise<number> {
  const before = await countRows(server, DATABASE, "events");
  const { stdout } = await run(
    "pgbench",
    [
      ...["-n", "-M", "prepared", "-j", "2", "-D", "n=0", "-D", `run=${before}`],
      ...["-c", String(options.connections), "-T", String(options.seconds)],
      ...["-f", join(import.meta.dirname, `bare-${script}.sql`), server.url(DATABASE)],
    ],
    { env: { PATH: `${process.env["PATH"]}:/usr/lib/postgresql/15/bin`, LC_ALL: "C" } },
  );
  const reported = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1]);
  const counted = (await countRows(server, DATABASE, "events")) - before;
  if (Math.abs(counted / options.seconds / reported - 1) > 0.1) {
    throw new Error(`pgbench reports ${reported} a second, but ${counted} rows came in ${options.seconds} s`);
  }
  return reported;
}
