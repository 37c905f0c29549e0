import { type Static, Type } from "typebox";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import { listKeyUses } from "../../store/cell/key-records.ts";
import { LOGGED_ENDPOINTS } from "../../store/cell/request-log.ts";
import type { LogRecord } from "../../store/cell/request-log-list.ts";
import { nullable, shownCustomerName, timeField } from "../fields.ts";

export const endpointField = Type.Enum([...LOGGED_ENDPOINTS]);

export const reasonField = nullable(
  Type.String({ description: "Set only for denials.", examples: ["insufficient_credits"] }),
);

export const codeField = nullable(
  Type.String({ description: "Set only for errors.", examples: ["idempotency_key_reused"] }),
);

/** Fields shared by `LoggedRequest` and `CustomerRequest`. */
export const requestFields = {
  recordedAt: timeField,
  endpoint: endpointField,
  status: Type.Integer({ examples: [200] }),
  code: codeField,
  reason: reasonField,
  isReplay: Type.Boolean({ description: "True if the stored response to an earlier request was returned." }),
  feature: nullable(
    Type.String({
      description: "The feature key as sent, even if the feature is not defined.",
      examples: ["image.generate"],
    }),
  ),
  event: nullable(Type.String({ description: "The event key as sent.", examples: ["tokens.generated"] })),
  idempotencyKey: nullable(
    Type.String({
      description: "Null if no response is stored for the request's idempotency key.",
      examples: ["job-7f3a-charge"],
    }),
  ),
};

export const CustomerRequest = Type.Object({
  kind: Type.Enum(["charge", "denial", "logged"], {
    description:
      "`charge` and `denial` are stored permanently. `logged` is from the request log, which is kept for 7 days.",
  }),
  id: Type.String({ examples: ["con_06fd5n0r000000000a00000001"] }),
  ...requestFields,
  quantity: nullable(Type.Integer({ description: "Null for logged requests.", examples: [1] })),
  credits: nullable(
    Type.Integer({
      description: "Credits charged, or credits that a denied request required.",
      examples: [10],
    }),
  ),
  balance: nullable(
    Type.Integer({ description: "Balance after the charge, or at the time of the denial.", examples: [90] }),
  ),
  memberId: nullable(
    Type.String({
      description:
        "The member ID in the request. Null for logged requests and for requests without a member.",
      examples: ["user_7"],
    }),
  ),
  reversedQuantity: nullable(
    Type.Integer({ description: "The quantity reversed so far. Set only for charges.", examples: [0] }),
  ),
});

export type CustomerRequest = Static<typeof CustomerRequest>;

export const LoggedRequest = Type.Object({
  id: Type.String({ examples: ["log_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  requestId: Type.String({
    description: "The `X-Request-Id` header of the response.",
    examples: ["req_01k9zq6n2wf3rvd0"],
  }),
  traceId: nullable(
    Type.String({
      description: "Trace ID from the caller's `traceparent` header.",
      examples: ["4bf92f3577b34da6a3ce929d0e0e4736"],
    }),
  ),
  ...requestFields,
  customerId: nullable(
    Type.String({
      description: "Null if the customer is unknown or was erased.",
      examples: ["customer_42"],
    }),
  ),
  customerName: shownCustomerName,
  durationMs: Type.Number({ examples: [3.2] }),
  counts: nullable(
    Type.Object(
      {
        accepted: Type.Integer({ description: "Events that were stored.", examples: [98] }),
        replayed: Type.Integer({ description: "Events that were already stored.", examples: [0] }),
        rejected: Type.Integer({ description: "Events that were not stored.", examples: [2] }),
      },
      { description: "Results of a batch of events. Null for other requests." },
    ),
  ),
});

export type LoggedRequest = Static<typeof LoggedRequest>;

/** Describes logged requests. Looks up their customer IDs and idempotency keys. */
export async function describeRequests(
  tx: Tx,
  scope: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  records: readonly LogRecord[],
): Promise<LoggedRequest[]> {
  const numbers = records.flatMap(({ customerNumber }) => customerNumber ?? []);
  const hashes = records.flatMap(({ keyHash }) => keyHash ?? []);
  const customers = await mapCustomers(tx, scope.environmentId, numbers);
  const keys = await listKeyUses(tx, scope, hashes);
  return records.map((record) => ({
    id: publicId("log", record.id),
    recordedAt: formatTimestamp(record.recordedAt),
    requestId: record.requestId,
    traceId: record.traceId,
    endpoint: record.endpoint,
    status: record.status,
    code: record.code,
    reason: record.reason,
    isReplay: record.isReplay,
    feature: record.endpoint === "events" ? null : record.subject,
    event: record.endpoint === "events" ? record.subject : null,
    idempotencyKey: record.keyHash === null ? null : (keys.get(record.keyHash)?.key ?? null),
    ...((record.customerNumber === null ? undefined : customers.get(record.customerNumber)) ?? NO_CUSTOMER),
    durationMs: Math.round(record.durationMs * 10) / 10,
    counts: record.counts,
  }));
}
