import {
  describeRow,
  findRow,
  id,
  instant,
  integer,
  orNull,
  type RowOf,
  text,
  uuid,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { Uuid } from "../../words/uuid.ts";

/** Of a row with the columns of cell.events. */
export const storedEvent = (alias: string) =>
  describeRow({
    id: uuid(`${alias}.id`),
    recordedAt: instant(`${alias}.recorded_at`),
    occurredAt: instant(`${alias}.occurred_at`),
    customerNumber: id<CustomerNumber>(`${alias}.customer_number`),
    event: text(`${alias}.event`),
    quantity: integer(`${alias}.quantity`),
    /** JSON. */
    metadata: orNull(text(`${alias}.metadata::text`)),
    requestId: text(`${alias}.request_id`),
  });

/** A usage event, as people see one. */
export type StoredEvent = RowOf<ReturnType<typeof storedEvent>>;

const EVENT = storedEvent("e");

const FIND = statement(
  "events.find",
  `
  select ${EVENT.list}
  from cell.events as e
  where e.recorded_at = $2
    and e.id = $3
    and e.environment_id = $1`,
);

/** The id is a UUIDv7 of when it was recorded. Null: there is no such event in this environment. */
export function findEvent(tx: Tx, environmentId: EnvironmentId, eventId: Uuid): Promise<StoredEvent | null> {
  const recordedAt = brandAs<Instant>(eventId.readUIntBE(0, 6));
  return findRow(tx, FIND, [environmentId, formatTimestamp(recordedAt), eventId.toString("hex")], EVENT);
}
