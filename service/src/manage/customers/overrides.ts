import { type Static, Type } from "typebox";
import { type Catalog, getPool } from "../../entitlement/catalog.ts";
import { setOverrides as decideOverrides, type OverridesRequest } from "../../entitlement/set-overrides.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { FeatureOverride, Overrides as OverridesOfWallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type FeatureKey, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import type { CustomerName } from "../../store/cell/customers.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { listOverridesPage } from "../../store/cell/overrides.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { featureKeysOf } from "../catalog/content.ts";
import { unknownKey } from "../catalog/problems.ts";
import { allowanceCredits, Cost, costInput, Limit, overageField, Period } from "../catalog/schema.ts";
import type { Context } from "../context.ts";
import { invalidField, nullable, strictObject, timeField, timeOf, timeOrNull } from "../fields.ts";
import { refuseUnfinishedUpgrade } from "../refuse-unfinished-upgrade.ts";
import { walletTransaction } from "../wallet-transaction.ts";

const OVERRIDES_MAX = 50;

const included = Type.Boolean({
  description:
    "True adds the feature, even if the plan does not include the feature. False removes the feature.",
});

export const OverridesBody = strictObject({
  features: Type.Optional(
    Type.Record(
      Type.String(),
      strictObject(
        { included: Type.Optional(included), cost: Type.Optional(costInput), limit: Type.Optional(Limit) },
        { minProperties: 1 },
      ),
      {
        maxProperties: OVERRIDES_MAX,
        description:
          "Terms by feature key. Omitted fields use the plan's values. A feature that the plan does not include needs `included: true`.",
      },
    ),
  ),
  allowances: Type.Optional(
    Type.Record(
      Type.String(),
      strictObject(
        {
          credits: Type.Optional(allowanceCredits),
          overage: Type.Optional(overageField),
          period: Type.Optional(Period),
        },
        { minProperties: 1 },
      ),
      {
        maxProperties: OVERRIDES_MAX,
        description:
          "Terms by pool key. They replace the terms of the plan's allowance in this pool if both have the same `period`. New `credits` " +
          "apply from the next period. A new `overage` applies immediately. `period` defaults to the period of the current plan's " +
          "allowance in the pool. If the plan has no allowance in the pool, `period` is required.",
      },
    ),
  ),
  endsAt: Type.Optional(
    nullable(timeOf("End date of the overrides. Default: no end date.", "2027-01-01T00:00:00Z")),
  ),
});

export type OverridesBody = Static<typeof OverridesBody>;

export const Overrides = Type.Object(
  {
    number: Type.Integer({
      description: "Number of these overrides, unique per customer. Charges and denials show this number.",
      examples: [2],
    }),
    features: Type.Record(
      Type.String(),
      Type.Object({
        included: Type.Optional(included),
        cost: Type.Optional(Cost),
        limit: Type.Optional(Limit),
        pinned: Type.Optional(
          Type.Object(
            { pool: Type.String({ examples: ["credits"] }), cost: Cost },
            {
              description:
                "The feature's pool and cost when the overrides added the feature. These terms apply if the plan does not include the " +
                "feature. To update them, remove the feature from the overrides and add it again.",
            },
          ),
        ),
      }),
    ),
    allowances: Type.Record(
      Type.String(),
      Type.Object({
        credits: Type.Optional(allowanceCredits),
        overage: Type.Optional(overageField),
        period: Period,
      }),
    ),
    endsAt: nullable(timeField),
  },
  { description: "Terms that apply to this customer and take precedence over the plan's terms." },
);

export type Overrides = Static<typeof Overrides>;

export function describeOverrides(catalog: Catalog, overrides: OverridesOfWallet | null): Overrides | null {
  return overrides === null ? null : describeTerms(catalog, overrides);
}

function describeTerms(catalog: Catalog, overrides: OverridesOfWallet): Overrides {
  const keys = featureKeysOf(catalog);
  const features = overrides.features.map((override) => [
    keys.get(override.feature),
    describeFeature(catalog, override),
  ]);
  const allowances = overrides.allowances.map(({ pool, credits, overage, period }) => [
    catalog.pools.get(pool)?.key,
    { ...(credits === null ? {} : { credits }), ...(overage === undefined ? {} : { overage }), period },
  ]);
  return {
    number: overrides.number,
    features: Object.fromEntries(features),
    allowances: Object.fromEntries(allowances),
    endsAt: timeOrNull(overrides.endsAt),
  };
}

function describeFeature(catalog: Catalog, override: FeatureOverride): object {
  const { included: isIncluded, cost, limit, added } = override;
  return {
    ...(isIncluded === null ? {} : { included: isIncluded }),
    ...(cost === null ? {} : { cost }),
    ...(limit === undefined ? {} : { limit: limit && { quantity: limit.quantity, period: limit.period } }),
    ...(added === null ? {} : { pinned: { pool: getPool(catalog, added.pool).key, cost: added.cost } }),
  };
}

