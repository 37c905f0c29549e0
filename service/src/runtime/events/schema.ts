import { type Static, Type } from "typebox";
import { customerIdField, idempotencyKeyField, metadataField } from "../../edge/request-fields.ts";

/** Spec 2.1. The schema is the validator and the OpenAPI in one; what it cannot say is checked in `read-event.ts`. */
export const EventBody = Type.Object(
  {
    customerId: customerIdField("Unknown customers are created."),
    event: Type.String({
      minLength: 1,
      maxLength: 120,
      description: "What was used: a key of your choice. It needs no definition.",
      examples: ["tokens.generated"],
    }),
    quantity: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "How much was used.",
      examples: [1250],
    }),
    metadata: Type.Optional(metadataField),
    timestamp: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When it happened: RFC 3339 with `Z` or an offset, from 35 days ago to 5 minutes ahead. Default: now.",
      }),
    ),
    idempotencyKey: Type.Optional(
      idempotencyKeyField(
        "Makes a repeat safe: the same key and request get the original answer. Without it every accepted request is a new event.",
      ),
    ),
  },
  {
    additionalProperties: false,
    // Without a timestamp: an example that can be copied must not become too old.
    examples: [
      {
        customerId: "customer_42",
        event: "tokens.generated",
        quantity: 1250,
        metadata: { model: "small" },
        idempotencyKey: "job-7f3a-usage",
      },
    ],
  },
);

export type EventBody = Static<typeof EventBody>;

/** Spec 2.2. */
export const EventAnswer = Type.Object(
  {
    accepted: Type.Literal(true, { description: "The event is stored." }),
    eventId: Type.String({ pattern: "^evt_", examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  },
  { additionalProperties: false },
);
