import { type Static, Type } from "typebox";
import { keyField, nameField, nullable, planKeyField, poolKeyField, strictObject } from "../fields.ts";
import { readAllowances, refuseRepeats } from "../plans/terms.ts";
import { THINGS_MAX } from "./bounds.ts";
import type { CatalogContent, EventKeyContent, FeatureContent, GivenPool, PlanContent } from "./content.ts";
import {
  allowanceInputs,
  costInput,
  eventKeyField,
  featureInput,
  lowBalancesInput,
  planFeatureInput,
  poolField,
  unitField,
} from "./schema.ts";

const archived = Type.Optional(
  Type.Boolean({ description: "True if the item is no longer offered. Default: false.", examples: [true] }),
);

const pinned = strictObject(
  { pool: Type.Optional(poolField), cost: costInput },
  {
    description:
      "The pool and cost that the plan keeps when the feature changes. If omitted, the plan pins the feature's current pool " +
      "and cost.",
  },
);

export const PlanDocument = strictObject(
  {
    key: planKeyField,
    name: Type.String({ ...nameField, examples: ["Pro"] }),
    allowances: allowanceInputs,
    features: Type.Array(strictObject({ ...planFeatureInput, pinned: Type.Optional(pinned) }), {
      maxItems: THINGS_MAX,
    }),
    archived,
  },
  { description: "The latest version of the plan." },
);

/** A whole catalog as one file. An export can be applied unchanged. */
export const CatalogDocument = strictObject(
  {
    pools: Type.Optional(
      Type.Array(
        strictObject({
          key: poolKeyField,
          name: Type.String({ ...nameField, examples: ["Credits"] }),
          lowBalances: lowBalancesInput,
        }),
        { maxItems: THINGS_MAX },
      ),
    ),
    features: Type.Optional(
      Type.Array(strictObject({ key: keyField, ...featureInput, archived }), { maxItems: THINGS_MAX }),
    ),
    plans: Type.Optional(Type.Array(PlanDocument, { maxItems: THINGS_MAX })),
    eventKeys: Type.Optional(
      Type.Array(
        strictObject({
          key: eventKeyField,
          name: Type.String({ ...nameField, examples: ["Generated tokens"] }),
          unit: Type.Optional(unitField),
        }),
        {
          maxItems: THINGS_MAX,
        },
      ),
    ),
    defaultPlan: Type.Optional(
      nullable(Type.String({ ...keyField, description: "Null for no default plan.", examples: ["free"] })),
    ),
  },
  {
    description: "Omitted lists are not changed.",
    examples: [
      {
        pools: [{ key: "credits", name: "Credits" }],
        features: [{ key: "image.generate", name: "Image rendering", cost: { credits: 10 } }],
        plans: [
          {
            key: "pro",
            name: "Pro",
            allowances: [{ credits: 1000, period: "month" }],
            features: [{ feature: "image.generate" }],
          },
        ],
        defaultPlan: null,
      },
    ],
  },
);

export type CatalogDocument = Static<typeof CatalogDocument>;

/** Renders a sorted catalog. Omits redundant pins and `archived: false`, so that equal catalogs have the same text. */
export function toDocument(content: CatalogContent): CatalogDocument {
  const features = new Map(content.features.map((feature) => [feature.key, feature]));
  return {
    pools: content.pools.map(({ lowBalances, ...pool }) => ({ ...pool, lowBalances: [...lowBalances] })),
    features: content.features.map(({ archived, ...feature }) => ({ ...feature, ...ifArchived(archived) })),
    plans: content.plans.map(({ archived, allowances, features: included, ...plan }) => ({
      ...plan,
      allowances: [...allowances],
      features: included.map(({ feature, limit, ...terms }) => {
        const { pool, cost } = features.get(feature) ?? terms;
        const isOwn =
          pool === terms.pool && cost.credits === terms.cost.credits && cost.per === terms.cost.per;
        return { feature, limit, ...(isOwn ? {} : { pinned: terms }) };
      }),
      ...ifArchived(archived),
    })),
    eventKeys: [...content.eventKeys],
    defaultPlan: content.defaultPlan,
  };
}

function ifArchived(archived: boolean): { archived?: boolean } {
  return archived ? { archived } : {};
}

/** A plan in a file. If `pinned` is null, the plan uses the feature's pool and cost after the file is applied. */
export type GivenPlan = Omit<PlanContent, "features"> & {
  readonly features: readonly {
    readonly feature: string;
    readonly limit: PlanContent["features"][number]["limit"];
    readonly pinned: Pick<PlanContent["features"][number], "pool" | "cost"> | null;
  }[];
};

/** A document with defaults filled in. An omitted list is null. */
export type GivenCatalog = {
  readonly pools: readonly GivenPool[] | null;
  readonly features: readonly FeatureContent[] | null;
  readonly plans: readonly GivenPlan[] | null;
  readonly eventKeys: readonly EventKeyContent[] | null;
  /** Undefined if omitted. */
  readonly defaultPlan: string | null | undefined;
};

export function readDocument(document: CatalogDocument): GivenCatalog {
  for (const list of ["pools", "features", "plans", "eventKeys"] as const) {
    refuseRepeats(`catalog.${list}`, "key", document[list] ?? []);
  }
  return {
    pools: document.pools ?? null,
    features:
      document.features?.map(({ key, name, unit = null, pool = "credits", cost, archived = false }) => ({
        key,
        name,
        unit,
        pool,
        cost: readCost(cost),
        archived,
      })) ?? null,
    plans: document.plans?.map(readPlan) ?? null,
    eventKeys: document.eventKeys?.map(({ key, name, unit = null }) => ({ key, name, unit })) ?? null,
    defaultPlan: document.defaultPlan,
  };
}

function readPlan(plan: Static<typeof PlanDocument>, index: number): GivenPlan {
  const { key, name, allowances, features, archived = false } = plan;
  const path = `catalog.plans.${index}`;
  refuseRepeats(`${path}.features`, "feature", features);
  return {
    key,
    name,
    allowances: readAllowances(`${path}.allowances`, allowances),
    features: features.map(({ feature, limit = null, pinned }) => ({
      feature,
      limit,
      pinned: pinned === undefined ? null : { pool: pinned.pool ?? "credits", cost: readCost(pinned.cost) },
    })),
    archived,
  };
}

function readCost({ credits, per = 1 }: Static<typeof costInput>): FeatureContent["cost"] {
  return { credits, per };
}
