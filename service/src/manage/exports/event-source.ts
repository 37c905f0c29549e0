import { TIMESTAMP_FUTURE_MAX_MS } from "../../entitlement/usage-event.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import { mapCustomerIds } from "../../store/cell/customers.ts";
import type { StoredEvent } from "../../store/cell/event-list.ts";
import { listExportedEvents } from "../../store/cell/export-rows.ts";
import { eventTimes } from "../events/event-time.ts";
import { type ExportJob, type Position, type Positioned, ROWS_MAX, type Source } from "./source.ts";

type Row = StoredEvent & { readonly eventId: string; readonly customerId: CustomerId | null };

export const eventSource: Source<Row> = {
  kind: "events",
  about: "Exports usage events by `occurredAt`, oldest first.",
  columns: [
    { name: "eventId", about: "event ID", of: ({ eventId }) => eventId },
    { name: "event", about: "event key", of: ({ event }) => event },
    {
      name: "customerId",
      about: "customer ID; empty if the customer was erased",
      of: ({ customerId }) => customerId,
    },
    { name: "quantity", about: "quantity", of: ({ quantity }) => quantity },
    {
      name: "occurredAt",
      about: "when the event occurred",
      of: ({ occurredAt }) => formatTimestamp(occurredAt),
    },
    {
      name: "recordedAt",
      about: "when the event was recorded",
      of: ({ recordedAt }) => formatTimestamp(recordedAt),
    },
    { name: "featureId", about: "always empty, because an event has no feature", of: () => null },
    {
      name: "metadata",
      about: "metadata as JSON",
      of: ({ metadata }) => (metadata === null ? null : { json: metadata }),
    },
    { name: "requestId", about: "`X-Request-Id` of the call", of: ({ requestId }) => requestId },
    { name: "memberId", about: "`memberId` of the request", of: ({ memberId }) => memberId },
  ],
  readPosition: ([at, id]) =>
    typeof id === "string" && parsePublicId("evt", id) !== null && at >= 0 && at <= TIME_MAX
      ? [at, id]
      : null,
  pages: readPages,
};

const BEFORE_ALL = Buffer.alloc(16);

async function* readPages(
  job: ExportJob,
  start: Position | null,
): AsyncGenerator<readonly Positioned<Row>[]> {
  const { cell, environmentId } = job;
  const to = endOf(job);
  let after = startAfter(job, start);
  for (;;) {
    const page = await single(cell, async (tx) => {
      // Limited to the remaining range, so that finished partitions are not read again.
      const times = eventTimes({ from: after.occurredAt, to, historyStart: null });
      const walked = await listExportedEvents(tx, { ...job, ...times }, { after, limit: ROWS_MAX });
      const events = walked.filter(({ isSettled }) => isSettled);
      const numbers = events.map(({ customerNumber }) => customerNumber);
      const customers = await mapCustomerIds(tx, environmentId, numbers);
      const rows = events.map((event) => ({
        ...event,
        eventId: publicId("evt", event.id),
        customerId: customers.get(event.customerNumber) ?? null,
      }));
      return { rows, last: walked.length < ROWS_MAX ? null : (walked.at(-1) ?? null) };
    });
    yield page.rows.map((row) => ({ row, position: [row.occurredAt, row.eventId] }));
    if (page.last === null) return;
    after = page.last;
  }
}

/** No exported event occurred after this time, so most events recorded since the export started are not scanned. */
function endOf({ to, settled }: ExportJob): Instant {
  return brandAs<Instant>(Math.min(to, settled.latestEvent + TIMESTAMP_FUTURE_MAX_MS + 1));
}

/** The position after which the export starts. A forged cursor must not reveal events before `from`. */
function startAfter({ from }: ExportJob, start: Position | null) {
  const [at, text] = start ?? [0, ""];
  const id = parsePublicId("evt", String(text));
  if (id === null || at < from) return { occurredAt: from, id: BEFORE_ALL };
  return { occurredAt: brandAs<Instant>(at), id };
}
