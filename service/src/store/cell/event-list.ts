import { readBoolean } from "../../postgres/column.ts";
import {
  derive,
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
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type MemberId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";

/** Columns of the table `cell.events` with this alias. */
export const storedEvent = (alias: string) =>
  describeRow({
    id: uuid(`${alias}.id`),
    recordedAt: instant(`${alias}.recorded_at`),
    occurredAt: instant(`${alias}.occurred_at`),
    customerNumber: id<CustomerNumber>(`${alias}.customer_number`),
    event: text(`${alias}.event`),
    quantity: integer(`${alias}.quantity`),
    /** As JSON text. */
    metadata: orNull(text(`${alias}.metadata::text`)),
    requestId: text(`${alias}.request_id`),
    memberId: orNull(derive(text(`${alias}.member_id`), (value) => brandAs<MemberId>(value))),
  });

/** A usage event as the management API lists it. */
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

/** Finds an event. The ID is a UUIDv7 that contains `recorded_at`. Null if the environment has no such event. */
export function findEvent(tx: Tx, environmentId: EnvironmentId, eventId: Uuid): Promise<StoredEvent | null> {
  const recordedAt = brandAs<Instant>(eventId.readUIntBE(0, 6));
  return findRow(tx, FIND, [environmentId, formatTimestamp(recordedAt), eventId.toString("hex")], EVENT);
}

const SCANNED = storedEvent("w");
const [IS_SHOWN, IS_END] = [SCANNED.columns.length, SCANNED.columns.length + 1];

// Scans up to $9 rows of one index, newest `occurred_at` first. Returns the matching rows. If the scan stopped at $9 rows, also returns
// the last row. The range of `recorded_at` only prunes partitions.
const LIST = statement(
  "events.list",
  `
  with scanned as materialized (
    select
      e.id, e.recorded_at, e.occurred_at, e.customer_number, e.event, e.quantity, e.metadata, e.request_id, e.member_id,
      ($11::text is null or e.event = $11)
        and ($12::text is null or e.metadata ->> $12 = $13)
        and ($14::text is null or e.member_id = $14) as is_match
    from cell.events as e
    where e.environment_id = $1
      and ($2::bigint is null or e.customer_number = $2)
      and e.occurred_at >= $3::timestamptz
      and e.occurred_at < $4::timestamptz
      and e.recorded_at >= $5::timestamptz
      and e.recorded_at < $6::timestamptz
      and (e.occurred_at, e.id) < ($7::timestamptz, $8::uuid)
    order by e.occurred_at desc, e.id desc
    limit $9
  ),
  places as (
    select
      w.id,
      row_number() over in_order as place,
      w.is_match and count(*) filter (where w.is_match) over in_order <= $10 as is_shown
    from scanned as w
    window in_order as (order by w.occurred_at desc, w.id desc)
  )
  select ${SCANNED.list},
    p.is_shown,
    p.place = $9
  from places as p
  join scanned as w on w.id = p.id
  where p.is_shown
    or p.place = $9
  order by p.place`,
);

export type EventPosition = { readonly occurredAt: Instant; readonly id: Uuid };

export type EventRange = {
  readonly customer: CustomerNumber | null;
  /** The range of `occurred_at`. The scan starts at `to`, which is shortly after `before`. */
  readonly from: Instant;
  readonly to: Instant;
  /** The range of `recorded_at` that events in this range can have. */
  readonly recordedFrom: Instant;
  readonly recordedTo: Instant;
  /** Only events before this position. */
  readonly before: EventPosition;
  readonly event: string | null;
  readonly memberId: string | null;
  readonly metadata: { readonly key: string; readonly value: string } | null;
  /** Maximum number of rows to scan. */
  readonly scannedMax: number;
  /** Maximum number of matching rows to return. */
  readonly limit: number;
};

export type ScannedEvents = {
  readonly events: readonly StoredEvent[];
  /** The position after which to resume the scan. Null if the scan reached the end. */
  readonly end: EventPosition | null;
};

/** Lists events in descending order of `occurred_at`. */
export async function listEvents(
  tx: Tx,
  environmentId: EnvironmentId,
  range: EventRange,
): Promise<ScannedEvents> {
  const { from, to, recordedFrom, recordedTo, before, event, metadata } = range;
  // Unnamed, so that PostgreSQL makes a query plan for these filters.
  const { rows } = await tx.run({ ...LIST, name: "" }, [
    environmentId,
    range.customer,
    formatTimestamp(from),
    formatTimestamp(to),
    formatTimestamp(recordedFrom),
    formatTimestamp(recordedTo),
    formatTimestamp(before.occurredAt),
    before.id.toString("hex"),
    range.scannedMax,
    range.limit,
    event,
    metadata?.key ?? null,
    metadata?.value ?? null,
    range.memberId,
  ]);
  const end = rows.find((row) => readBoolean(row[IS_END]));
  return {
    events: rows.filter((row) => readBoolean(row[IS_SHOWN])).map(SCANNED.read),
    end: end === undefined ? null : SCANNED.read(end),
  };
}
