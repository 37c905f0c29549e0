import { type Static, type TProperties, Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  memberIdField,
  metadataField,
  quantityField,
} from "../../edge/request-fields.ts";
import { ITEMS_MAX } from "../../primitives/consume-id.ts";

/** The features and quantities of a check or consume request. */
export const questionFields = {
  feature: Type.Optional(featureField),
  quantity: Type.Optional(quantityField),
  items: Type.Optional(
    Type.Array(
      Type.Object(
        { feature: featureField, quantity: Type.Optional(quantityField) },
        { additionalProperties: false },
      ),
      {
        minItems: 1,
        maxItems: ITEMS_MAX,
        description:
          "Several features at once, instead of `feature` and `quantity`. Each feature can occur only once. The items are decided in order. " +
          "Either all items are charged, or none.",
      },
    ),
  ),
};

export const consumeFields = {
  customerId: customerIdField("Unknown customers are created if the environment has a default plan."),
  ...questionFields,
  idempotencyKey: idempotencyKeyField(
    "Identifies this operation: a retry with the same key and request returns the original response and is not charged again. Use a new key for a new operation.",
  ),
  memberId: Type.Optional(memberIdField("Recorded for reports. Does not affect decisions.")),
  metadata: Type.Optional(metadataField),
};

export const ConsumeBody = Type.Object(consumeFields, {
  additionalProperties: false,
  examples: [
    {
      customerId: "customer_42",
      feature: "image.generate",
      quantity: 1,
      idempotencyKey: "job-7f3a-charge",
    },
  ],
});

export type ConsumeBody = Static<typeof ConsumeBody>;

/** The body fields that check and consume requests share. */
export type QuestionBody = Omit<ConsumeBody, "idempotencyKey">;

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: "date-time", examples: ["2026-12-01T00:00:00.000Z"] }), Type.Null()], {
    description,
  });

const affordableQuantity = Type.Integer({
  description:
    "Only if denied: how many units the balance, overage and limit allow now. With `items`: how many units of the denied item are allowed in addition to the earlier items.",
  examples: [4],
});

export const verdictFields = {
  allowed: Type.Boolean({ description: "Do the work only if this is true." }),
  reason: Type.Union([Type.String(), Type.Null()], {
    description:
      "Null when allowed; otherwise `customer_blocked`, `customer_not_found`, `no_active_plan`, `feature_not_in_plan`, `limit_reached` or `insufficient_credits`. Treat an unknown reason as denied.",
    examples: [null],
  }),
};

const customerId = Type.String({ examples: ["customer_42"] });

const itemFields = {
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: Type.Integer({ examples: [1] }),
  creditsRequired: Type.Integer({
    description: "The cost of this quantity for this customer.",
    examples: [10],
  }),
};

const positionFields = {
  balance: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "Credits in the feature's pool. A check returns the balance before the charge. A consume request returns the balance after the charge. Null for an unknown customer.",
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
    { description: "The customer's limit on this feature. Null if the feature has no limit." },
  ),
  overage: Type.Optional(
    Type.Object(
      {
        credits: Type.Union([Type.Integer(), Type.Null()], {
          description: "Overage credits that the plan allows per period. Null if unlimited.",
          examples: [500],
        }),
        used: Type.Integer({ description: "Used in this period.", examples: [20] }),
        remaining: Type.Union([Type.Integer(), Type.Null()], {
          description: "Overage that is neither used nor held. Null if unlimited.",
          examples: [480],
        }),
      },
      {
        additionalProperties: false,
        description:
          "Only if the plan allows overage: usage after all credits are spent, which you invoice later. Not part of the balance.",
      },
    ),
  ),
  overageCredits: Type.Optional(
    Type.Integer({
      description:
        "Only if the plan allows overage: the part of `creditsRequired` that is overage, because the balance does not cover it. 0 when denied.",
      examples: [0],
    }),
  ),
};

export const poolField = Type.String({
  description: "The key of the feature's pool.",
  examples: ["credits"],
});
const creditsCharged = Type.Integer({
  description: "Credits taken from the balance. The rest of `creditsRequired` is overage.",
  examples: [10],
});
const consumeIdField = Type.Union([Type.String({ pattern: "^con_" }), Type.Null()], {
  description: "Identifies the charge, for example to reverse it. Null when denied.",
  examples: ["con_06fd5n0r000000000a00000001"],
});

export const singleFields = {
  ...verdictFields,
  customerId,
  ...itemFields,
  ...positionFields,
  affordableQuantity: Type.Optional(affordableQuantity),
};

export const ofItems = <T extends TProperties>(charge: T) => ({
  ...verdictFields,
  deniedItem: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "The index of the first item that is not allowed, which determines the result of the request. Null when allowed.",
    examples: [null],
  }),
  affordableQuantity: Type.Optional(affordableQuantity),
  customerId,
  items: Type.Array(
    Type.Object(
      { ...itemFields, ...charge, pool: poolField, ...positionFields },
      { additionalProperties: false },
    ),
    {
      description:
        "In the order of the request. In a check, each `balance` is the balance before the whole request. Otherwise, it is the balance after the whole request.",
    },
  ),
});

const closed = { additionalProperties: false };

export const CheckAnswer = Type.Union([
  Type.Object(singleFields, { ...closed, title: "To `feature`" }),
  Type.Object(ofItems({}), { ...closed, title: "To `items`" }),
]);

export const ConsumeAnswer = Type.Union([
  Type.Object(
    { ...singleFields, consumeId: consumeIdField, creditsCharged },
    { ...closed, title: "To `feature`" },
  ),
  Type.Object(
    { ...ofItems({ creditsCharged }), consumeId: consumeIdField },
    { ...closed, title: "To `items`" },
  ),
]);
