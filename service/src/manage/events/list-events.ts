import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp, TIME_MAX } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { findCustomers, mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import {
  type EventPosition,
  findEvent,
  listEvents as listStored,
  type StoredEvent,
} from "../../store/cell/event-list.ts";
import { parseMetadata } from "../explain/key-story.ts";
import { nullable, shownCustomerName, shownMember, timeField, timeOf } from "../fields.ts";
import { type EventTimes, eventTimes } from "./event-time.ts";

export const UsageEvent = Type.Object({
  eventId: Type.String({ examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  event: Type.String({ description: "The event key.", examples: ["tokens.generated"] }),
  featureId: Type.Null({
    description: "Always null, because an event has no feature and does not change a balance.",
  }),
  customerId: nullable(
    Type.String({ description: "Null if the customer was erased.", examples: ["customer_42"] }),
  ),
  customerName: shownCustomerName,
  quantity: Type.Integer({ examples: [1840] }),
  occurredAt: timeOf(
    "The event's `timestamp`, or the time at which the event was recorded if no `timestamp` was sent.",
  ),
  recordedAt: timeField,
  memberId: shownMember,
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  requestId: Type.String({
    description: "`X-Request-Id` of the call.",
    examples: ["req_01k9zq6n2wf3rvd0"],
  }),
});

export type UsageEvent = Static<typeof UsageEvent>;

export type EventFilter = {
  readonly customerId: CustomerId | null;
  readonly event: string | null;
  readonly memberId: string | null;
  readonly metadata: { readonly key: string; readonly value: string } | null;
  readonly times: EventTimes;
};

export type EventPage = { readonly events: readonly UsageEvent[]; readonly next: EventPosition | null };

/** A position later than every event. */
export const AFTER_ALL: EventPosition = {
  occurredAt: brandAs<Instant>(TIME_MAX),
  id: Buffer.alloc(16, 0xff),
};

/**
 * Maximum number of rows scanned for one page if no index supports the filter. If few rows match, the page is short. A customer's events
 * are spread over the table, so reading an event may need a disk read. Reading 1,000 of 50 million events took up to 190 ms.
 */
const WALKED_MAX = 2_000;
const WALKED_OF_CUSTOMER_MAX = 500;

/** Lists events by `occurredAt`, newest first. Null if the customer does not exist. */
export function listEvents(
  cell: Pool,
  environmentId: EnvironmentId,
  filter: EventFilter,
  page: { readonly before: EventPosition; readonly limit: number },
): Promise<EventPage | null> {
  return single(cell, async (tx) => {
    const { customerId, event, memberId, metadata, times } = filter;
    const customer = customerId === null ? null : await findNumber(tx, environmentId, customerId);
    if (customer === undefined) return null;
    const isWalk = event !== null || memberId !== null || metadata !== null;
    const scannedMax = customer === null ? WALKED_MAX : WALKED_OF_CUSTOMER_MAX;
    const { events, end } = await listStored(tx, environmentId, {
      ...times,
      customer,
      event,
      memberId,
      metadata,
      before: page.before,
      scannedMax: isWalk ? scannedMax : page.limit + 1,
      limit: page.limit + 1,
    });
    const shown = events.slice(0, page.limit);
    const last = shown.at(-1) ?? null;
    return {
      events: await describeEvents(tx, environmentId, shown),
      next: events.length > page.limit ? last : end,
    };
  });
}

/** Reads an event. Null if the event does not exist in this environment or is older than `since`. */
export function readEvent(
  cell: Pool,
  environmentId: EnvironmentId,
  { id, since }: { readonly id: Uuid; readonly since: Instant | null },
): Promise<UsageEvent | null> {
  return single(cell, async (tx) => {
    const found = await findEvent(tx, environmentId, id);
    if (found === null || found.occurredAt < eventTimes({ from: since, to: null, historyStart: null }).from)
      return null;
    const [event = null] = await describeEvents(tx, environmentId, [found]);
    return event;
  });
}

async function findNumber(
  tx: Tx,
  environmentId: EnvironmentId,
  customerId: CustomerId,
): Promise<CustomerNumber | undefined> {
  const [customer] = await findCustomers(tx, [{ environmentId, customerId }]);
  return customer === undefined ? undefined : brandAs<CustomerNumber>(customer.number);
}

async function describeEvents(
  tx: Tx,
  environmentId: EnvironmentId,
  events: readonly StoredEvent[],
): Promise<UsageEvent[]> {
  const numbers = events.map(({ customerNumber }) => customerNumber);
  const customers = await mapCustomers(tx, environmentId, numbers);
  return events.map((event) => ({
    eventId: publicId("evt", event.id),
    event: event.event,
    featureId: null,
    ...(customers.get(event.customerNumber) ?? NO_CUSTOMER),
    quantity: event.quantity,
    occurredAt: formatTimestamp(event.occurredAt),
    recordedAt: formatTimestamp(event.recordedAt),
    memberId: event.memberId,
    metadata: parseMetadata(event.metadata),
    requestId: event.requestId,
  }));
}
