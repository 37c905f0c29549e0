import { join } from "node:path";
import type { Client } from "pg";
import { connect } from "./connect.ts";
import { type Finding, inspectEssentials, inspectKeyDeletion, inspectPooler } from "./preflight.ts";

const CLOCK_DIFFERENCE_MAX_MS = 2_000;
const TRANSACTION_AGE_MAX_SECONDS = 5;

/** Runs all diagnostics. Returns true if none of them failed. */
export async function doctorCommand(options: {
  databaseUrl: string;
  idempotencyDays?: number | null;
  print: (line: string) => void;
}): Promise<boolean> {
  const client = await connect(options.databaseUrl);
  const other = await connect(options.databaseUrl);
  try {
    const pooler = await inspectPooler(client, other);
    if (pooler.level === "failure") {
      options.print(`${MARK.failure} ${pooler.about}: ${pooler.text}`);
      return false;
    }
    const findings = [
      pooler,
      ...(await inspectEssentials(client)),
      await inspectEncryption(client),
      ...(await inspectKeyDeletion(client, options.idempotencyDays ?? null)),
      await inspectClock(client),
      await inspectOldestTransaction(client),
      await inspectPartitions(client),
      ...(await inspectSearch(client)),
      await inspectCheckpoints(client),
      ...(await inspectKeyOrder(client)),
      await inspectSize(client),
    ];
    for (const { level, about, text } of findings) options.print(`${MARK[level]} ${about}: ${text}`);
    return findings.every((finding) => finding.level !== "failure");
  } finally {
    await Promise.all([client.end(), other.end()]);
  }
}

const MARK = { ok: "  ok     ", warning: "  warning", failure: "  FAILURE" } as const;

async function inspectEncryption(client: Client): Promise<Finding> {
  const { rows } = await client.query(`
    select
      coalesce(s.ssl, false) as is_encrypted,
      s.version,
      inet_server_addr() is null or inet_server_addr() <<= inet '127.0.0.0/8' or inet_server_addr() = inet '::1' as is_local
    from pg_stat_ssl as s
    where s.pid = pg_backend_pid()`);
  const about = "connection";
  if (rows[0]?.is_encrypted) return { level: "ok", about, text: `encrypted (${rows[0].version})` };
  if (rows[0]?.is_local) return { level: "ok", about, text: "not encrypted, but local" };
  const text =
    "not encrypted, and the database is on another machine: add ?sslmode=verify-full to DATABASE_URL";
  return { level: "warning", about, text };
}

