import { type Static, Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import { openingBalances } from "../../entitlement/opening-balances.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, listCustomerRecords } from "../../store/cell/customer-list.ts";
import { CatalogNames } from "../customers/catalog-names.ts";
import { nullable, timeField, timeOrNull } from "../fields.ts";

export const OpeningBalances = Type.Object({
  customerId: Type.String({ examples: ["customer_42"] }),
  name: nullable(Type.String({ examples: ["Acme GmbH"] })),
  email: nullable(Type.String({ examples: ["billing@acme.example"] })),
  billingReference: nullable(Type.String({ examples: ["cus_NffrFeUfNV2Hib"] })),
  plan: nullable(
    Type.Object({
      key: Type.String({ examples: ["pro"] }),
      anchor: timeField,
      endsAt: nullable(timeField),
    }),
  ),
  allowances: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      remaining: Type.Integer({
        description: "The value for the `allowanceRemaining` column of an import file.",
        examples: [300],
      }),
    }),
  ),
  credits: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      kind: Type.Enum(["purchase", "manual", "promotion"]),
      credits: Type.Integer({ examples: [250] }),
      expiresAt: nullable(timeField),
    }),
  ),
});

type OpeningBalances = Static<typeof OpeningBalances>;

/** Lists customers whose number is below `before`, in the format of an import file, newest first. */
export function listOpeningBalances(
  cell: Pool,
  environmentId: EnvironmentId,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<{ readonly customers: readonly OpeningBalances[]; readonly next: number | null }> {
  return single(cell, async (tx) => {
    const catalog = await loadCatalog(tx, environmentId);
    const clock = await readClock(tx);
    const after = before === null ? null : { key: before, number: before };
    const { records, next } = await listCustomerRecords(
      tx,
      { environmentId, order: "newest", after, limit },
      {},
    );
    return {
      customers: records.map((record) => describe(record, catalog, clock)),
      next: next?.number ?? null,
    };
  });
}

function describe(record: CustomerRecord, catalog: Catalog, clock: Instant): OpeningBalances {
  const { customerId, name, email, billingReference, wallet } = record;
  const { plan, allowances, credits } = openingBalances(catalog, wallet, clock);
  const names = new CatalogNames(catalog);
  return {
    customerId,
    name,
    email,
    billingReference,
    plan:
      plan === null
        ? null
        : { key: plan.plan.key, anchor: formatTimestamp(plan.anchor), endsAt: timeOrNull(plan.endsAt) },
    allowances: allowances.map(({ pool, remaining }) => ({ pool: names.pool(pool), remaining })),
    credits: credits.map(({ pool, kind, credits: amount, expiresAt }) => ({
      pool: names.pool(pool),
      kind,
      credits: amount,
      expiresAt: timeOrNull(expiresAt),
    })),
  };
}
