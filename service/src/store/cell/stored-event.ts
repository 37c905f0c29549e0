import { readBytes, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../words/brand.ts";
import type { Uuid } from "../../words/uuid.ts";

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

/** What `readStoredEvent` reads, of a row with the columns of cell.events. */
export const storedEventColumns = (alias: string): string => `
    uuid_send(${alias}.id),
    (extract(epoch from ${alias}.recorded_at) * 1000)::bigint,
    (extract(epoch from ${alias}.occurred_at) * 1000)::bigint,
    ${alias}.customer_number,
    ${alias}.event,
    ${alias}.quantity,
    ${alias}.metadata::text,
    ${alias}.request_id`;

/** Further columns come behind them. */
export function readStoredEvent(row: readonly unknown[]): StoredEvent {
  return {
    id: readBytes(row[0]),
    recordedAt: readInstant(row[1]),
    occurredAt: readInstant(row[2]),
    customerNumber: brandAs<CustomerNumber>(readInteger(row[3])),
    event: readText(row[4]),
    quantity: readInteger(row[5]),
    metadata: readNullable(row[6], readText),
    requestId: readText(row[7]),
  };
}
