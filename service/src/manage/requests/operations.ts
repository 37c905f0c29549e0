import { Type } from "typebox";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "../customers/operations.ts";
import { invalidField, nullable, readTime, strictObject, timeField, timeOf } from "../fields.ts";
import { describeWindow, historyStartOf, windowAnswer } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import { decodeCursor, encodeCursor, pageOf, pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { CustomerRequest, endpointField, LoggedRequest } from "./describe-request.ts";
import { type CustomerRequestCursor, listCustomerRequests } from "./list-customer-requests.ts";
import { listRequests } from "./list-requests.ts";
import { outcomeQuery, readOutcomeFilter } from "./outcome-filter.ts";
import { RequestSummary, summarizeRequests } from "./summarize-requests.ts";

const NOUN = "Requests";
const HOURS_MAX = 168;

const ABOUT_THE_LOG =
  "The log is kept for 7 days. Requests are logged about a second after the response, without delaying it. A crash can lose the log " +
  "entries of the last second. For each environment, a process logs at most 200 successful requests and 1,000 errors and denials per " +
  "second. The log contains no bodies, metadata or API keys.";

const featureQuery = Type.Optional(
  Type.String({
    maxLength: 120,
    description: "Only requests for this feature.",
    examples: ["image.generate"],
  }),
);

/** Lists and summarizes the request log of the runtime API. */
export function requestOperations(parts: ManageParts): Operation[] {
  return [list(parts), summary(parts), ofCustomer(parts)];
}

function list({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/requests`,
    access: { role: "viewer", in: "environment" },
    id: "listRequests",
    noun: NOUN,
    summary: "List the latest requests",
    description:
      "Lists logged requests, newest first. To poll for new requests, send the last `latestCursor` as `after`. With filters or a " +
      "history window, a page can contain fewer than `limit` items, or none. Continue as long as the response has a " +
      `\`nextCursor\`. ${ABOUT_THE_LOG}`,
    params: Type.Object(environmentParams),
    query: strictObject({
      ...pageQuery,
      after: Type.Optional(
        Type.String({
          maxLength: 100,
          description: "The `latestCursor` from an earlier response, to list only newer requests.",
        }),
      ),
      endpoint: Type.Optional(endpointField),
      ...outcomeQuery,
      feature: featureQuery,
      customerId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ["customer_42"] })),
      since: Type.Optional(timeField),
      until: Type.Optional(timeOf("Only requests before this time.")),
    }),
    answer: Type.Object({
      ...pageOf(LoggedRequest).properties,
      latestCursor: nullable(
        Type.String({
          description:
            "Send this value as `after` to read newer requests. Null if there are no requests yet.",
          examples: ["WyIwMTlhN…"],
        }),
      ),
      ...windowAnswer,
    }),
    handle: async (call) => {
      const scope = scopeOf(call);
      const { endpoint, feature, customerId, cursor, after, limit } = call.query;
      const start = await historyStartOf(control, call);
      const filter = {
        ...readOutcomeFilter(call.query),
        endpoint: endpoint ?? null,
        feature: feature ?? null,
        customerId: customerId === undefined ? null : brandAs<CustomerId>(customerId),
        since: laterOf(readTime("since", call.query.since) ?? null, start),
        until: readTime("until", call.query.until) ?? null,
        start,
      };
      const page = {
        before: readLogCursor("cursor", cursor),
        after: readLogCursor("after", after),
        limit: readLimit(limit),
      };
      const { items, next, latest } = await listRequests(cellOf(scope), scope, filter, page);
      return {
        items,
        nextCursor: next === null ? null : publicId("log", next),
        latestCursor: latest === null ? null : publicId("log", latest),
        ...describeWindow(start),
      };
    },
  });
}

