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

/** Columns of `cell.events` under an alias. */
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

/** Finds an event. Its ID is a UUIDv7 of its `recorded_at`. Null if the environment has no such event. */
export function findEvent(tx: Tx, environmentId: EnvironmentId, eventId: Uuid): Promise<StoredEvent | null> {
  const recordedAt = brandAs<Instant>(eventId.readUIntBE(0, 6));
  return findRow(tx, FIND, [environmentId, formatTimestamp(recordedAt), eventId.toString("hex")], EVENT);
}

const SCANNED = storedEvent("w");
const [IS_SHOWN, IS_END] = [SCANNED.columns.length, SCANNED.columns.length + 1];

// Scans up to $9 rows by one index, ordered by `occurred_at`. Returns the matches, and the last row if the scan stopped there. The
// range of recorded_at only prunes partitions.
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
  /** Limits `occurred_at`. `to` is shortly after `before`, so the scan starts there. */
  readonly from: Instant;
  readonly to: Instant;
  /** The range in which these events can have been recorded. */
  readonly recordedFrom: Instant;
  readonly recordedTo: Instant;
  /** Only events before this position. */
  readonly before: EventPosition;
  readonly event: string | null;
  readonly memberId: string | null;
  readonly metadata: { readonly key: string; readonly value: string } | null;
  /** Maximum number of rows to scan. */
  readonly scannedMax: number;
  /** Maximum number of matches to return. */
  readonly limit: number;
};

export type ScannedEvents = {
  readonly events: readonly StoredEvent[];
  /** Where the scan resumes. Null if it reached the end. */
  readonly end: EventPosition | null;
};

/** Lists events, newest first. */
export async function listEvents(
  tx: Tx,
  environmentId: EnvironmentId,
  range: EventRange,
): Promise<ScannedEvents> {
  const { from, to, recordedFrom, recordedTo, before, event, metadata } = range;
  // Unnamed, so that PostgreSQL plans it for the given filters.
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
