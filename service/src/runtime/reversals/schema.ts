import { type Static, Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  noteField,
  QUANTITY_MAX,
} from "../../edge/request-fields.ts";
import { poolField } from "../consume/schema.ts";

const closed = { additionalProperties: false };

export const reverseParams = Type.Object({
  consumeId: Type.String({
    maxLength: 64,
    description: "The `consumeId` of the response that charged the customer.",
  }),
});

export const ReverseBody = Type.Object(
  {
    customerId: customerIdField("The customer who was charged."),
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: QUANTITY_MAX,
        description: "Reverses only this many units. Default: everything not yet reversed.",
        examples: [1],
      }),
    ),
    feature: Type.Optional({
      ...featureField,
      description:
        "The feature to which `quantity` applies. Required with `quantity` if the request charged several `items`.",
    }),
    idempotencyKey: Type.Optional(
      idempotencyKeyField(
        "Required with `quantity`, and not allowed without it. A retry with the same key and request returns the original response. " +
          "A whole charge can be reversed only once, so its reversal does not require a key.",
      ),
    ),
    note: Type.Optional(noteField),
  },
  { ...closed, examples: [{ customerId: "customer_42" }] },
);

export type ReverseBody = Static<typeof ReverseBody>;

export const ReverseAnswer = Type.Object(
  {
    consumeId: Type.String({ pattern: "^con_", examples: ["con_06fd5n0r000000000a00000001"] }),
    customerId: Type.String({ examples: ["customer_42"] }),
    creditsReturned: Type.Integer({
      description:
        "Credits that this request returned. Credits returned to an expired or revoked grant cannot be spent.",
      examples: [10],
    }),
    overageCredits: Type.Integer({ description: "Overage that this request reversed.", examples: [0] }),
    items: Type.Array(
      Type.Object(
        {
          feature: Type.String({ examples: ["image.generate"] }),
          quantity: Type.Integer({ description: "The quantity that was reversed.", examples: [1] }),
          creditsReturned: Type.Integer({ examples: [10] }),
          overageCredits: Type.Integer({ examples: [0] }),
          pool: poolField,
          balance: Type.Integer({
            description: "Credits in the pool that could be spent after the reversal.",
            examples: [100],
          }),
        },
        closed,
      ),
      { description: "The quantity and credits that this request reversed, per feature." },
    ),
  },
  closed,
);