async function inspectClock(client: Client): Promise<Finding> {
  const before = Date.now();
  const { rows } = await client.query("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  const middle = (before + Date.now()) / 2;
  const differenceMs = Math.round(Number(rows[0]?.now) - middle);
  const side = differenceMs < 0 ? "behind" : "ahead of";
  const text = `the database's clock is ${Math.abs(differenceMs)} ms ${side} this machine's`;
  const level = Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS ? "warning" : "ok";
  return { level, about: "clock", text: level === "ok" ? text : `${text}; Purser uses the database's clock` };
}

/** An old transaction prevents cleanup of dead row versions. Writes to a busy customer's row then become many times slower. */
async function inspectOldestTransaction(client: Client): Promise<Finding> {
  const { rows } = await client.query(`
    select
      coalesce(max(extract(epoch from clock_timestamp() - t.began_at)), 0)::integer as age,
      pg_has_role(current_user, 'pg_read_all_stats', 'usage') as sees_all
    from (
      select xact_start as began_at
      from pg_stat_activity
      where pid <> pg_backend_pid()
        and backend_type = 'client backend'
      union all
      -- Prepared transactions have no backend and stay open until they are finished by name.
      select prepared
      from pg_prepared_xacts
    ) as t`);
  const about = "oldest transaction";
  if (!rows[0]?.sees_all) {
    const text =
      "this role cannot see other roles' transactions: grant it pg_read_all_stats, or run as a superuser";
    return { level: "warning", about, text };
  }
  const age = Number(rows[0]?.age);
  const text = age === 0 ? "none" : `${age} s`;
  if (age <= TRANSACTION_AGE_MAX_SECONDS) return { level: "ok", about, text };
  return {
    level: "warning",
    about,
    text: `${text}: it slows down requests for busy customers; see pg_stat_activity and pg_prepared_xacts`,
  };
}

async function inspectPartitions(client: Client): Promise<Finding> {
  const { rows } = await client.query(`
    select
      to_regclass('cell.events') is not null as is_migrated,
      to_regclass('cell.events_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM'))
        is not null as exists`);
  const about = "partitions";
  if (rows[0]?.exists) return { level: "ok", about, text: "next month's partitions exist" };
  const remedy = rows[0]?.is_migrated ? "start the service" : "run purser migrate";
  return {
    level: "failure",
    about,
    text: `next month's partitions are missing: ${remedy} to create them`,
  };
}

const SEARCH_MIGRATION = join(import.meta.dirname, "../../migrations/cell/000043-parts-of-names.sql");

/** The migration skips the index if the server lacks either extension. Both may have been installed since then. */
async function inspectSearch(client: Client): Promise<Finding[]> {
  const { rows } = await client.query(`
    select
      to_regclass('cell.customers') is null or to_regclass('cell.customers_search') is not null as is_sound,
      (
        select count(*) = 2
        from pg_available_extensions
        where name in ('pg_trgm', 'btree_gin')
      ) as is_installed`);
  const about = "search";
  if (rows[0]?.is_sound) return [];
  const lacking =
    "customer searches scan the whole table, because the index cell.customers_search is missing";
  const first = rows[0]?.is_installed
    ? ""
    : "install the extensions pg_trgm and btree_gin on the server; then ";
  const text = `${lacking}: ${first}as the database owner, at a time when blocking writes to customers is acceptable, run: psql "$DATABASE_URL" -f ${SEARCH_MIGRATION}`;
  return [{ level: "warning", about, text }];
}

async function inspectCheckpoints(client: Client): Promise<Finding> {
  const { rows } = await client.query(`
    select
      current_setting('checkpoint_timeout') as timeout,
      extract(epoch from current_setting('checkpoint_timeout')::interval)::integer as seconds,
      current_setting('max_wal_size') as wal,
      pg_size_bytes(current_setting('max_wal_size')) as wal_bytes,
      pg_database_size(current_database()) as database_bytes`);
  const { timeout, seconds, wal, wal_bytes, database_bytes } = rows[0];
  return describeCheckpoints({
    timeout,
    wal,
    seconds: Number(seconds),
    walBytes: Number(wal_bytes),
    databaseBytes: Number(database_bytes),
  });
}

type Checkpoints = {
  /** As PostgreSQL shows the settings, such as "5min" and "1GB". */
  readonly timeout: string;
  readonly wal: string;
  readonly seconds: number;
  readonly walBytes: number;
  readonly databaseBytes: number;
};

const GB = 2 ** 30;
/**
 * A smaller database has few pages, and each is changed many times between two checkpoints, so checkpoint settings make little difference.
 */
const CHECKPOINTS_MATTER_BYTES = 10 * GB;
const CHECKPOINT_SECONDS_MIN = 900;
const WAL_BYTES_MIN = 16 * GB;

/** The first change of each page after a checkpoint writes the whole page to the WAL. */
export function describeCheckpoints(settings: Checkpoints): Finding {
  const { timeout, wal, seconds, walBytes, databaseBytes } = settings;
  const about = "checkpoints";
  const text = `checkpoint_timeout is ${timeout}, max_wal_size ${wal}`;
  const isRare = seconds >= CHECKPOINT_SECONDS_MIN && walBytes >= WAL_BYTES_MIN;
  if (isRare || databaseBytes < CHECKPOINTS_MATTER_BYTES) return { level: "ok", about, text };
  const remedy = "raise them to at least 15min and 16GB so that charges write less WAL";
  const cost = "this needs free disk space for max_wal_size, and makes crash recovery slower";
  return { level: "warning", about, text: `${text}: ${remedy}; ${cost}` };
}

/**
 * With fewer stored keys, most pages of their index are changed several times between two checkpoints, so the order of keys makes little
 * difference.
 */
const KEYS_MATTER = 10_000_000;
const RECENT_ENTRIES = 1_000;
const RECENT_KEYS_MIN = 100;

/** Time-ordered keys are adjacent in the index, so inserts change few pages. */
async function inspectKeyOrder(client: Client): Promise<Finding[]> {
  const stored = await client.query(`
    select coalesce(sum(greatest(c.reltuples, 0)), 0) as keys
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    where i.inhparent = to_regclass('cell.keyed_requests')`);
  if (Number(stored.rows[0]?.keys) < KEYS_MATTER) return [];
  const { rows } = await client.query(`
    select
      count(*)::integer as recent,
      (count(*) filter (
        where abs(('x' || left(replace(l.key_hash::text, '-', ''), 12))::bit(48)::bigint
          - extract(epoch from l.recorded_at) * 1000) < 86400000
      ))::integer as ordered
    from (
      select key_hash, recorded_at
      from cell.ledger
      order by transaction_number desc
      limit ${RECENT_ENTRIES}
    ) as l
    where l.key_hash is not null`);
  const { recent, ordered } = rows[0] ?? {};
  const about = "idempotency keys";
  const text = `${ordered} of the last ${recent} charges have a UUIDv7 or ULID as their key`;
  if (recent < RECENT_KEYS_MIN || ordered >= recent / 2) return [{ level: "ok", about, text }];
  const remedy =
    "if most keys were UUIDv7s or ULIDs, a charge after a checkpoint would write about 4 kB less WAL";
  return [{ level: "warning", about, text: `${text}: ${remedy}` }];
}

async function inspectSize(client: Client): Promise<Finding> {
  const { rows } = await client.query("select pg_size_pretty(pg_database_size(current_database())) as size");
  const text = `${rows[0]?.size} used by this database; PostgreSQL does not report free space`;
  return { level: "ok", about: "disk", text };
}
