import { type Static, Type } from "typebox";
import { type ProblemCode, problemSchema } from "../../edge/problem.ts";
import {
  customerIdField,
  idempotencyKeyField,
  memberIdField,
  metadataField,
} from "../../edge/request-fields.ts";

/** Without a timestamp, so that the example never becomes too old. */
const EXAMPLE = {
  customerId: "customer_42",
  event: "tokens.generated",
  quantity: 1250,
  metadata: { model: "small" },
  idempotencyKey: "job-7f3a-usage",
};

/** Validates the body and describes it in the OpenAPI document. `read-event.ts` checks what a schema cannot express. */
export const EventBody = Type.Object(
  {
    customerId: customerIdField("Unknown customers are created."),
    event: Type.String({
      minLength: 1,
      maxLength: 120,
      description:
        "The event key, which names what was used. You can choose any key and do not have to define it first.",
      examples: ["tokens.generated"],
    }),
    quantity: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "How much was used.",
      examples: [1250],
    }),
    memberId: Type.Optional(memberIdField("Recorded for reports.")),
    metadata: Type.Optional(metadataField),
    timestamp: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When the event occurred, as RFC 3339 with `Z` or an offset, from 35 days ago to 5 minutes ahead. Default: now.",
      }),
    ),
    idempotencyKey: Type.Optional(
      idempotencyKeyField(
        "Makes retries safe: the same key and request return the original response. Without a key, every accepted request is a new event.",
      ),
    ),
  },
  {
    additionalProperties: false,
    examples: [EXAMPLE],
  },
);

export type EventBody = Static<typeof EventBody>;

/** Problem codes for an event, in addition to the codes for all requests. */
export const EVENT_CODES = [
  "idempotency_key_reused",
  "timestamp_out_of_range",
  "upgrade_unfinished",
  "metadata_limit_exceeded",
  "outcome_unknown",
] as const satisfies readonly ProblemCode[];

export const BATCH_EVENTS_MAX = 1_000;

const EVENTS = { minItems: 1, maxItems: BATCH_EVENTS_MAX };

/** The body of a batch. Its events are validated one by one, because an invalid event must not reject the others. */
export const BatchBody = Type.Object(
  { events: Type.Array(Type.Unknown(), EVENTS) },
  { additionalProperties: false },
);

export type BatchBody = Static<typeof BatchBody>;

/** An event in a batch. Like `EventBody`, but with a required key. */
export const BatchEvent = Type.Object(
  {
    ...EventBody.properties,
    idempotencyKey: idempotencyKeyField(
      "Required in a batch, so that the batch can be sent again: the same key and event return the original result.",
    ),
  },
  { additionalProperties: false, examples: [EXAMPLE] },
);

/** The body of a batch in the OpenAPI document. */
export const DescribedBatch = Type.Object(
  {
    events: Type.Array(BatchEvent, {
      ...EVENTS,
      description: "Decided independently of each other: a rejected event does not affect the others.",
    }),
  },
  { additionalProperties: false, examples: [{ events: [EXAMPLE] }] },
);

/** The response to an accepted event. */
export const EventAnswer = Type.Object(
  {
    accepted: Type.Literal(true, { description: "The event is stored." }),
    eventId: Type.String({ pattern: "^evt_", examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  },
  { additionalProperties: false },
);

/** The response to a batch. */
export const BatchAnswer = Type.Object(
  {
    results: Type.Array(
      Type.Union([
        Type.Object(
          {
            ...EventAnswer.properties,
            replayed: Type.Boolean({
              description: "True if an earlier request or event with this key was already stored.",
            }),
          },
          { additionalProperties: false },
        ),
        Type.Object(
          {
            accepted: Type.Literal(false, { description: "The event is not stored. See `error`." }),
            error: problemSchema(
              null,
              [...EVENT_CODES, "invalid_request", "internal_error", "overloaded", "unavailable"],
              {
                description: "The error that `POST /v1/events` would have returned for this event.",
                examples: [
                  {
                    type: "/docs/errors/timestamp_out_of_range",
                    title: "The timestamp is too far in the past or future",
                    status: 422,
                    detail:
                      "`timestamp` must be between 2026-10-10T10:00:00.000Z and 2026-11-14T10:05:00.000Z.",
                    code: "timestamp_out_of_range",
                    requestId: "req_01m7e9svgq8s3xk7vd8j1c2r5t",
                  },
                ],
              },
            ),
          },
          { additionalProperties: false },
        ),
      ]),
      { description: "One result for each event, in the order of `events`." },
    ),
  },
  { additionalProperties: false },
);
