import { type Static, Type } from "typebox";
import { REASONS } from "../../entitlement/decide.ts";
import { nullable, timeField } from "../fields.ts";
import { reasonField } from "../requests/describe-request.ts";
import { ChargeDetails } from "./key-story.ts";

const LimitPosition = nullable(
  Type.Object({
    quantity: Type.Integer({ examples: [5] }),
    used: Type.Integer({ examples: [4] }),
    remaining: Type.Integer({ examples: [1] }),
    resetsAt: nullable(timeField),
  }),
);

export const DenialExplanation = Type.Object({
  denialId: Type.String({ examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  recordedAt: timeField,
  reason: Type.Enum([...REASONS]),
  sentences: Type.Array(Type.String(), {
    description: "For people. Do not parse them.",
    examples: [["Needed 50 credits, 12 were left.", "Plan credits reset on 1 December 2026 00:00 UTC."]],
  }),
  customerId: nullable(Type.String({ description: "Null: erased since.", examples: ["customer_42"] })),
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: Type.Integer({ examples: [5] }),
  idempotencyKey: nullable(Type.String({ examples: ["job-7f3a-charge"] })),
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  plan: nullable(
    Type.Object({
      key: Type.String({ examples: ["pro"] }),
      name: Type.String({ examples: ["Pro"] }),
      version: Type.Integer({ examples: [3] }),
    }),
  ),
  pool: Type.String({ examples: ["credits"] }),
  creditsRequired: Type.Integer({ examples: [50] }),
  balance: Type.Integer({ description: "What was left in the pool.", examples: [12] }),
  resetsAt: nullable(timeField),
  limit: LimitPosition,
  openGrants: nullable(
    Type.Array(
      Type.Object({
        grant: Type.Integer({ examples: [3] }),
        pool: Type.String({ examples: ["credits"] }),
        kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
        remaining: Type.Integer({ examples: [12] }),
        expiresAt: nullable(timeField),
        reference: nullable(Type.String({ examples: ["pi_3MtwBwLkdIwHu7ix"] })),
      }),
      {
        description:
          "What held credits at that moment, in all pools. Null: too many entries lie between then and both ends of the ledger, or some of them are detached.",
      },
    ),
  ),
  chargesBefore: Type.Array(ChargeDetails, {
    description: "The last ones before it, up to 10, as far as the history window reaches.",
  }),
  now: nullable(
    Type.Object(
      {
        allowed: Type.Boolean(),
        reason: reasonField,
        creditsRequired: Type.Integer({ examples: [50] }),
        balance: Type.Integer({ examples: [512] }),
        resetsAt: nullable(timeField),
        limit: LimitPosition,
      },
      {
        description:
          "What a check of the same request would answer now. Null: the customer was erased, or the feature is gone.",
      },
    ),
  ),
});

export type DenialExplanation = Static<typeof DenialExplanation>;
