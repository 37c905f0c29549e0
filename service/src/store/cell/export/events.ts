import { bigints } from "../../../postgres/binary-array.ts";
import {
  readBoolean,
  readBytes,
  readInstant,
  readInteger,
  readNullable,
  readText,
} from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { EventPlace } from "../event-list.ts";
import type { StoredEvent } from "../explain/events.ts";
import type { ExportRange } from "./estimate.ts";

// Whether a row is settled is no condition: no index knows it, and where nearly all came later one statement would walk through
// them all to find the next that is.
const LIST = statement(
  "export.list_events",
  `
  select
    uuid_send(e.id),
    (extract(epoch from e.recorded_at) * 1000)::bigint,
    (extract(epoch from e.occurred_at) * 1000)::bigint,
    e.customer_number,
    e.event,
    e.quantity,
    e.metadata::text,
    e.request_id,
    e.transaction_number < $7 and e.transaction_number <> all($8::bigint[])
  from cell.events as e
  where e.environment_id = $1
    and e.occurred_at >= $2::timestamptz
    and e.occurred_at < $3::timestamptz
    and (e.occurred_at, e.id) > ($2::timestamptz, $4::uuid)
    and e.recorded_at >= $5::timestamptz
    and e.recorded_at < $6::timestamptz
  order by e.occurred_at, e.id
  limit $9`,
);

/** When anything of the time that is left can have been recorded: from here, and before there. */
export type RecordedRange = { readonly recordedFrom: Instant; readonly recordedTo: Instant };

/** Also one that came after the export began, which is not in it. */
export type WalkedEvent = StoredEvent & { readonly isSettled: boolean };

/** The oldest first, those after this place; of the recorded range nothing is left out, it says where to look. */
export async function listExportedEvents(
  tx: Tx,
  range: ExportRange & RecordedRange,
  { after, limit }: { readonly after: EventPlace; readonly limit: number },
): Promise<WalkedEvent[]> {
  // Planned anew each time, for the parts of the table that are left.
  const { rows } = await tx.run({ ...LIST, name: "" }, [
    range.environmentId,
    formatTimestamp(after.occurredAt),
    formatTimestamp(range.to),
    after.id.toString("hex"),
    formatTimestamp(range.recordedFrom),
    formatTimestamp(range.recordedTo),
    range.settled.below,
    bigints(range.settled.without),
    limit,
  ]);
  return rows.map((row) => ({
    id: readBytes(row[0]),
    recordedAt: readInstant(row[1]),
    occurredAt: readInstant(row[2]),
    customerNumber: brandAs<CustomerNumber>(readInteger(row[3])),
    event: readText(row[4]),
    quantity: readInteger(row[5]),
    metadata: readNullable(row[6], readText),
    requestId: readText(row[7]),
    isSettled: readBoolean(row[8]),
  }));
}