export const SetOverrides = Type.Object({
  ...Overrides.properties,
  setAt: timeOf(
    "When these overrides took effect. They end at `endsAt`, or when the next overrides take effect.",
  ),
});

/** Lists overrides with a number below `before`, newest first. Null if the customer does not exist. */
export function listSetOverrides(
  cell: Pool,
  { environmentId, customerId }: CustomerName,
  page: { readonly before: number | null; readonly limit: number },
): Promise<{ items: Static<typeof SetOverrides>[]; next: number | null } | null> {
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const catalog = await loadCatalog(tx, environmentId);
    const name = { environmentId, customerNumber: customer.customerNumber };
    const { before, limit } = page;
    const found = await listOverridesPage(tx, name, {
      before: before ?? OVERRIDES_NUMBER_MAX,
      limit: limit + 1,
    });
    const shown = found.slice(0, limit);
    const items = shown.map((overrides) => ({
      ...describeTerms(catalog, overrides),
      setAt: formatTimestamp(overrides.effectiveAt),
    }));
    return { items, next: found.length > limit ? (shown.at(-1)?.number ?? null) : null };
  });
}

export const OVERRIDES_NUMBER_MAX = 2 ** 31 - 1;

export type SetOverridesInput = {
  readonly customerId: CustomerId;
  readonly terms: Omit<OverridesBody, "endsAt">;
  readonly endsAt: Instant | null;
};

export type SetOverridesOutcome =
  | { kind: "changed" }
  | { kind: "unchanged" }
  | { kind: "customer_not_found" }
  | { kind: "ends_in_the_past" }
  | { kind: "feature_archived"; feature: string }
  | { kind: "period_unknown"; pool: string };

/** The first data format that supports overrides. */
const DATA_FORMAT_OF_OVERRIDES = 2;

/** Replaces all of a customer's overrides. Safe to repeat. */
export function setOverrides(
  cell: Pool,
  context: Context,
  input: SetOverridesInput,
): Promise<SetOverridesOutcome> {
  return walletTransaction<SetOverridesOutcome>(
    cell,
    context,
    input.customerId,
    async (tx) => {
      const open = await openWallet(tx, context, input.customerId);
      if (open === null) return { kind: "customer_not_found" };
      const { catalog, wallet, clock } = open;
      const before = viewWallet(catalog, wallet, clock).overrides;
      const outcome = decideOverrides(catalog, wallet, findNamed(catalog, input), clock);
      if (outcome.kind === "period_unknown") return { ...outcome, pool: getPool(catalog, outcome.pool).key };
      if (!("change" in outcome)) return outcome;
      if (outcome.kind === "changed") {
        const feature = "An override";
        await refuseUnfinishedUpgrade(tx, { feature, dataFormat: DATA_FORMAT_OF_OVERRIDES });
      }
      const after = outcome.change?.wallet.overrides ?? null;
      const audit = {
        action: "overrides.set",
        subject: "overrides",
        before: { overrides: describeOverrides(catalog, before) },
        after: { overrides: describeOverrides(catalog, after) },
      };
      const audits = outcome.kind === "changed" ? [audit] : [];
      await saveEdits(tx, { ...context, clock }, [{ ...open, change: outcome.change, audits }]);
      return { kind: outcome.kind };
    },
    ({ kind }) => kind === "changed" || kind === "unchanged",
  );
}

/** Looks up the features and pools in `terms` by key. */
function findNamed(
  catalog: Catalog,
  { terms, endsAt }: Pick<SetOverridesInput, "terms" | "endsAt">,
): OverridesRequest {
  const features = Object.entries(terms.features ?? {}).map(
    ([key, { included: isIncluded, cost, limit }]) => {
      const feature = catalog.features.get(brandAs<FeatureKey>(key));
      if (feature === undefined) throw unknownKey({ noun: "feature", key });
      return {
        feature,
        included: isIncluded ?? null,
        cost: cost === undefined ? null : { credits: cost.credits, per: cost.per ?? 1 },
        limit: limit && { quantity: limit.quantity, period: limit.period },
      };
    },
  );
  const pools = new Map([...catalog.pools.values()].map(({ id, key }) => [key, id]));
  const allowances = Object.entries(terms.allowances ?? {}).map(([key, own]) => {
    const { credits = null, period = null, overage } = own;
    if (credits === null && overage === undefined)
      throw invalidField({
        field: `allowances.${key}`,
        code: "empty",
        message: "must have credits or overage",
      });
    const pool = pools.get(key);
    if (pool === undefined) throw unknownKey({ noun: "pool", key });
    return { pool, period, credits, overage };
  });
  return { features, allowances, endsAt };
}
