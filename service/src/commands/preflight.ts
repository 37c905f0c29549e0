import type { Client } from "pg";
import { readIdentitySequences } from "../postgres/identity-sequences.ts";
import { readDataFormat, readMigrationState } from "../postgres/migrate.ts";
import { begin, DATA_FORMAT, UnfitConnection } from "../postgres/own-backend.ts";

export type Finding = {
  readonly level: "ok" | "warning" | "failure";
  readonly about: string;
  readonly text: string;
};

/** Runs the checks that must pass before the service may acknowledge a request. */
export async function inspectEssentials(client: Client): Promise<Finding[]> {
  return [
    await inspectVersion(client),
    await inspectEncoding(client),
    ...(await inspectDurability(client)),
    await inspectMigrations(client),
    ...(await inspectDataFormat(client)),
    ...(await inspectTransactionIds(client)),
    ...(await inspectSequences(client)),
    ...(await inspectPrivileges(client)),
  ];
}

async function inspectVersion(client: Client): Promise<Finding> {
  const { rows } = await client.query("select current_setting('server_version_num')::integer as version");
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  const about = "PostgreSQL version";
  if (major < 15) return { level: "failure", about, text: `${major} is too old: Purser needs 15 or newer` };
  if (major > 18)
    return { level: "warning", about, text: `${major} is newer than the tested versions (15 to 18)` };
  return { level: "ok", about, text: String(major) };
}

/** Other encodings cannot store every character, or count one character as several. */
async function inspectEncoding(client: Client): Promise<Finding> {
  const { rows } = await client.query("select current_setting('server_encoding') as value");
  const value = String(rows[0]?.value);
  if (value === "UTF8") return { level: "ok", about: "encoding", text: value };
  return { level: "failure", about: "encoding", text: `${value}: create the database with encoding 'UTF8'` };
}

/** If one of these settings is off, a crash can lose or corrupt acknowledged requests. */
async function inspectDurability(client: Client): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const about of ["fsync", "full_page_writes"]) {
    const { rows } = await client.query("select current_setting($1) as value", [about]);
    const value = String(rows[0]?.value);
    findings.push(
      value === "on"
        ? { level: "ok", about, text: "on" }
        : {
            level: "failure",
            about,
            text: `${value}: turn it on, or a crash can lose acknowledged requests`,
          },
    );
  }
  findings.push(await inspectCommits(client));
  return findings;
}

/** Reports the role's default for `synchronous_commit`. Purser's connections override a weaker setting. */
async function inspectCommits(client: Client): Promise<Finding> {
  const { rows } = await client.query(
    "select reset_val as usual, setting as ours from pg_settings where name = 'synchronous_commit'",
  );
  const [usual, ours] = [String(rows[0]?.usual), String(rows[0]?.ours)];
  const text = usual === ours ? ours : `${usual} by default; Purser's connections use ${ours}`;
  return { level: "ok", about: "synchronous_commit", text };
}

/** Enough attempts to detect poolers that assign backends at random or in rotation. */
const POOLER_ROUNDS = 5;

/** Alternates between two connections. Behind a transaction pooler, one of them eventually runs on the other's backend. */
export async function inspectPooler(one: Client, other: Client): Promise<Finding> {
  const about = "pooler";
  try {
    for (let round = 0; round < POOLER_ROUNDS; round++) {
      for (const client of [one, other]) {
        await begin(client, "read committed, read only");
        await client.query("rollback");
      }
    }
  } catch (error) {
    if (!(error instanceof UnfitConnection)) throw error;
    return { level: "failure", about, text: error.message };
  }
  return { level: "ok", about, text: "none, or in session mode: each connection has its own backend" };
}

/** A charge that reuses an expired key deletes that key first, which requires the DELETE privilege. */
export async function inspectKeyDeletion(client: Client, idempotencyDays: number | null): Promise<Finding[]> {
  if (idempotencyDays === null) return [];
  const { rows } = await client.query(`
    select coalesce(bool_and(has_table_privilege(relid, 'delete')), true) as may_delete
    from pg_partition_tree(to_regclass('cell.keyed_requests'))`);
  const about = "IDEMPOTENCY_DAYS";
  if (rows[0]?.may_delete === true) return [{ level: "ok", about, text: `${idempotencyDays} days` }];
  const command = `IDEMPOTENCY_DAYS=${idempotencyDays} purser migrate --grant-to <this role>`;
  const text = `this role is not allowed to delete keys; as the database owner, run: ${command}`;
  return [{ level: "failure", about, text }];
}

