import type { TestDatabase } from "./harness.ts";
import { windBack } from "./wind-back.ts";

/** Columns that contain times of past actions, and IDs that start with such a time. */
const TABLES = {
  ledger: { times: ["recorded_at", "effective_at"], ids: [] },
  denials: { times: ["recorded_at", "resets_at"], ids: ["id"] },
  events: { times: ["recorded_at", "occurred_at"], ids: ["id"] },
  grants: { times: ["recorded_at", "effective_at", "expires_at", "revoked_at"], ids: [] },
  assignments: { times: ["recorded_at", "effective_at", "anchor", "ends_at"], ids: [] },
  keyed_requests: { times: ["recorded_at"], ids: ["subject_id"] },
  request_log: { times: ["recorded_at", "occurred_at"], ids: ["id"] },
} as const;

/** Moves the whole history into the past by this much. */
export async function ageHistory(database: TestDatabase, ms: number): Promise<void> {
  await windBack(database, ms);
  await database.query("select cell.ensure_monthly_partitions(12, 0)");
  // Disables the append-only triggers for this session. Needs a superuser.
  await database.query("set session_replication_role = replica");
  for (const [table, { times, ids }] of Object.entries(TABLES)) {
    const earlier = times.map((time) => `${time} = ${time} - make_interval(secs => ${ms / 1000})`);
    const renamed = ids.map((id) => `${id} = ${renameAt(id, ms)}`);
    await database.query(`update cell.${table} set ${[...earlier, ...renamed].join(", ")}`);
  }
  await database.query(
    `update cell.request_counts set hour = date_trunc('hour', hour - make_interval(secs => ${ms / 1000}))`,
  );
  await database.query("set session_replication_role = origin");
}

/** Moves the audit log of the cell into the past, with the IDs by which the entries of a bulk change refer to its start. */
export async function ageAudit(database: TestDatabase, ms: number): Promise<void> {
  await database.query("set session_replication_role = replica");
  const start = renameAt("(after ->> 'inBulk')", ms);
  await database.query(
    `update cell.audit
     set id = ${renameAt("id", ms)},
       recorded_at = recorded_at - interval '${ms} ms',
       after = case when after ? 'inBulk' then after || jsonb_build_object('inBulk', ${start}) else after end`,
  );
  await database.query("set session_replication_role = origin");
}

/** An SQL expression for the same ID with an earlier time. */
export function renameAt(id: string, ms: number): string {
  const hex = `replace(${id}::text, '-', '')`;
  const time = `('x' || lpad(left(${hex}, 12), 16, '0'))::bit(64)::bigint - ${ms}`;
  return `(lpad(to_hex(${time}), 12, '0') || substr(${hex}, 13))::uuid`;
}
