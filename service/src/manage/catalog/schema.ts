import { Type } from "typebox";
import { keyField, nameField, nullable, strictObject } from "../fields.ts";
import { THINGS_MAX } from "./bounds.ts";

// Fields of a catalog, used both to validate and to generate the OpenAPI document. Their limits match the database's check
// constraints.

const credits = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: "Price in credits. 0 means free.",
  examples: [3],
});
const per = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: "Number of units the price applies to. Default: 1. The charge is rounded up to whole credits.",
  examples: [1000],
});

export const Cost = Type.Object({ credits, per }, { description: "The price of a number of units." });

export const costInput = strictObject({ credits, per: Type.Optional(per) });

/** Any text is accepted, as in the runtime API. */
export const eventKeyField = Type.String({ minLength: 1, maxLength: 120, examples: ["tokens.used"] });

export const unitField = nullable(
  Type.String({
    minLength: 1,
    maxLength: 60,
    description: "The unit in which usage is counted.",
    examples: ["image"],
  }),
);

export const poolField = Type.String({
  ...keyField,
  description: "Key of the pool to spend from. Default: `credits`.",
  examples: ["credits"],
});

export const Period = Type.Enum(["day", "week", "month", "year", "once"], {
  description: "Starts at the customer's anchor, in UTC. With `once`, the period never renews.",
});

export const Reach = Type.Enum(["new_assignments", "next_period", "now"], {
  description:
    "The customers who get the new version: only new assignments; all customers on the plan when their next period starts; " +
    "or all customers on the plan immediately.",
});

const rollover = Type.Integer({
  minimum: 0,
  maximum: 12,
  description: "For how many more periods unused credits stay usable. Default: 0.",
  examples: [0],
});
export const overageField = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    description:
      "Maximum number of overage credits per period, used after all credits are spent and invoiced later. Null: unlimited. Default: 0.",
    examples: [0],
  }),
);
export const allowanceCredits = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000_000,
  description: "Credits granted in each period.",
  examples: [1000],
});

export const Allowance = Type.Object({
  pool: Type.String({ examples: ["credits"] }),
  credits: allowanceCredits,
  period: Period,
  rollover,
  overage: overageField,
});

export const Limit = nullable(
  strictObject(
    {
      quantity: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "How many units of the feature can be used in one period, regardless of credits.",
        examples: [500],
      }),
      period: Period,
    },
    { description: "Null if only credits limit the feature." },
  ),
);

const ALLOWANCES_MAX = 50;

export const allowanceInputs = Type.Array(
  strictObject({
    pool: Type.Optional(poolField),
    credits: allowanceCredits,
    period: Period,
    rollover: Type.Optional(rollover),
    overage: Type.Optional(overageField),
  }),
  {
    maxItems: ALLOWANCES_MAX,
    description: "Credits granted in each period, at most one allowance per pool.",
  },
);

export const planFeatureInput = {
  feature: Type.String({ ...keyField, description: "The key of the feature.", examples: ["image.generate"] }),
  limit: Type.Optional(Limit),
};

export const planTermsInput = strictObject({
  name: Type.String({ ...nameField, examples: ["Pro"] }),
  allowances: allowanceInputs,
  features: Type.Array(strictObject(planFeatureInput), {
    maxItems: THINGS_MAX,
    description: "The features that customers on the plan may use. Each key may appear once.",
  }),
});

export const featureInput = {
  name: nameField,
  unit: Type.Optional(unitField),
  pool: Type.Optional(poolField),
  cost: costInput,
};

/** An absent body means `archived: true`. */
export const archiveInput = nullable(
  strictObject({
    archived: Type.Optional(
      Type.Boolean({ description: "Send false to offer the item again. Default: true.", examples: [true] }),
    ),
  }),
);

export const expectedVersionField = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The catalog `version` you read. If it has changed since, the response is 412.",
  examples: [17],
});

const content = Type.Record(Type.String(), Type.Unknown());

export const Change = Type.Object({
  noun: Type.Enum(["pool", "feature", "event_key", "plan", "default_plan"]),
  key: Type.String({ examples: ["pro"] }),
  change: Type.Enum(["create", "change", "archive", "unchanged"], {
    description: "`archive` means that the item is no longer offered. Other fields may change too.",
  }),
  before: nullable({
    ...content,
    description:
      "The item as in a document, but plan features include their pinned pool and cost. Null if the item does not exist yet.",
  }),
  after: content,
});

const changes = Type.Array(Change, {
  description: "All items in the order they are applied, including unchanged ones.",
});

export const CatalogDiff = Type.Object({
  version: Type.Integer({
    description: "Version of the compared catalog. Send it as `expectedVersion` when you apply.",
    examples: [17],
  }),
  changes,
});

export const CatalogApplied = Type.Object({
  outcome: Type.Enum(["applied", "unchanged"]),
  version: Type.Integer({ description: "Current version of the catalog.", examples: [18] }),
  changes,
});

const archiveMissing = Type.Optional(
  Type.Boolean({
    description:
      "Archive plans and features missing from the document. Default: false. Pools and event keys are never archived.",
    examples: [false],
  }),
);

export const applyOptions = {
  reach: Reach,
  archiveMissing,
  expectedVersion: Type.Optional(expectedVersionField),
};

export const diffOptions = { ...applyOptions, reach: Type.Optional(Reach) };
