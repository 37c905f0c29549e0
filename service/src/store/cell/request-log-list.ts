import { sql } from "kysely";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import {
  readBoolean,
  readBytes,
  readInstant,
  readInteger,
  readNullable,
  readText,
} from "../../postgres/column.ts";
import type { Tx } from "../../postgres/statement.ts";
import { assert } from "../../words/assert.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../words/brand.ts";
import type { Uuid } from "../../words/uuid.ts";
import { query, runQuery } from "../query.ts";
import type { LoggedEndpoint, LoggedRequest, Refused } from "./request-log.ts";

/** A request as the log has it. */
export type LogRecord = Pick<
  LoggedRequest,
  | "requestId"
  | "endpoint"
  | "status"
  | "code"
  | "reason"
  | "isReplay"
  | "subject"
  | "keyHash"
  | "durationMs"
  | "refused"
  | "occurredAt"
> & {
  readonly id: Uuid;
  readonly recordedAt: Instant;
  readonly customerNumber: CustomerNumber | null;
};

/** Of an event its own time, of anything else when it was answered: on that a history window is measured. */
export function isWithin({ occurredAt, recordedAt }: LogRecord, start: Instant | null): boolean {
  return (occurredAt ?? recordedAt) >= (start ?? 0);
}

/** One column at most, each with an index that has the ids behind it. */
export type LogColumn =
  | { readonly column: "customer_number"; readonly value: CustomerNumber }
  | { readonly column: "code" | "reason"; readonly value: string }
  | { readonly column: "key_hash"; readonly value: ShortHash };

export type LogRange = {
  readonly by: LogColumn | null;
  /** Older than this one. */
  readonly before: Uuid | null;
  /** Newer than this one. */
  readonly after: Uuid | null;
  readonly limit: number;
};

/** The newest first. */
export async function listLogRecords(
  tx: Tx,
  environmentId: EnvironmentId,
  { by, before, after, limit }: LogRange,
): Promise<LogRecord[]> {
  let list = query
    .selectFrom("cell.request_log as l")
    .select([
      sql<Buffer>`uuid_send(l.id)`.as("id"),
      sql<string>`(extract(epoch from l.recorded_at) * 1000)::bigint`.as("recorded_at"),
      "l.request_id",
      "l.endpoint",
      "l.status",
      "l.code",
      "l.reason",
      "l.is_replay",
      "l.customer_number",
      "l.subject",
      sql<string | null>`encode(uuid_send(l.key_hash), 'hex')`.as("key_hash"),
      sql<string>`(l.duration_ms * 1000)::bigint`.as("duration_us"),
      sql<string | null>`l.refused::text`.as("refused"),
      sql<string | null>`(extract(epoch from l.occurred_at) * 1000)::bigint`.as("occurred_at"),
    ])
    .where("l.environment_id", "=", environmentId)
    // By name, not by the column of the same name that is selected.
    .orderBy(sql`l.id`, "desc")
    .limit(limit);
  if (by !== null) list = list.where(`l.${by.column}`, "=", by.value);
  if (before !== null) list = list.where("l.id", "<", before.toString("hex"));
  if (after !== null) list = list.where("l.id", ">", after.toString("hex"));
  const { rows } = await runQuery(tx, "request_log.list", list);
  return rows.map(readRecord);
}

function readRecord(row: readonly unknown[]): LogRecord {
  const [id, recordedAt, requestId, endpoint, status, code, reason, isReplay, ...rest] = row;
  const [customerNumber, subject, keyHash, durationUs, refused, occurredAt] = rest;
  return {
    id: readBytes(id),
    recordedAt: readInstant(recordedAt),
    requestId: readText(requestId),
    endpoint: readEndpoint(endpoint),
    status: readInteger(status),
    code: readNullable(code, readText),
    reason: readNullable(reason, readText),
    isReplay: readBoolean(isReplay),
    customerNumber: readNullable(customerNumber, (value) => brandAs<CustomerNumber>(readInteger(value))),
    subject: readNullable(subject, readText),
    keyHash: readNullable(keyHash, readText),
    durationMs: readInteger(durationUs) / 1000,
    // As `insertRequestLog` has written it.
    refused: readNullable(refused, (value): Refused => JSON.parse(readText(value))),
    occurredAt: readNullable(occurredAt, readInstant),
  };
}

export function readEndpoint(value: unknown): LoggedEndpoint {
  assert(value === "check" || value === "consume" || value === "events", "an endpoint is a known one");
  return value;
}
