import { type Static, type TSchema, Type } from "typebox";

// Fields of holds that the runtime API and the management API share.

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = Type.String({ format: "date-time", examples: ["2026-12-01T00:00:00.000Z"] });
const credits = (description: string, example: number) => Type.Integer({ description, examples: [example] });

export const holdIdField = Type.String({
  pattern: "^hld_",
  description: "Identifies the hold.",
  examples: ["hld_06fd5n0r000000000a00000001"],
});

export const consumeIdField = Type.Union([Type.String({ pattern: "^con_" }), Type.Null()], {
  description:
    "Identifies the charge, for example to reverse it. Null if nothing was used, or if the charge for an expired hold is not recorded yet.",
  examples: ["con_06fd5n0r000000000a00000001"],
});

/** How the price of a hold was paid. */
export const closingFields = {
  late: Type.Boolean({
    description: "Whether the hold was settled after it had expired and released its credits.",
    examples: [false],
  }),
  creditsCharged: credits("Credits that were charged.", 8),
  creditsReleased: credits(
    "Unused credits of the hold. They can be spent again unless they have expired or were revoked. 0 for a late settlement.",
    12,
  ),
  overageCredits: credits("The part of the price that is overage.", 0),
  creditsBeyondHold: credits("The part of the price that exceeds the held credits and overage.", 0),
  creditsUncovered: credits("The part of the price that neither credits nor overage covered.", 0),
};

const HeldItem = Type.Object({
  feature: Type.String({ examples: ["chat.tokens"] }),
  pool: Type.String({ examples: ["credits"] }),
  quantity: Type.Integer({ description: "The quantity that is held.", examples: [2_000] }),
  creditsHeld: credits("Credits set aside for this item.", 20),
  overageCredits: credits("Overage set aside for this item.", 0),
  quantityUsed: Type.Integer({
    description: "The quantity that was charged. 0 while the hold is open.",
    examples: [0],
  }),
});

export const HoldView = Type.Object({
  holdId: holdIdField,
  status: Type.Enum(["open", "settled", "released", "expired", "charged"], {
    description:
      "`expired`: the hold expired and its credits were released. `charged`: the hold expired and was charged in full.",
  }),
  openedAt: time,
  expiresAt: Type.String({ ...time, description: "When the hold expires." }),
  endedAt: nullable(time),
  onExpiry: Type.Enum(["release", "charge"]),
  memberId: nullable(Type.String({ examples: ["user_7"] })),
  metadata: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "The metadata of the request that opened the hold.",
    }),
  ),
  creditsHeld: credits("Credits set aside by the hold. The value does not change when the hold ends.", 20),
  creditsCharged: closingFields.creditsCharged,
  creditsReleased: closingFields.creditsReleased,
  overageCredits: credits(
    "Overage set aside by an open hold. After the hold has ended, the overage that was charged.",
    0,
  ),
  creditsBeyondHold: closingFields.creditsBeyondHold,
  creditsUncovered: closingFields.creditsUncovered,
  late: closingFields.late,
  consumeId: consumeIdField,
  items: Type.Array(HeldItem),
});

/** A customer's overage in one pool. */
export const OverageView = Type.Object(
  {
    credits: nullable(
      Type.Integer({
        description: "Overage credits that the plan allows per period. Null if unlimited.",
        examples: [500],
      }),
    ),
    used: Type.Integer({ description: "Overage used in this period.", examples: [20] }),
    held: Type.Integer({ description: "Overage set aside by open holds.", examples: [0] }),
    remaining: nullable(
      Type.Integer({
        description: "Overage that is neither used nor held. Null if unlimited.",
        examples: [480],
      }),
    ),
  },
  {
    description:
      "Usage after all credits are spent, which you invoice later. Null if the plan does not allow overage.",
  },
);

export type HoldView = Static<typeof HoldView>;
