import { Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type EventKey,
  type FeatureKey,
} from "../../primitives/brand.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import type { Measure, UsageScope } from "../../store/cell/usage/chart.ts";
import type { MeterKind } from "../../store/cell/usage/rows.ts";
import { invalidField } from "../fields.ts";
import type { UsageRange } from "./range.ts";

export const scopeQuery = {
  source: Type.Optional(
    Type.Enum(["events", "charges", "denials", "overage"], {
      description:
        "The records to count: usage events, charges less reversals, denials, or overage less reversals. Default: `charges`.",
    }),
  ),
  event: Type.Optional(
    Type.String({
      maxLength: 120,
      description: "Only events with this key.",
      examples: ["tokens.generated"],
    }),
  ),
  feature: Type.Optional(
    Type.String({
      maxLength: 120,
      description: "Only charges, denials or overage for this feature.",
      examples: ["image.generate"],
    }),
  ),
  pool: Type.Optional(
    Type.String({
      maxLength: 120,
      description: "Only charges or overage in this pool.",
      examples: ["credits"],
    }),
  ),
};

export const measureField = Type.Optional(
  Type.Enum(["count", "quantity", "credits"], {
    description:
      "The measure to rank by. Default: credits for charges and overage, quantity for events, count for denials.",
  }),
);

export type AskedScope = {
  readonly source?: MeterKind | undefined;
  readonly event?: string | undefined;
  readonly feature?: string | undefined;
  readonly pool?: string | undefined;
};

export const MEASURE = {
  events: "quantity",
  charges: "credits",
  denials: "count",
  overage: "credits",
} as const satisfies Record<MeterKind, Measure>;

export function readScope(
  catalog: Catalog,
  environmentId: EnvironmentId,
  { from, to }: UsageRange,
  asked: AskedScope,
): UsageScope {
  const { source: kind = "charges", event, feature, pool } = asked;
  if (event !== undefined && kind !== "events") throw unfit("event", kind);
  if (feature !== undefined && kind === "events") throw unfit("feature", kind);
  if (pool !== undefined && kind !== "charges" && kind !== "overage") throw unfit("pool", kind);
  return {
    environmentId,
    kind,
    from,
    to,
    event: event === undefined ? null : brandAs<EventKey>(event),
    feature: feature === undefined ? null : getFeature(catalog, feature),
    pool: pool === undefined ? null : getPool(catalog, pool),
  };
}

function unfit(field: string, kind: MeterKind) {
  return invalidField({ field, code: "wrong_form", message: `cannot be combined with \`source=${kind}\`` });
}

export function getFeature(catalog: Catalog, key: string) {
  const feature = catalog.features.get(brandAs<FeatureKey>(key));
  if (feature === undefined)
    throw invalidField({ field: "feature", code: "unknown_key", message: "is not defined" });
  return feature.id;
}

export function getPool(catalog: Catalog, key: string) {
  const pool = [...catalog.pools.values()].find((found) => found.key === key);
  if (pool === undefined)
    throw invalidField({ field: "pool", code: "unknown_key", message: "is not defined" });
  return pool.id;
}

/** Finds the requested customer. Undefined if no customer was requested, null if the customer does not exist. */
export async function findCustomer(
  tx: Tx,
  environmentId: EnvironmentId,
  customerId: string | undefined,
): Promise<CustomerNumber | null | undefined> {
  if (customerId === undefined) return undefined;
  const [found] = await findCustomers(tx, [{ environmentId, customerId: brandAs<CustomerId>(customerId) }]);
  return found === undefined ? null : brandAs<CustomerNumber>(found.number);
}
