import { type Static, type TSchema, Type } from "typebox";
import { OverageView } from "../../edge/hold-fields.ts";
import { customerIdField } from "../../edge/request-fields.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { type CustomerView, viewCustomer } from "../../entitlement/view-customer.ts";
import { brandAs, type CustomerId, type FeatureKey } from "../../primitives/brand.ts";
import type { Reader } from "../check/reader.ts";
import type { FeatureFinder } from "../missing-feature.ts";
import { checkTexts, refuseIfAny } from "../read-fields.ts";
import { type Answer, toProblem } from "../reply.ts";
import { type Asking, runtimeRoute } from "../runtime-route.ts";

type CustomerParts = { readonly readerOf: (cell: string) => Reader; readonly missing: FeatureFinder };

const FEATURES_MAX = 50;

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = Type.String({ format: "date-time", examples: ["2026-12-01T00:00:00.000Z"] });

const params = Type.Object({
  customerId: customerIdField(
    "For an unknown customer, returns the same results as a check. The customer is not created.",
  ),
});

const query = Type.Object(
  {
    features: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 121 * FEATURES_MAX,
        description: `Up to ${FEATURES_MAX} feature keys, separated by commas. Default: the first ${FEATURES_MAX} features in the catalog that are not archived, sorted by key.`,
        examples: ["image.generate,chat.tokens"],
      }),
    ),
  },
  { additionalProperties: false },
);

const CustomerAnswer = Type.Object({
  customerId: Type.String({ examples: ["customer_42"] }),
  plan: nullable(
    Type.Object({
      key: Type.String({ examples: ["pro"] }),
      name: Type.String({ examples: ["Pro"] }),
      version: Type.Integer({ examples: [3] }),
      isDefault: Type.Boolean({
        description: "True if the customer uses the default plan without an assignment.",
      }),
      endsAt: nullable(time),
    }),
  ),
  nextPlan: nullable(
    Type.Object(
      {
        key: Type.String({ examples: ["basic"] }),
        name: Type.String({ examples: ["Basic"] }),
        startsAt: time,
        endsAt: nullable(time),
      },
      { description: "The pending plan change. Null if there is none." },
    ),
  ),
  pools: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      balance: Type.Integer({ description: "Credits that can be spent.", examples: [1250] }),
      held: Type.Integer({ description: "Credits that open holds set aside.", examples: [0] }),
      overage: nullable(OverageView),
      resetsAt: Type.Union([time, Type.Null()], { description: "When the plan grants the next allowance." }),
      nextExpiries: Type.Array(Type.Object({ expiresAt: time, credits: Type.Integer({ examples: [250] }) }), {
        description: "Up to five upcoming expiry times, each with the number of credits that expire.",
      }),
    }),
  ),
  features: Type.Array(
    Type.Object({
      feature: Type.String({ examples: ["image.generate"] }),
      allowed: Type.Boolean({ description: "Whether one unit is allowed now." }),
      reason: nullable(Type.String({ examples: ["insufficient_credits"] })),
      pool: Type.String({ examples: ["credits"] }),
      cost: Type.Object(
        { credits: Type.Integer({ examples: [10] }), per: Type.Integer({ examples: [1] }) },
        { description: "The price for this customer: `credits` for every `per` units, rounded up." },
      ),
      affordableQuantity: Type.Union([Type.Integer({ examples: [125] }), Type.Null()], {
        description:
          "How many units the balance, overage and limit allow now. Null if nothing restricts the quantity.",
      }),
      limit: nullable(
        Type.Object({
          quantity: Type.Integer({ examples: [100] }),
          used: Type.Integer({ examples: [40] }),
          remaining: Type.Integer({ examples: [60] }),
          resetsAt: nullable(time),
        }),
      ),
    }),
  ),
});

/** Returns everything that a customer can use now, for display. */
export function readCustomerRoute(parts: CustomerParts) {
  return runtimeRoute({
    path: "/v1/customers/{customerId}",
    scope: "check",
    operationId: "readCustomer",
    summary: "Show a customer's plan, credits and features",
    description:
      "Returns the customer's current and pending plan, the balance of each pool, and for each feature the result of a check for one unit. " +
      "Use it for a page that shows what a customer has. Changes nothing.",
    params,
    query,
    answer: { description: "What the customer can use now.", ...CustomerAnswer },
    codes: ["feature_not_found"],
    handle: (caller, call) => answerCustomer(parts, caller, call),
  });
}

async function answerCustomer(
  parts: CustomerParts,
  { key, span }: Asking,
  {
    params: { customerId },
    query: { features },
  }: { params: Static<typeof params>; query: Static<typeof query> },
): Promise<Answer> {
  const keys = features === undefined ? null : [...new Set(features.split(","))];
  const errors = checkTexts({ customerId }, ["customerId"]);
  if (keys !== null && keys.length > FEATURES_MAX)
    errors.push({
      field: "features",
      code: "too_long",
      message: `must name at most ${FEATURES_MAX} features`,
    });
  for (const name of keys ?? []) errors.push(...checkTexts({ features: name }, ["features"]));
  refuseIfAny(errors);
  const { environmentId, cell } = key;
  const outcome = await parts.readerOf(cell).look({
    environmentId,
    customerId: brandAs<CustomerId>(customerId),
    span,
    answer: (catalog, wallet, now): CustomerView =>
      viewCustomer(catalog, wallet, keys?.map((name) => brandAs<FeatureKey>(name)) ?? firstOf(catalog), now),
  });
  if (outcome.kind === "feature_not_found") throw await parts.missing(key, outcome.feature);
  if (outcome.kind !== "viewed") throw toProblem(outcome);
  return { text: JSON.stringify({ customerId, ...outcome.view }), isReplay: false, reason: null };
}

/** The first features in the catalog that are not archived, sorted by key. */
function firstOf({ features }: Catalog): FeatureKey[] {
  const active = [...features.values()].filter(({ archivedAt }) => archivedAt === null);
  return active
    .map(({ key }) => key)
    .sort()
    .slice(0, FEATURES_MAX);
}
