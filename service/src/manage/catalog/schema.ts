import { Type } from "typebox";
import { keyField, nameField, nullable } from "../fields.ts";
import { THINGS_MAX } from "./bounds.ts";

// The fields of a catalog: each is the validator and the OpenAPI in one, and holds to what the database's own checks say.

export const STRICT = { additionalProperties: false };

const credits = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description: "How many credits. 0: it costs nothing.",
  examples: [3],
});
const per = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: "For how many of its units; 1 unless said. The charge is rounded up to whole credits.",
  examples: [1000],
});

export const Cost = Type.Object({ credits, per }, { description: "What a quantity costs." });

export const costInput = Type.Object({ credits, per: Type.Optional(per) }, STRICT);

/** As the runtime takes them: any text. */
export const eventKeyField = Type.String({ minLength: 1, maxLength: 120, examples: ["tokens.used"] });

export const unitField = nullable(
  Type.String({ minLength: 1, maxLength: 60, description: "What is counted.", examples: ["image"] }),
);

export const poolField = Type.String({
  ...keyField,
  description: "The key of the pool that it draws from. Default: `credits`.",
  examples: ["credits"],
});

export const Period = Type.Enum(["day", "week", "month", "year", "once"], {
  description: "Counted from the customer's own anchor, in UTC. `once`: it never begins anew.",
});

export const Reach = Type.Enum(["new_assignments", "next_period", "now"], {
  description:
    "Who gets the new version: only who is assigned the plan from now on; everyone who has it, when their next period " +
    "begins; or everyone who has it, at once.",
});

const rollover = Type.Integer({
  minimum: 0,
  maximum: 12,
  description: "For how many further periods the rest of an allowance stays usable; 0 unless said.",
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
  Type.Object(
    {
      quantity: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "How many of the feature's units in one period, whatever is left of the credits.",
        examples: [500],
      }),
      period: Period,
    },
    { ...STRICT, description: "Null: no limit but the credits." },
  ),
);

const ALLOWANCES_MAX = 50;

export const allowanceInputs = Type.Array(
  Type.Object(
    {
      pool: Type.Optional(poolField),
      credits: allowanceCredits,
      period: Period,
      rollover: Type.Optional(rollover),
    },
    STRICT,
  ),
  { maxItems: ALLOWANCES_MAX, description: "What is granted anew in each period; at most one for a pool." },
);

export const planFeatureInput = {
  feature: Type.String({ ...keyField, description: "A feature's key.", examples: ["image.generate"] }),
  limit: Type.Optional(Limit),
};

export const planTermsInput = Type.Object(
  {
    name: nameField,
    allowances: allowanceInputs,
    features: Type.Array(Type.Object(planFeatureInput, STRICT), {
      maxItems: THINGS_MAX,
      description: "What customers on the plan may use; each feature at most once.",
    }),
  },
  STRICT,
);

export const featureInput = {
  name: nameField,
  unit: Type.Optional(unitField),
  pool: Type.Optional(poolField),
  cost: costInput,
};

/** Nothing at all means yes. */
export const archiveInput = nullable(
  Type.Object(
    {
      archived: Type.Optional(
        Type.Boolean({ description: "False: it is offered again. Default: true.", examples: [true] }),
      ),
    },
    STRICT,
  ),
);

export const expectedVersionField = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The catalog's `version` that you looked at: an edit in between makes this a 412.",
  examples: [17],
});

const content = Type.Record(Type.String(), Type.Unknown());

const Change = Type.Object({
  noun: Type.Enum(["pool", "feature", "event_key", "plan", "default_plan"]),
  key: Type.String({ examples: ["pro"] }),
  change: Type.Enum(["create", "change", "archive", "unchanged"], {
    description: "`archive`: it is no longer offered, and may differ otherwise, too.",
  }),
  before: nullable({
    ...content,
    description:
      "As in a document, but that a plan's features carry what the plan has pinned. Null: there is none yet.",
  }),
  after: content,
});

const changes = Type.Array(Change, {
  description: "In the order in which they are made, the unchanged included.",
});

export const CatalogDiff = Type.Object({
  version: Type.Integer({
    description: "Of the catalog that was compared with. Send it as `expectedVersion` when you apply.",
    examples: [17],
  }),
  changes,
});

export const CatalogApplied = Type.Object({
  outcome: Type.Enum(["applied", "unchanged"]),
  version: Type.Integer({ description: "Of the catalog as it is now.", examples: [18] }),
  changes,
});

const archiveMissing = Type.Optional(
  Type.Boolean({
    description:
      "Whether plans and features that the document lacks are archived. Default: false. Pools and event keys never are.",
    examples: [false],
  }),
);

export const applyOptions = {
  reach: Reach,
  archiveMissing,
  expectedVersion: Type.Optional(expectedVersionField),
};

export const diffOptions = { ...applyOptions, reach: Type.Optional(Reach) };
