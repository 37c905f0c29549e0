import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";

/** A usage event, as people see one. */
export type StoredEvent = {
  readonly id: Uuid;
  readonly recordedAt: Instant;
  readonly occurredAt: Instant;
  readonly customerNumber: CustomerNumber;
  readonly event: string;
  readonly quantity: number;
  readonly requestId: string;
  /** JSON. */
  readonly metadata: string | null;
};

const FIND = statement(
  "explain.find_event",
  `
  select
    (extract(epoch from e.recorded_at) * 1000)::bigint,
    (extract(epoch from e.occurred_at) * 1000)::bigint,
    e.customer_number,
    e.event,
    e.quantity,
    e.metadata::text,
    e.request_id
  from cell.events as e
  where e.recorded_at = $2
    and e.id = $3
    and e.environment_id = $1`,
);

/** The id is a UUIDv7 of when it was recorded. Null: there is no such event in this environment. */
export async function findEvent(tx: Tx, environmentId: EnvironmentId, id: Uuid): Promise<StoredEvent | null> {
  const recordedAt = brandAs<Instant>(id.readUIntBE(0, 6));
  const { rows } = await tx.run(FIND, [environmentId, formatTimestamp(recordedAt), id.toString("hex")]);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    id,
    recordedAt: readInstant(row[0]),
    occurredAt: readInstant(row[1]),
    customerNumber: brandAs<CustomerNumber>(readInteger(row[2])),
    event: readText(row[3]),
    quantity: readInteger(row[4]),
    metadata: readNullable(row[5], readText),
    requestId: readText(row[6]),
  };
}
