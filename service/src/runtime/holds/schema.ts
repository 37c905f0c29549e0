import { type Static, Type } from "typebox";
import { UP_TO_200 } from "../../edge/field-errors.ts";
import { closingFields, consumeIdField, HoldView, holdIdField } from "../../edge/hold-fields.ts";
import { customerIdField, featureField, metadataField, QUANTITY_MAX } from "../../edge/request-fields.ts";
import { ITEMS_MAX } from "../../primitives/consume-id.ts";
import { consumeFields, ofItems, poolField, singleFields, verdictFields } from "../consume/schema.ts";

const closed = { additionalProperties: false };
const DAY_SECONDS = 86_400;
const customerId = customerIdField("The customer for whom the hold was opened.");

export const HoldBody = Type.Object(
  {
    ...consumeFields,
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: DAY_SECONDS,
        description: "Seconds until the hold expires. Default: 900. A hold on one feature can be extended.",
        examples: [900],
      }),
    ),
    onExpiry: Type.Optional(
      Type.Enum(["release", "charge"], {
        description:
          "What happens to the credits when the hold expires: they are released, or charged in full. With `charge`, the work is paid for " +
          "even if your process crashes. Default: `release`.",
        examples: ["release"],
      }),
    ),
  },
  {
    ...closed,
    examples: [
      { customerId: "customer_42", feature: "chat.tokens", quantity: 2_000, idempotencyKey: "job-7f3a-hold" },
    ],
  },
);

const creditsHeld = Type.Integer({ description: "Credits that were set aside.", examples: [20] });
const heldFields = {
  holdId: Type.Union([holdIdField, Type.Null()], { description: "Null when denied." }),
  expiresAt: Type.Union(
    [Type.String({ format: "date-time", examples: ["2026-12-01T00:15:00.000Z"] }), Type.Null()],
    {
      description: "When the hold expires. Null when denied.",
    },
  ),
};

export const HoldAnswer = Type.Union([
  Type.Object({ ...singleFields, ...heldFields, creditsHeld }, { ...closed, title: "To `feature`" }),
  Type.Object({ ...ofItems({ creditsHeld }), ...heldFields }, { ...closed, title: "To `items`" }),
]);

export const holdParams = Type.Object({
  holdId: Type.String({ maxLength: 64, description: "The hold's ID." }),
});
export const customerParams = Type.Object({ customerId });

const usedQuantity = Type.Integer({
  minimum: 0,
  maximum: QUANTITY_MAX,
  description: "The quantity that was actually used. 0 charges nothing.",
  examples: [812],
});

export const SettleBody = Type.Object(
  {
    customerId,
    quantity: Type.Optional(usedQuantity),
    items: Type.Optional(
      Type.Array(Type.Object({ feature: featureField, quantity: usedQuantity }, closed), {
        minItems: 1,
        maxItems: ITEMS_MAX,
        description:
          "The quantity actually used of each feature. A feature of the hold that is not listed is not charged.",
      }),
    ),
    atMostHeld: Type.Optional(
      Type.Boolean({
        description:
          "If true, only the hold's credits and overage are used, and the rest of the price is uncovered. A late settlement then charges nothing. Default: false.",
        examples: [false],
      }),
    ),
    metadata: Type.Optional(metadataField),
  },
  { ...closed, examples: [{ customerId: "customer_42", quantity: 812 }] },
);

export const ReleaseBody = Type.Object(
  { customerId },
  { ...closed, examples: [{ customerId: "customer_42" }] },
);

export const ExtendBody = Type.Object(
  {
    customerId,
    quantity: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: QUANTITY_MAX,
        description: "The new total, not an increment. A total below the current one changes nothing.",
        examples: [4_000],
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 7 * DAY_SECONDS,
        description: "The new expiry, in seconds from now. An expiry before the current one changes nothing.",
        examples: [900],
      }),
    ),
    expiresAt: Type.Optional(
      Type.String({
        format: "date-time",
        maxLength: 50,
        description:
          "The new expiry, instead of `expiresInSeconds`. At most 7 days after the hold was opened.",
        examples: ["2026-12-01T00:30:00.000Z"],
      }),
    ),
  },
  { ...closed, examples: [{ customerId: "customer_42", quantity: 4_000, expiresInSeconds: 900 }] },
);

const { creditsReleased, late, ...paid } = closingFields;

export const ClosedAnswer = Type.Object(
  {
    holdId: holdIdField,
    customerId: Type.String({ examples: ["customer_42"] }),
    status: Type.Enum(["settled", "released"]),
    late,
    creditsCharged: paid.creditsCharged,
    creditsReleased,
    overageCredits: paid.overageCredits,
    creditsBeyondHold: paid.creditsBeyondHold,
    creditsUncovered: paid.creditsUncovered,
    items: Type.Array(
      Type.Object(
        {
          feature: Type.String({ examples: ["chat.tokens"] }),
          quantity: Type.Integer({ examples: [812] }),
          creditsRequired: Type.Integer({
            description: "The price of this quantity when the hold was opened.",
            examples: [8],
          }),
          ...paid,
          pool: poolField,
          balance: Type.Integer({
            description: "Credits in the pool that can be spent now.",
            examples: [92],
          }),
        },
        closed,
      ),
      {
        description:
          "One item for each feature of the hold, in the order of the request that opened the hold.",
      },
    ),
    consumeId: consumeIdField,
  },
  closed,
);

export const ExtendAnswer = Type.Object(
  {
    holdId: holdIdField,
    customerId: Type.String({ examples: ["customer_42"] }),
    ...verdictFields,
    affordableQuantity: Type.Optional(
      Type.Integer({
        description:
          "Only if denied: the largest total that you can hold now, including the quantity already held.",
        examples: [4_000],
      }),
    ),
    feature: Type.String({ examples: ["chat.tokens"] }),
    quantity: Type.Integer({ description: "The total that is held now.", examples: [4_000] }),
    creditsHeld: Type.Integer({ description: "Credits that are set aside now.", examples: [40] }),
    overageCredits: Type.Integer({ description: "Overage that is set aside now.", examples: [0] }),
    balance: Type.Integer({ description: "Credits in the pool that can be spent now.", examples: [60] }),
    expiresAt: Type.String({ format: "date-time", examples: ["2026-12-01T00:30:00.000Z"] }),
  },
  closed,
);

export const ShownHold = Type.Object({
  ...HoldView.properties,
  customerId: Type.String({ examples: ["customer_42"] }),
});

export const HoldPage = Type.Object({
  items: Type.Array(HoldView),
  nextCursor: Type.Union([Type.String({ examples: ["hld_06fd5n0r000000000a00000001"] }), Type.Null()], {
    description: "Send this value as `cursor` to read the next page. Null on the last page.",
  }),
});

export const holdsQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum(["open"], { description: "Only open holds." })),
    limit: Type.Optional(
      Type.String({ pattern: UP_TO_200, description: "Page size, 1 to 200. Default: 50.", examples: ["50"] }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 64, description: "The `nextCursor` from the previous page." }),
    ),
  },
  closed,
);

export type HoldBody = Static<typeof HoldBody>;
export type SettleBody = Static<typeof SettleBody>;
export type ExtendBody = Static<typeof ExtendBody>;
