import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { commit } from "./commit.ts";
import { raiseIdentitySequences } from "./identity-sequences.ts";
import { begin, claimBackend, DATA_FORMAT } from "./own-backend.ts";

/** No statement, foreign key or transaction touches both schemas. */
const SCHEMAS = ["control", "cell"] as const;
export type Schema = (typeof SCHEMAS)[number];

export type Migration = {
  readonly schema: Schema;
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
};

type MigrationState =
  | { kind: "current" }
  | { kind: "behind"; pending: readonly Migration[] }
  | { kind: "ahead"; name: string };

export class MigrationRefused extends Error {
  override readonly name = "MigrationRefused";
}

const DIRECTORY = join(import.meta.dirname, "../../migrations");

/** Applies missing migrations, each in its own transaction, and returns their names. Safe to run concurrently. */
export async function migrate(client: Client, directory = DIRECTORY): Promise<string[]> {
  const applied: string[] = [];
  for (const schema of SCHEMAS) {
    const files = await listMigrations(schema, directory);
    await inTransaction(client, () => client.query(bootstrap(schema)));
    for (;;) {
      const name = await inTransaction(client, () => applyNext(client, schema, files));
      if (name === null) break;
      applied.push(name);
    }
  }
  if ((await readDataFormat(client)) !== null && (await isUnused(client))) await raiseDataFormat(client);
  return applied;
}

/** Whether the database has no projects yet. If so, it gets the newest data format immediately. */
async function isUnused(client: Client): Promise<boolean> {
  const { rows } = await client.query("select not exists (select from control.projects) as is_unused");
  return rows[0]?.is_unused === true;
}

/** If the database was restored onto another server, continues transaction numbers above the existing ones and returns true. */
export async function followServer(client: Client): Promise<boolean> {
  const { rows } = await inTransaction(client, () =>
    client.query<{ is_other: boolean }>("select cell.follow_server() as is_other"),
  );
  return rows[0]?.is_other === true;
}

export const ORDINAL_MAX = 255;

/**
 * Assigns a range of customer numbers to a database without customers. Every consumeId contains the customer number, so projects
 * can move only between databases with different ordinals. Returns whether the ordinal changed.
 */
export function setOrdinal(client: Client, ordinal: number): Promise<boolean> {
  return inTransaction(client, async () => {
    if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > ORDINAL_MAX)
      throw new MigrationRefused(`the ordinal must be an integer from 0 to ${ORDINAL_MAX}`);
    const { rows } = await client.query<{ ordinal: number }>("select ordinal from cell.identity for update");
    if (rows[0]?.ordinal === ordinal) return false;
    // Changes nothing, but locks the sequence, so that no number is assigned until this transaction ends.
    await client.query("alter sequence cell.customers_number_seq no cycle");
    const used = await client.query(
      "select is_called or exists (select from cell.customers) as is_used from cell.customers_number_seq",
    );
    if (used.rows[0]?.is_used !== false)
      throw new MigrationRefused(
        `this database already has customer numbers of ordinal ${rows[0]?.ordinal}: the ordinal can only be set before the first customer`,
      );
    await restartCustomerNumbers(client, ordinal);
    await client.query("update cell.identity set ordinal = $1", [ordinal]);
    return true;
  });
}

async function restartCustomerNumbers(client: Client, ordinal: number): Promise<void> {
  const start = firstNumber(ordinal);
  await client.query(
    `alter sequence cell.customers_number_seq
     minvalue ${start} maxvalue ${(ordinal + 1) * 2 ** 32 - 1} start with ${start} restart with ${start}`,
  );
}

function firstNumber(ordinal: number): number {
  return Math.max(1, ordinal * 2 ** 32);
}

/**
 * Raises all sequences above the numbers of existing rows, because logical replication does not copy sequences. Also restores the
 * range of customer numbers, which is for ordinal 0 on the replica. Returns the tables whose sequence was raised.
 */
export function followNumbers(client: Client): Promise<string[]> {
  return inTransaction(client, async () => {
    const { rows } = await client.query<{ ordinal: number; first: string }>(
      `select i.ordinal, q.seqmin::text as first
       from cell.identity as i
       join pg_sequence as q on q.seqrelid = 'cell.customers_number_seq'::regclass`,
    );
    const { ordinal = 0, first = "1" } = rows[0] ?? {};
    if (Number(first) !== firstNumber(ordinal)) await restartCustomerNumbers(client, ordinal);
    return raiseIdentitySequences(client);
  });
}

/** Connections from processes that cannot read a data format. */
export type OlderProcess = {
  readonly release: string;
  readonly address: string;
  readonly connections: number;
};

export type FormatRaise =
  | { kind: "current"; format: number }
  | { kind: "raised"; from: number; to: number }
  | { kind: "older_processes"; processes: readonly OlderProcess[] };

