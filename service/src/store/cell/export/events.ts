import { bigints } from "../../../postgres/binary-array.ts";
import { boolean, describeRow, listRows, type RowOf } from "../../../postgres/row.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { Instant } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import type { EventPosition } from "../event-list.ts";
import { storedEvent } from "../event-list.ts";
import type { ExportRange } from "./estimate.ts";

const EVENT = describeRow({
  stored: storedEvent("e"),
  isSettled: boolean("e.transaction_number < $7 and e.transaction_number <> all($8::bigint[])"),
});

// Whether a row is settled is no condition: no index knows it, and where nearly all came later one statement would walk through
// them all to find the next that is.
const LIST = statement(
  "export.list_events",
  `
  select ${EVENT.list}
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
export type WalkedEvent = RowOf<typeof EVENT>["stored"] & { readonly isSettled: boolean };

/** The oldest first, those after this place; of the recorded range nothing is left out, it says where to look. */
export async function listExportedEvents(
  tx: Tx,
  range: ExportRange & RecordedRange,
  { after, limit }: { readonly after: EventPosition; readonly limit: number },
): Promise<WalkedEvent[]> {
  // Planned anew each time, for the parts of the table that are left.
  const parameters = [
    range.environmentId,
    formatTimestamp(after.occurredAt),
    formatTimestamp(range.to),
    after.id.toString("hex"),
    formatTimestamp(range.recordedFrom),
    formatTimestamp(range.recordedTo),
    range.settled.below,
    bigints(range.settled.without),
    limit,
  ];
  const rows = await listRows(tx, { ...LIST, name: "" }, parameters, EVENT);
  return rows.map(({ stored, isSettled }) => ({ ...stored, isSettled }));
}
