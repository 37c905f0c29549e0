import { readBoolean, readBytes, readInstant } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";
import type { WalletName } from "../wallets.ts";
import type { Moment } from "./denials.ts";

// The index that leads from a customer to their events has them by their own time, and who is erased may still be written
// about: nothing may be missed. So all events are looked at, in the order in which they were stored, a page at a time; of the
// page come back those of the customer, and its last one.
const LIST = statement(
  "erase.list_events",
  `
  with page as materialized (
    select e.recorded_at, e.id, e.customer_number = $1 as is_own, e.metadata is not null as has_metadata
    from cell.events as e
    where e.recorded_at >= $2::timestamptz
      and (e.recorded_at, e.id) > ($2::timestamptz, $3::uuid)
    order by e.recorded_at, e.id
    limit $4
  )
  select
    (extract(epoch from p.recorded_at) * 1000)::bigint,
    uuid_send(p.id),
    p.is_own,
    p.has_metadata
  from page as p
  where p.is_own
    or (p.recorded_at, p.id) = (
      select l.recorded_at, l.id
      from page as l
      order by l.recorded_at desc, l.id desc
      limit 1
    )
  order by p.recorded_at, p.id`,
);

const ERASE = statement(
  "erase.events",
  `
  update cell.events
  set metadata = null
  where recorded_at >= $2::timestamptz
    and recorded_at <= $3::timestamptz
    and customer_number = $1
    and metadata is not null`,
);

export type ErasedEvents = {
  /** All of the customer's events in the page. */
  readonly ids: readonly Uuid[];
  /** How many of them had metadata. */
  readonly erased: number;
  /** Null: there is nothing after it. */
  readonly last: Moment | null;
};

export async function eraseEventsPage(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: Moment; readonly rowsMax: number },
): Promise<ErasedEvents> {
  const since = formatTimestamp(after.recordedAt);
  const { rows } = await tx.run(LIST, [customerNumber, since, after.id, rowsMax]);
  const last = rows.at(-1);
  if (last === undefined) return { ids: [], erased: 0, last: null };
  const own = rows.filter((row) => readBoolean(row[2]));
  const isNeeded = own.some((row) => readBoolean(row[3]));
  const until = { recordedAt: readInstant(last[0]), id: readBytes(last[1]).toString("hex") };
  const range = [customerNumber, since, formatTimestamp(until.recordedAt)];
  const { rowCount } = isNeeded ? await tx.run(ERASE, range) : { rowCount: 0 };
  return { ids: own.map((row) => readBytes(row[1])), erased: rowCount, last: until };
}
