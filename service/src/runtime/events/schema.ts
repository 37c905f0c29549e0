import { type Static, Type } from "typebox";
import {
  customerIdField,
  idempotencyKeyField,
  memberIdField,
  metadataField,
} from "../../edge/request-fields.ts";

/** Validates the body and generates the OpenAPI document; `read-event.ts` checks what a schema cannot express. */
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
    memberId: Type.Optional(memberIdField("Recorded and reported.")),
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
    // Without a timestamp, so that the example never becomes too old.
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

/** The response to an accepted event. */
export const EventAnswer = Type.Object(
  {
    accepted: Type.Literal(true, { description: "The event is stored." }),
    eventId: Type.String({ pattern: "^evt_", examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  },
  { additionalProperties: false },
);