/** After an upgrade, a service with a separate role needs privileges for the new tables and columns. */
async function inspectPrivileges(client: Client): Promise<Finding[]> {
  const { rows } = await client.query(`
    select
      bool_and(has_column_privilege(a.attrelid, a.attnum, 'update')) as may_erase,
      has_table_privilege(to_regclass('cell.overrides'), 'select')
        and has_table_privilege(to_regclass('cell.overrides'), 'insert') as may_override,
      has_table_privilege(to_regclass('cell.hold_changes'), 'insert')
        and has_table_privilege(to_regclass('cell.open_holds'), 'delete') as may_hold,
      has_table_privilege(to_regclass('cell.grant_moves'), 'select')
        and has_table_privilege(to_regclass('cell.grant_moves'), 'insert') as may_move,
      has_table_privilege(to_regclass('cell.webhooks'), 'select')
        and has_table_privilege(to_regclass('cell.notices'), 'insert')
        and has_table_privilege(to_regclass('cell.due_plans'), 'insert') as may_notify
    from pg_attribute as a
    where a.attrelid in (to_regclass('cell.ledger'), to_regclass('cell.denials'), to_regclass('cell.events'))
      and a.attname = 'member_id'`);
  const lacking = [
    ...(rows[0]?.may_erase === false ? ["erase customers"] : []),
    ...(rows[0]?.may_override === false ? ["verify wallets and use overrides"] : []),
    ...(rows[0]?.may_hold === false ? ["hold credits"] : []),
    ...(rows[0]?.may_move === false ? ["list and move grants"] : []),
  ].join(" and ");
  const advice = "as the database owner, run purser migrate --grant-to <this role>";
  const findings: Finding[] = [];
  // Charges write them, too, when a plan starts or ends or a threshold is crossed.
  if (rows[0]?.may_notify === false)
    findings.push({
      level: "failure",
      about: "privileges",
      text: `this role is not allowed to store notices and when plans end, so some charges fail: ${advice}`,
    });
  if (lacking !== "")
    findings.push({
      level: "warning",
      about: "privileges",
      text: `this role is not allowed to ${lacking}: ${advice}`,
    });
  return findings;
}

async function inspectMigrations(client: Client): Promise<Finding> {
  const state = await readMigrationState(client);
  const about = "migrations";
  switch (state.kind) {
    case "current":
      return { level: "ok", about, text: "current" };
    case "behind":
      return { level: "failure", about, text: `${state.pending.length} missing: run purser migrate` };
    case "ahead":
      // During a rolling deploy, the previous release runs on the new schema. Migrations are compatible with it.
      return { level: "warning", about, text: `the database is newer than this release (${state.name})` };
  }
}

/** A release that does not support the format would misread stored data. */
async function inspectDataFormat(client: Client): Promise<Finding[]> {
  const format = await readDataFormat(client);
  const about = "data format";
  if (format === null || format === DATA_FORMAT) return [];
  if (format > DATA_FORMAT) {
    const text = `${format} is newer than this release can read (${DATA_FORMAT}): upgrade Purser`;
    return [{ level: "failure", about, text }];
  }
  const text = `${format}; this release also supports ${DATA_FORMAT}: run purser migrate --finish once you are sure you will not roll back`;
  return [{ level: "warning", about, text }];
}

/** If another server with different transaction IDs wrote the existing rows, the usage roll-ups may lack new rows. */
async function inspectTransactionIds(client: Client): Promise<Finding[]> {
  const { rows: found } = await client.query("select to_regclass('cell.identity') is not null as exists");
  if (found[0]?.exists !== true) return [];
  const { rows } = await client.query("select cell.is_other_server() as is_other");
  const about = "transaction IDs";
  if (rows[0]?.is_other !== false) {
    const text =
      "the database was restored onto another server, or is a logical replica: run purser migrate again, then purser verify --usage";
    return [{ level: "failure", about, text }];
  }
  return [{ level: "ok", about, text: "consistent" }, ...(await inspectDoubt(client))];
}

/** Only a warning, because decisions do not use the roll-ups. */
async function inspectDoubt(client: Client): Promise<Finding[]> {
  const { rows } = await client.query(
    "select doubtful_since from cell.usage_progress where doubtful_since is not null",
  );
  const since = rows[0]?.doubtful_since;
  if (!(since instanceof Date)) return [];
  const text = `may lack rows recorded since ${since.toISOString()}, when the database moved to another server: run purser verify --usage`;
  return [{ level: "warning", about: "usage", text }];
}

/** A reused number would refer to another customer's rows or violate a constraint. */
async function inspectSequences(client: Client): Promise<Finding[]> {
  const sequences = await readIdentitySequences(client, { quickly: true });
  const about = "row numbers";
  const tablesOf = (some: typeof sequences): string => some.map(({ table }) => table).join(", ");
  const behind = sequences.filter(({ isBehind }) => isBehind);
  if (behind.length > 0) {
    const text = `the next generated numbers already exist in ${tablesOf(behind)}, as happens after logical replication: run purser migrate`;
    return [{ level: "failure", about, text }];
  }
  const halfUsed = sequences.filter(({ isHalfUsed }) => isHalfUsed);
  if (halfUsed.length === 0) return [{ level: "ok", about, text: "consistent" }];
  const text = `more than half of the range is used in ${tablesOf(halfUsed)}`;
  return [{ level: "warning", about, text }];
}
