import { type Static, Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  metadataField,
  quantityField,
} from "../../edge/request-fields.ts";

export const ConsumeBody = Type.Object(
  {
    customerId: customerIdField("Unknown customers are created if the environment has a default plan."),
    feature: featureField,
    quantity: Type.Optional(quantityField),
    idempotencyKey: idempotencyKeyField(
      "Identifies this operation: a retry with the same key and request returns the original response and is charged once. Use a new key for a new operation.",
    ),
    metadata: Type.Optional(metadataField),
  },
  {
    additionalProperties: false,
    examples: [
      {
        customerId: "customer_42",
        feature: "image.generate",
        quantity: 1,
        idempotencyKey: "job-7f3a-charge",
      },
    ],
  },
);

export type ConsumeBody = Static<typeof ConsumeBody>;

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: "date-time", examples: ["2026-12-01T00:00:00.000Z"] }), Type.Null()], {
    description,
  });

/** Fields that check and consume both return. */
export const verdictFields = {
  allowed: Type.Boolean({ description: "Do the work only when this is true." }),
  reason: Type.Union([Type.String(), Type.Null()], {
    description:
      "Null when allowed; otherwise `customer_blocked`, `customer_not_found`, `no_active_plan`, `feature_not_in_plan`, `limit_reached` or `insufficient_credits`. Treat an unknown reason as denied.",
    examples: [null],
  }),
  customerId: Type.String({ examples: ["customer_42"] }),
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: Type.Integer({ examples: [1] }),
  creditsRequired: Type.Integer({
    description: "The cost of this quantity in the customer's plan.",
    examples: [10],
  }),
  balance: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "Credits in the feature's pool. A check returns the balance before the charge, consume the balance after it. Null for an unknown customer.",
    examples: [90],
  }),
  resetsAt: nullableTime("When the plan grants the next allowance."),
  limit: Type.Union(
    [
      Type.Object(
        {
          quantity: Type.Integer({ examples: [100] }),
          used: Type.Integer({ examples: [40] }),
          remaining: Type.Integer({ examples: [60] }),
          resetsAt: nullableTime("When the limit resets."),
        },
        { additionalProperties: false },
      ),
      Type.Null(),
    ],
    { description: "The plan's limit on this feature, if it has one." },
  ),
};

export const ConsumeAnswer = Type.Object(
  {
    ...verdictFields,
    consumeId: Type.Union([Type.String({ pattern: "^con_" }), Type.Null()], {
      description: "Identifies the charge, for example to reverse it. Null when denied.",
      examples: ["con_06fd5n0r000000000a00000001"],
    }),
    creditsCharged: Type.Integer({ examples: [10] }),
  },
  { additionalProperties: false },
);
