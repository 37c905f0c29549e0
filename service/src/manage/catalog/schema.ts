import { Type } from "typebox";
import { keyField, nameField, nullable, strictObject } from "../fields.ts";
import { THINGS_MAX } from "./bounds.ts";

// Fields of a catalog: validator and OpenAPI in one. Their limits match the database's check constraints.

const credits = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: "Price in credits. 0: free.",
  examples: [3],
});
const per = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: "Units per price. Default: 1. The charge is rounded up to whole credits.",
  examples: [1000],
});

export const Cost = Type.Object({ credits, per }, { description: "Price of a quantity." });

export const costInput = strictObject({ credits, per: Type.Optional(per) });

/** Any text, as in the runtime. */
export const eventKeyField = Type.String({ minLength: 1, maxLength: 120, examples: ["tokens.used"] });

export const unitField = nullable(
  Type.String({ minLength: 1, maxLength: 60, description: "Unit that is counted.", examples: ["image"] }),
);

export const poolField = Type.String({
  ...keyField,
  description: "Key of the pool to spend from. Default: `credits`.",
  examples: ["credits"],
});

export const Period = Type.Enum(["day", "week", "month", "year", "once"], {
  description: "Starts at the customer's anchor, in UTC. `once`: it never renews.",
});

export const Reach = Type.Enum(["new_assignments", "next_period", "now"], {
  description:
    "Who gets the new version: only new assignments; all customers on the plan when their next period starts; or all customers on " +
    "the plan immediately.",
});

const rollover = Type.Integer({
  minimum: 0,
  maximum: 12,
  description: "Number of further periods the rest of an allowance stays usable. Default: 0.",
  examples: [0],
});
const allowanceCredits = Type.Integer({ minimum: 1, maximum: 1_000_000_000_000, examples: [1000] });

export const Allowance = Type.Object({
  pool: Type.String({ examples: ["credits"] }),
  credits: allowanceCredits,
  period: Period,
  rollover,
});

export const Limit = nullable(
  strictObject(
    {
      quantity: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Units of the feature in one period, independent of credits.",
        examples: [500],
      }),
      period: Period,
    },
    { description: "Null: limited by credits only." },
  ),
);

const ALLOWANCES_MAX = 50;

export const allowanceInputs = Type.Array(
  strictObject({
    pool: Type.Optional(poolField),
    credits: allowanceCredits,
    period: Period,
    rollover: Type.Optional(rollover),
  }),
  { maxItems: ALLOWANCES_MAX, description: "Granted in each period; at most one per pool." },
);

export const planFeatureInput = {
  feature: Type.String({ ...keyField, description: "Feature key.", examples: ["image.generate"] }),
  limit: Type.Optional(Limit),
};

export const planTermsInput = strictObject({
  name: nameField,
  allowances: allowanceInputs,
  features: Type.Array(strictObject(planFeatureInput), {
    maxItems: THINGS_MAX,
    description: "Features customers on the plan may use, each at most once.",
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
      Type.Boolean({ description: "False: offer it again. Default: true.", examples: [true] }),
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

const Change = Type.Object({
  noun: Type.Enum(["pool", "feature", "event_key", "plan", "default_plan"]),
  key: Type.String({ examples: ["pro"] }),
  change: Type.Enum(["create", "change", "archive", "unchanged"], {
    description: "`archive`: no longer offered; other fields may change too.",
  }),
  before: nullable({
    ...content,
    description:
      "As in a document, but plan features include their pinned pool and cost. Null: it does not exist yet.",
  }),
  after: content,
});

const changes = Type.Array(Change, {
  description: "In the order they are applied, including unchanged items.",
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
