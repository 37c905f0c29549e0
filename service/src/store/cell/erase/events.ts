import { readBoolean, readBytes, readInstant, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";
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
    encode(uuid_send(e.id), 'hex'),
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

const ERASE = statement(
  "erase.events",
  `
  update cell.events
  set metadata = null
  where customer_number = $1
    and occurred_at >= $2::timestamptz
    and occurred_at <= $3::timestamptz
    and recorded_at >= $4::timestamptz
    and metadata is not null`,
);

/** Where a page ends, by the events' own time. */
export type EventMoment = { readonly occurredAt: Instant; readonly id: string };

/** Before all events that were recorded at or after this. */
export function eventsBefore(recordedAt: Instant): EventMoment {
  return { occurredAt: brandAs<Instant>(recordedAt - LATE_MS_MAX), id: "0".repeat(32) };
}

export type ErasedEvents = {
  /** All of the page. */
  readonly ids: readonly Uuid[];
  /** How many of them had metadata. */
  readonly erased: number;
  /** Null: there is nothing after it. */
  readonly last: EventMoment | null;
};

export async function eraseEventsPage(
  tx: Tx,
  { customerNumber }: WalletName,
  page: { readonly after: EventMoment; readonly since: Instant; readonly rowsMax: number },
): Promise<ErasedEvents> {
  const after = formatTimestamp(page.after.occurredAt);
  const since = formatTimestamp(page.since);
  const { rows } = await tx.run(LIST_EVENTS_TO_ERASE, [
    customerNumber,
    after,
    page.after.id,
    since,
    page.rowsMax,
  ]);
  const last = rows.at(-1);
  if (last === undefined) return { ids: [], erased: 0, last: null };
  const until = { occurredAt: readInstant(last[0]), id: readText(last[1]) };
  const isNeeded = rows.some((row) => readBoolean(row[3]));
  const range = [customerNumber, after, formatTimestamp(until.occurredAt), since];
  const { rowCount } = isNeeded ? await tx.run(ERASE, range) : { rowCount: 0 };
  return { ids: rows.map((row) => readBytes(row[2])), erased: rowCount, last: until };
}
