import { type Static, Type } from "typebox";

/** Spec 2.1. The schema is the validator and the OpenAPI in one; what it cannot say is checked in `read-event.ts`. */
export const EventBody = Type.Object(
  {
    customerId: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Your own stable identifier of the customer. Unknown customers are created.",
      examples: ["customer_42"],
    }),
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
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            "Any JSON object within the limits of the workspace plan. An empty one counts as none.",
          examples: [{ model: "small" }],
        },
      ),
    ),
    timestamp: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When it happened: RFC 3339 with `Z` or an offset, from 35 days ago to 5 minutes ahead. Default: now.",
      }),
    ),
    idempotencyKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: "^[\\x21-\\x7e]*$",
        description:
          "Makes a repeat safe: the same key and request get the original answer. Without it every accepted request is a new event. Visible ASCII.",
        examples: ["job-7f3a-usage"],
      }),
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