/**
 * Raises the data format, unless a connected process cannot read the new format. Processes read the data format when they
 * connect. While the table is locked, each process is either visible in pg_stat_activity or will read the new format.
 */
export function raiseDataFormat(client: Client, to = DATA_FORMAT): Promise<FormatRaise> {
  return inTransaction(client, async () => {
    // New connections from the service queue behind this lock, so it must not wait long for a reader such as pg_dump.
    await client.query("set local lock_timeout = '200ms'");
    await client.query("lock table cell.identity in access exclusive mode");
    const from = (await readDataFormat(client)) ?? 0;
    if (from >= to) return { kind: "current", format: from };
    const processes = await listOlderProcesses(client, to);
    if (processes.length > 0) return { kind: "older_processes", processes };
    await client.query("update cell.identity set data_format = $1", [to]);
    return { kind: "raised", from, to };
  });
}

/** Null if the database does not store a data format yet. */
export async function readDataFormat(client: Client): Promise<number | null> {
  const { rows: found } = await client.query(
    `select exists (
       select from pg_attribute where attrelid = to_regclass('cell.identity') and attname = 'data_format'
     ) as exists`,
  );
  if (found[0]?.exists !== true) return null;
  const { rows } = await client.query<{ format: number }>("select data_format as format from cell.identity");
  return rows[0]?.format ?? null;
}

async function listOlderProcesses(client: Client, format: number): Promise<OlderProcess[]> {
  const { rows } = await client.query<OlderProcess>(
    `select
       substring(application_name from '^purser/(\\S+)') as release,
       -- The port is -1 for a socket, and null if this role is not allowed to see the address.
       case client_port when -1 then 'a local socket' else coalesce(host(client_addr), 'an address hidden from this role') end
         as address,
       count(*)::integer as connections
     from pg_stat_activity
     where datname = current_database()
       and pid <> pg_backend_pid()
       and application_name like 'purser/%'
       and coalesce(substring(application_name from ' format/(\\d+) ')::integer, 0) < $1
     group by 1, 2
     order by 1, 2`,
    [format],
  );
  return rows;
}

export async function readMigrationState(client: Client, directory = DIRECTORY): Promise<MigrationState> {
  const pending: Migration[] = [];
  for (const schema of SCHEMAS) {
    const files = await listMigrations(schema, directory);
    const exists = await client.query("select to_regclass($1) is not null as exists", [
      `${schema}.migrations`,
    ]);
    const done = exists.rows[0]?.exists ? await countApplied(client, schema, files) : 0;
    if (done > files.length) return { kind: "ahead", name: `${schema} ${done}` };
    pending.push(...files.slice(done));
  }
  return pending.length === 0 ? { kind: "current" } : { kind: "behind", pending };
}

async function applyNext(
  client: Client,
  schema: Schema,
  files: readonly Migration[],
): Promise<string | null> {
  const done = await countApplied(client, schema, files);
  if (done > files.length) {
    throw new MigrationRefused(
      `the database has ${schema} migration ${done}, which is newer than this release: upgrade Purser`,
    );
  }
  const next = files[done];
  if (next === undefined) return null;
  await client.query(next.sql);
  await client.query(`insert into ${schema}.migrations (number, name, checksum) values ($1, $2, $3)`, [
    next.number,
    next.name,
    next.checksum,
  ]);
  return `${schema}/${next.name}`;
}

/** Counts the applied migrations, and checks that each matches its file. */
async function countApplied(client: Client, schema: Schema, files: readonly Migration[]): Promise<number> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `select name, checksum from ${schema}.migrations order by number`,
  );
  for (const [index, row] of rows.entries()) {
    const file = files[index];
    if (file !== undefined && (file.name !== row.name || file.checksum !== row.checksum)) {
      throw new MigrationRefused(`${schema}/${row.name} was changed after it was applied`);
    }
  }
  return rows.length;
}

async function listMigrations(schema: Schema, directory: string): Promise<Migration[]> {
  const names = (await readdir(join(directory, schema))).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 6));
      if (number !== index + 1) throw new MigrationRefused(`${schema}/${name} is out of sequence`);
      const sql = await readFile(join(directory, schema, name), "utf8");
      return { schema, number, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/** Runs `work` under a lock for the whole database. A second migrator waits, and then has nothing to do. */
async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await claimBackend(client, { name: "migrate", isMigrated: false });
  await begin(client, "read committed");
  try {
    await client.query("select pg_advisory_xact_lock(hashtextextended('purser.migrations', 0))");
    // A migration that waits for a lock blocks the service's requests behind it, so it must not wait for long.
    await client.query("set local lock_timeout = '3s'");
    const result = await work();
    await commit(client);
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

function bootstrap(schema: Schema): string {
  return `
    create schema if not exists ${schema};
    create table if not exists ${schema}.migrations (
      number integer not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      constraint migrations_pkey primary key (number)
    );`;
}
