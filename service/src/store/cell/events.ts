import { bigints, integers, texts, timestamps, uuids } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type {
  CustomerId,
  EnvironmentId,
  EventKey,
  Instant,
  MemberId,
  Quantity,
} from "../../primitives/brand.ts";
import type { Uuid } from "../../primitives/uuid.ts";

export type EventRow = {
  readonly recordedAt: Instant;
  readonly id: Uuid;
  readonly environmentId: EnvironmentId;
  readonly customerId: CustomerId;
  /** The customer's number. Null if this batch creates the customer. */
  readonly customerNumber: number | null;
  readonly event: EventKey;
  readonly quantity: Quantity;
  readonly occurredAt: Instant;
  readonly memberId: MemberId | null;
  readonly metadata: string | null;
  readonly requestId: string;
};

const INSERT = statement(
  "events.insert",
  `
  insert into cell.events
    (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, metadata, request_id, member_id)
  select
    e.recorded_at,
    e.id,
    e.environment_id,
    coalesce(
      e.customer_number,
      (
        select c.number
        from cell.customers as c
        where c.environment_id = e.environment_id
          and c.customer_id = e.customer_id
      )
    ),
    e.event,
    e.quantity,
    e.occurred_at,
    e.metadata::jsonb,
    e.request_id,
    e.member_id
  from unnest(
    $1::timestamptz[], $2::uuid[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::integer[],
    $8::timestamptz[], $9::text[], $10::text[], $11::text[]
  ) as e (
    recorded_at, id, environment_id, customer_number, customer_id, event, quantity, occurred_at, metadata, request_id,
    member_id
  )`,
);

/** Inserts events. If `customerNumber` is null, looks up the customer, who was inserted earlier in the same transaction. */
export function insertEvents(tx: Tx, events: readonly EventRow[]): Promise<Rows> {
  return tx.run(INSERT, [
    timestamps(events.map((event) => event.recordedAt)),
    uuids(events.map((event) => event.id)),
    integers(events.map((event) => event.environmentId)),
    bigints(events.map((event) => event.customerNumber)),
    texts(events.map((event) => (event.customerNumber === null ? event.customerId : null))),
    texts(events.map((event) => event.event)),
    integers(events.map((event) => event.quantity)),
    timestamps(events.map((event) => event.occurredAt)),
    texts(events.map((event) => event.metadata)),
    texts(events.map((event) => event.requestId)),
    texts(events.map((event) => event.memberId)),
  ]);
}

const LOCK_STORED = statement(
  "events.lock_stored",
  `
  select s.position
  from unnest($1::timestamptz[], $2::uuid[]) with ordinality as s (recorded_at, id, position)
  cross join lateral (
    select e.id
    from cell.events as e
    where e.recorded_at = s.recorded_at
      and e.id = s.id
    for update
  ) as e`,
);

export type EventName = { readonly recordedAt: Instant; readonly id: Uuid };

/**
 * Returns which of these events are stored. Used after a commit with an unknown outcome. The row locks write WAL, so this transaction's
 * commit waits until the standby also has the events.
 */
export async function lockStoredEvents(tx: Tx, events: readonly EventName[]): Promise<Set<EventName>> {
  const { rows } = await tx.run(LOCK_STORED, [
    timestamps(events.map((event) => event.recordedAt)),
    uuids(events.map((event) => event.id)),
  ]);
  const stored = new Set<EventName>();
  for (const row of rows) {
    const event = events[readInteger(row[0]) - 1];
    if (event !== undefined) stored.add(event);
  }
  return stored;
}
