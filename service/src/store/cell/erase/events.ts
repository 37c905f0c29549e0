import { timestamps, uuids } from "../../../postgres/binary-array.ts";
import { readBoolean, readBytes, readInstant } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { Uuid } from "../../../primitives/uuid.ts";
import type { WalletName } from "../wallets.ts";

/** An event is stored within 35 days of its own time. A day more, since the two clocks are read at two moments. */
const LATE_MS_MAX = 36 * 86_400_000;

// By the customer's own index, which has events by their own time. Of what is stored meanwhile, something may come before
// the page: the sweep after the customer was hidden looks at all that was recorded since the first one began.
export const LIST_EVENTS_TO_ERASE = statement(
  "erase.list_events",
  `
  select
    (extract(epoch from e.occurred_at) * 1000)::bigint,
    (extract(epoch from e.recorded_at) * 1000)::bigint,
    uuid_send(e.id),
    e.metadata is not null
  from cell.events as e
  where e.customer_number = $1
    and e.occurred_at >= $2::timestamptz
    and (e.occurred_at, e.id) > ($2::timestamptz, $3::uuid)
    and e.recorded_at >= $4::timestamptz
  order by e.occurred_at, e.id
  limit $5`,
);

// By the table's key: any number of a customer's events may be of the same moment, and a range of moments has no bound.
const ERASE = statement(
  "erase.events",
  `
  update cell.events as e
  set metadata = null
  from unnest($1::timestamptz[], $2::uuid[]) as d (recorded_at, id)
  where e.recorded_at = d.recorded_at
    and e.id = d.id
    and e.metadata is not null`,
);

/** Where a page ends, by the events' own time. */
export type EventMoment = { readonly occurredAt: Instant; readonly id: string };

/** Before all events that were recorded at or after this. */
export function eventsBefore(recordedAt: Instant): EventMoment {
  return { occurredAt: brandAs<Instant>(recordedAt - LATE_MS_MAX), id: "0".repeat(32) };
}

export type EventToErase = { readonly recordedAt: Instant; readonly id: Uuid; readonly hasMetadata: boolean };

export type EventsToErase = {
  readonly events: readonly EventToErase[];
  /** Null: there is nothing after it. */
  readonly last: EventMoment | null;
  /** All of them, so that there may be many more of it. */
  readonly areOfOneMoment: boolean;
};

/** A customer's next events, with those that have no metadata: they may have a key. */
export async function listEventsToErase(
  tx: Tx,
  { customerNumber }: WalletName,
  page: { readonly after: EventMoment; readonly since: Instant; readonly rowsMax: number },
): Promise<EventsToErase> {
  const { rows } = await tx.run(LIST_EVENTS_TO_ERASE, [
    customerNumber,
    formatTimestamp(page.after.occurredAt),
    page.after.id,
    formatTimestamp(page.since),
    page.rowsMax,
  ]);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return { events: [], last: null, areOfOneMoment: false };
  const events = rows.map(([, recordedAt, id, hasMetadata]) => ({
    recordedAt: readInstant(recordedAt),
    id: readBytes(id),
    hasMetadata: readBoolean(hasMetadata),
  }));
  const occurredAt = readInstant(last[0]);
  return {
    events,
    last: { occurredAt, id: readBytes(last[2]).toString("hex") },
    areOfOneMoment: readInstant(first[0]) === occurredAt,
  };
}

/** Takes the metadata of these: the one change that the table allows. */
export async function eraseEvents(tx: Tx, events: readonly EventToErase[]): Promise<number> {
  const { rowCount } = await tx.run(ERASE, [
    timestamps(events.map(({ recordedAt }) => recordedAt)),
    uuids(events.map(({ id }) => id)),
  ]);
  return rowCount;
}
