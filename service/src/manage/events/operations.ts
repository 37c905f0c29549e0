import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { parsePublicId, parseTimedId, publicId } from "../../primitives/public-id.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import type { EventPosition } from "../../store/cell/event-list.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "../customers/operations.ts";
import { invalidField, readTime, strictObject, timeField } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import {
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { decodeCursor, encodeCursor, pageOf, pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { eventTimes } from "./event-time.ts";
import { AFTER_ALL, type EventFilter, listEvents, readEvent, UsageEvent } from "./list-events.ts";

const NOUN = "Events";
const access = { role: "viewer", in: "environment" } as const;

const filterQuery = {
  event: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      description: "Only events with this key.",
      examples: ["tokens.generated"],
    }),
  ),
  from: Type.Optional(timeField),
  to: Type.Optional(timeField),
  memberId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only events of this member.",
      examples: ["user_7"],
    }),
  ),
  metadata: Type.Optional(
    Type.String({
      pattern: "^[^=]+=",
      maxLength: 500,
      description:
        "Only events with this `key=value` at the top level of their metadata. Values are compared as text.",
      examples: ["model=large"],
    }),
  ),
};

const EventPage = Type.Object({ ...pageOf(UsageEvent).properties, ...windowAnswer });

const DESCRIPTION =
  "Returns usage events sorted by `occurredAt`, newest first. `from` is inclusive, `to` is exclusive. If you filter by event key, member " +
  "or metadata, a page can contain fewer than `limit` items, or none. Continue until `nextCursor` is null. Events before the workspace's " +
  "history window are not returned.";

export function eventOperations(parts: ManageParts): Operation[] {
  return [list(parts), ofCustomer(parts), read(parts)];
}

function list(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/events`,
    access,
    id: "listEvents",
    noun: NOUN,
    summary: "List usage events",
    description: DESCRIPTION,
    params: Type.Object(environmentParams),
    query: strictObject({
      ...pageQuery,
      ...filterQuery,
      customerId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ["customer_42"] })),
    }),
    answer: EventPage,
    handle: async (call) => {
      const { customerId } = call.query;
      const customer = customerId === undefined ? null : brandAs<CustomerId>(customerId);
      const { found, start } = await find(parts, call, customer);
      return { ...(found ?? { items: [], nextCursor: null }), ...describeWindow(start) };
    },
  });
}

function ofCustomer(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/events`,
    access,
    id: "listCustomerEvents",
    noun: NOUN,
    summary: "List a customer's usage events",
    description: DESCRIPTION,
    params: customerParams,
    query: strictObject({ ...pageQuery, ...filterQuery }),
    answer: EventPage,
    handle: async (call) => {
      const { found, start } = await find(parts, call, customerIdOf(call));
      if (found === null) throw customerNotFound();
      return { ...found, ...describeWindow(start) };
    },
  });
}

function read({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/events/:eventId`,
    access,
    id: "readEvent",
    noun: NOUN,
    summary: "Read a usage event",
    description:
      "Returns one usage event. For events before the workspace's history window, the call returns 404.",
    params: Type.Object({
      ...environmentParams,
      eventId: Type.String({ maxLength: 40, examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
    }),
    answer: UsageEvent,
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const id = parseTimedId("evt", call.params.eventId);
      const since = await historyStartOf(control, call);
      const event = id === null ? null : await readEvent(cellOf(scopeOf(call)), environmentId, { id, since });
      if (event !== null) return event;
      throw new Problem("not_found", { detail: "There is no such event in this environment." });
    },
  });
}

type Query = Partial<Record<"limit" | "cursor" | keyof typeof filterQuery, string>>;

/** Lists events within the history window. `found` is null if the customer does not exist. */
async function find(
  { control, cellOf }: ManageParts,
  call: Call<unknown, Query>,
  customerId: CustomerId | null,
) {
  const { environmentId } = scopeOf(call);
  const start = await historyStartOf(control, call);
  const before = readCursor(call.query.cursor);
  const filter: EventFilter = {
    customerId,
    event: call.query.event ?? null,
    memberId: call.query.memberId ?? null,
    metadata: readMetadata(call.query.metadata),
    times: eventTimes({
      from: readTime("from", call.query.from) ?? null,
      // Limits `to` to the cursor's time, so that the index scan starts at the cursor and skips later partitions.
      to: brandAs<Instant>(Math.min(readTime("to", call.query.to) ?? TIME_MAX, before.occurredAt + 1)),
      historyStart: start,
    }),
  };
  const page = { before, limit: readLimit(call.query.limit) };
  const listed = await listEvents(cellOf(scopeOf(call)), environmentId, filter, page);
  if (listed === null) return { found: null, start };
  const { events, next } = listed;
  return { found: { items: [...events], nextCursor: next === null ? null : writeCursor(next) }, start };
}

/** Reads a metadata filter, split at the first `=`. */
function readMetadata(text: string | undefined): EventFilter["metadata"] {
  if (text === undefined) return null;
  const end = text.indexOf("=");
  return { key: text.slice(0, end), value: text.slice(end + 1) };
}

function readCursor(cursor: string | undefined): EventPosition {
  const values = decodeCursor(cursor, ["number", "string"]);
  if (values === null) return AFTER_ALL;
  const [occurredAt, eventId] = values;
  const id = parsePublicId("evt", eventId);
  if (id !== null && occurredAt >= 0 && occurredAt <= TIME_MAX)
    return { occurredAt: brandAs<Instant>(occurredAt), id };
  const message = "is not a cursor from this list";
  throw invalidField({ field: "cursor", code: "wrong_form", message });
}

function writeCursor({ occurredAt, id }: EventPosition): string {
  return encodeCursor([occurredAt, publicId("evt", id)]);
}
