import type { GrantKind } from "../../../entitlement/wallet.ts";
import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { EnvironmentId } from "../../../words/brand.ts";
import { brandAs, type CustomerId, type Instant, type PoolId } from "../../../words/brand.ts";
import { grantKindOf } from "../wallet-state.ts";

export type GrantPlace = { readonly customerNumber: number; readonly number: number };

export type ExportedGrant = GrantPlace & {
  /** Null: erased since. */
  readonly customerId: CustomerId | null;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly effectiveAt: Instant;
  readonly recordedAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  readonly reference: string | null;
  readonly price: { readonly amount: number; readonly currency: string } | null;
  readonly note: string | null;
};

const LIST = statement(
  "export.list_grants",
  `
  select
    g.customer_number,
    g.number,
    c.customer_id,
    g.pool_id,
    g.kind,
    g.credits,
    (extract(epoch from g.effective_at) * 1000)::bigint,
    (extract(epoch from g.recorded_at) * 1000)::bigint,
    (extract(epoch from g.expires_at) * 1000)::bigint,
    (extract(epoch from g.revoked_at) * 1000)::bigint,
    g.reference,
    g.price_amount,
    g.price_currency,
    g.note
  from cell.grants as g
  left join cell.customers as c
    on c.environment_id = g.environment_id
    and c.number = g.customer_number
    and c.erased_at is null
  where g.environment_id = $1
    and (g.customer_number, g.number) > ($2, $3)
  order by g.customer_number, g.number
  limit $4`,
);

/** By customer, then by their number, those after this place: of all times, as no index tells them apart. */
export async function listExportedGrants(
  tx: Tx,
  environmentId: EnvironmentId,
  { after, limit }: { readonly after: GrantPlace; readonly limit: number },
): Promise<ExportedGrant[]> {
  const { rows } = await tx.run(LIST, [environmentId, after.customerNumber, after.number, limit]);
  return rows.map((row) => ({
    customerNumber: readInteger(row[0]),
    number: readInteger(row[1]),
    customerId: readNullable(row[2], (id) => brandAs<CustomerId>(readText(id))),
    pool: brandAs<PoolId>(readInteger(row[3])),
    kind: grantKindOf(readInteger(row[4])),
    credits: readInteger(row[5]),
    effectiveAt: readInstant(row[6]),
    recordedAt: readInstant(row[7]),
    expiresAt: readNullable(row[8], readInstant),
    revokedAt: readNullable(row[9], readInstant),
    reference: readNullable(row[10], readText),
    price: row[11] === null ? null : { amount: readInteger(row[11]), currency: readText(row[12]) },
    note: readNullable(row[13], readText),
  }));
}
