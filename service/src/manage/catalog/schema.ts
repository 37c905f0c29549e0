import { Type } from "typebox";
import { keyField, nameField, nullable, strictObject } from "../fields.ts";
import { LOW_BALANCES_MAX, THINGS_MAX } from "./bounds.ts";

// Fields of a catalog, used for validation and in the OpenAPI document. Their limits match the database's check constraints.

const credits = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: "Price in credits. 0 means free.",
  examples: [3],
});
const per = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description:
    "Number of units that the price covers. Default: 1. The charge is rounded up to whole credits.",
  examples: [1000],
});

export const Cost = Type.Object({ credits, per }, { description: "The price of a number of units." });

export const costInput = strictObject({ credits, per: Type.Optional(per) });

/** An event key can be any text, as in the runtime API. */
export const eventKeyField = Type.String({ minLength: 1, maxLength: 120, examples: ["tokens.used"] });

export const unitField = nullable(
  Type.String({
    minLength: 1,
    maxLength: 60,
    description: "The unit in which usage is counted.",
    examples: ["image"],
  }),
);

export const lowBalance = Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 });
const LOW_BALANCES =
  "Webhooks receive a `balance.low` notice when a customer's balance in this pool falls below one of these thresholds.";

export const lowBalancesField = Type.Array(lowBalance, {
  description: `${LOW_BALANCES} Highest first.`,
  examples: [[100, 10]],
});

export const lowBalancesInput = Type.Optional(
  Type.Array(lowBalance, {
    // Checked before `uniqueItems`, which would take seconds for thousands of items.
    maxItems: LOW_BALANCES_MAX,
    uniqueItems: true,
    description: `${LOW_BALANCES} If omitted, an existing pool keeps its thresholds. An empty list removes them.`,
    examples: [[100, 10]],
  }),
);

export const poolField = Type.String({
  ...keyField,
  description: "Key of the pool to spend from. Default: `credits`.",
  examples: ["credits"],
});

export const Period = Type.Enum(["day", "week", "month", "year", "once"], {
  description: "Periods are counted from the customer's anchor, in UTC. `once` never renews.",
});

export const Reach = Type.Enum(["new_assignments", "next_period", "now"], {
  description:
    "Which customers get the new version. `new_assignments`: only customers who are assigned the plan later. `next_period`: also all " +
    "customers on the plan, when their next period starts. `now`: also all customers on the plan, immediately.",
});

const rollover = Type.Integer({
  minimum: 0,
  maximum: 12,
  description: "The number of further periods in which unused credits can be used. Default: 0.",
  examples: [0],
});
export const overageField = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    description:
      "Maximum overage credits per period. Overage is used after all credits are spent, and is invoiced later. Null: unlimited. " +
      "Default: 0.",
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
        description: "The maximum number of units that can be used in one period, regardless of credits.",
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

/** A missing body means `archived: true`. */
export const archiveInput = nullable(
  strictObject({
    archived: Type.Optional(
      Type.Boolean({ description: "`false` unarchives the item. Default: true.", examples: [true] }),
    ),
  }),
);

export const expectedVersionField = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The catalog `version` you read. If the catalog has changed since, the call returns 412.",
  examples: [17],
});

const content = Type.Record(Type.String(), Type.Unknown());

export const Change = Type.Object({
  noun: Type.Enum(["pool", "feature", "event_key", "plan", "default_plan"]),
  key: Type.String({ examples: ["pro"] }),
  change: Type.Enum(["create", "change", "archive", "unchanged"], {
    description: "`archive`: the item is archived. Other fields of the item can also change.",
  }),
  before: nullable({
    ...content,
    description:
      "The item in the format of the catalog document, except that plan features always include their pool and cost. Null if the " +
      "item does not exist yet.",
  }),
  after: content,
});

const changes = Type.Array(Change, {
  description: "All items, including unchanged ones, in the order in which they are applied.",
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