function summary({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${ENVIRONMENT_PATH}/requests/summary`,
    access: { role: "viewer", in: "environment" },
    id: "summarizeRequests",
    noun: NOUN,
    summary: "Count requests by hour and outcome",
    description:
      "Counts all requests, including those that were not logged. `unknownFeatures` and `unnamedEvents` come from the newest 20,000 logged " +
      "requests. Events sent in batches are not in `unnamedEvents`.",
    params: Type.Object(environmentParams),
    query: strictObject({
      hours: Type.Optional(
        Type.String({
          pattern: "^([1-9]\\d?|1[0-5]\\d|16[0-8])$",
          description: `Number of hours, including the current hour: 1 to ${HOURS_MAX}. Default: 24.`,
          examples: ["24"],
        }),
      ),
    }),
    answer: Type.Object({ ...RequestSummary.properties, ...windowAnswer }),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const start = await historyStartOf(control, call);
      const window = { hours: Number(call.query.hours ?? "24"), start };
      return {
        ...(await summarizeRequests(cellOf(scopeOf(call)), environmentId, window)),
        ...describeWindow(start),
      };
    },
  });
}

function ofCustomer({ control, cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/requests`,
    access: { role: "viewer", in: "environment" },
    id: "listCustomerRequests",
    noun: NOUN,
    summary: "List a customer's requests",
    description:
      "Lists all charges and denials, and the other logged requests of the last 7 days, such as checks, usage events, errors and " +
      "replays. Newest first. Events sent in batches are not listed. With filters, a page can contain fewer than `limit` items, or none. " +
      "Continue as long as the response has a `nextCursor`.",
    params: customerParams,
    query: strictObject({
      ...pageQuery,
      ...outcomeQuery,
      feature: featureQuery,
      from: Type.Optional(timeOf("Only requests at or after this time.")),
      to: Type.Optional(timeOf("Only requests before this time.")),
    }),
    answer: Type.Object({ ...pageOf(CustomerRequest).properties, ...windowAnswer }),
    handle: async (call) => {
      const scope = scopeOf(call);
      const start = await historyStartOf(control, call);
      const { cursor, limit, feature } = call.query;
      const page = {
        from: readCustomerCursor(cursor),
        limit: readLimit(limit),
        times: {
          start,
          since: laterOf(readTime("from", call.query.from) ?? null, start),
          until: readTime("to", call.query.to) ?? null,
        },
        filter: { ...readOutcomeFilter(call.query), feature: feature ?? null },
      };
      const found = await listCustomerRequests(cellOf(scope), scope, customerIdOf(call), page);
      if (found === null) throw customerNotFound();
      const { items, next } = found;
      const nextCursor = next === null ? null : writeCustomerCursor(next);
      return { items, nextCursor, ...describeWindow(start) };
    },
  });
}

function laterOf(a: Instant | null, b: Instant | null): Instant | null {
  return a !== null && b !== null ? brandAs<Instant>(Math.max(a, b)) : (a ?? b);
}

function readLogCursor(field: "cursor" | "after", text: string | undefined): Uuid | null {
  if (text === undefined) return null;
  return parsePublicId("log", text) ?? refuseCursor(field);
}

function refuseCursor(field: string): never {
  throw invalidField({ field, code: "wrong_form", message: "is not a cursor from this list" });
}

function readCustomerCursor(text: string | undefined): CustomerRequestCursor | null {
  const values = decodeCursor(text, ["number", "number", "string", "string"]);
  if (values === null) return null;
  const [charge, recordedAt, denial, logged] = values;
  const isInTime = recordedAt >= 0 && recordedAt <= TIME_MAX;
  const id = parsePublicId("den", denial);
  if (id === null || !isInTime) return refuseCursor("cursor");
  return {
    charge,
    denial: { recordedAt: brandAs<Instant>(recordedAt), id },
    logged: logged === "" ? null : readLogCursor("cursor", logged),
  };
}

function writeCustomerCursor({ charge, denial, logged }: CustomerRequestCursor): string {
  const { recordedAt, id } = denial;
  return encodeCursor([
    charge,
    recordedAt,
    publicId("den", id),
    logged === null ? "" : publicId("log", logged),
  ]);
}
