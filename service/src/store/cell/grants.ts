import type { NewGrant } from "../../entitlement/entry.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import { bigints, integers, smallints, texts, timestamps } from "../../postgres/binary-array.ts";
import {
  boolean,
  derive,
  describeRow,
  findRow,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { GRANT_KIND_NUMBER, grantKindOf } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** Details of credits that a person or an integration has added. */
export type GrantOrigin = {
  readonly reference: string | null;
  readonly price: { readonly amount: number; readonly currency: string } | null;
  readonly note: string | null;
};

export type GrantRow = WalletName & { readonly grant: NewGrant; readonly origin: GrantOrigin | null };

const INSERT = statement(
  "grants.insert",
  `
  insert into cell.grants (
    environment_id, customer_number, number, pool_id, kind, credits, recorded_at, effective_at, expires_at, merged_into,
    reference, price_amount, price_currency, note
  )
  select
    g.environment_id, g.customer_number, g.number, g.pool_id, g.kind, g.credits, $1::timestamptz, g.effective_at,
    g.expires_at, g.merged_into, g.reference, g.price_amount, g.price_currency, g.note
  from unnest(
    $2::integer[], $3::bigint[], $4::integer[], $5::integer[], $6::smallint[], $7::bigint[], $8::timestamptz[],
    $9::timestamptz[], $10::integer[], $11::text[], $12::bigint[], $13::text[], $14::text[]
  ) as g (
    environment_id, customer_number, number, pool_id, kind, credits, effective_at, expires_at, merged_into, reference,
    price_amount, price_currency, note
  )`,
);

export function insertGrants(tx: Tx, rows: readonly GrantRow[], recordedAt: Instant): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(recordedAt),
    integers(rows.map((row) => row.environmentId)),
    bigints(rows.map((row) => row.customerNumber)),
    integers(rows.map(({ grant }) => grant.number)),
    integers(rows.map(({ grant }) => grant.pool)),
    smallints(rows.map(({ grant }) => GRANT_KIND_NUMBER[grant.kind])),
    bigints(rows.map(({ grant }) => grant.credits)),
    timestamps(rows.map(({ grant }) => grant.effectiveAt)),
    timestamps(rows.map(({ grant }) => grant.expiresAt)),
    integers(rows.map(({ grant }) => grant.mergedInto)),
    texts(rows.map(({ origin }) => origin?.reference ?? null)),
    bigints(rows.map(({ origin }) => origin?.price?.amount ?? null)),
    texts(rows.map(({ origin }) => origin?.price?.currency ?? null)),
    texts(rows.map(({ origin }) => origin?.note ?? null)),
  ]);
}

/** Columns of `cell.grants as g`. */
export const GRANT = {
  number: integer("g.number"),
  /** Grants with the same pool, kind and expiry share a slot in the wallet. */
  slot: integer("coalesce(g.merged_into, g.number)"),
  pool: id<PoolId>("g.pool_id"),
  kind: derive(integer("g.kind"), grantKindOf),
  credits: integer("g.credits"),
  expiresAt: orNull(instant("g.expires_at")),
} as const;

const FACTS = describeRow({ ...GRANT, isRevoked: boolean("g.revoked_at is not null") });

const LIST_SLOTS = statement(
  "grants.list_slots",
  `
  select ${FACTS.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and coalesce(g.merged_into, g.number) = any($3::integer[])
  order by g.number`,
);

/** Lists all grants in these slots, including revoked grants. */
export function listGrantsOfSlots(tx: Tx, name: WalletName, slots: readonly number[]): Promise<GrantFacts[]> {
  return listRows(tx, LIST_SLOTS, [name.environmentId, name.customerNumber, slots], FACTS);
}

const FIND = statement(
  "grants.find",
  `
  select ${FACTS.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = $3`,
);

export function findGrant(tx: Tx, name: WalletName, number: number): Promise<GrantFacts | null> {
  return findRow(tx, FIND, [name.environmentId, name.customerNumber, number], FACTS);
}

/** Columns of `cell.grants as g`. */
const REFERENCED = describeRow({
  customerNumber: id<CustomerNumber>("g.customer_number"),
  number: GRANT.number,
  pool: GRANT.pool,
  kind: GRANT.kind,
  credits: GRANT.credits,
  effectiveAt: instant("g.effective_at"),
  expiresAt: GRANT.expiresAt,
  reference: text("g.reference"),
});

export type ReferencedGrant = RowOf<typeof REFERENCED>;

const FIND_BY_REFERENCE = statement(
  "grants.find_by_reference",
  `
  select ${REFERENCED.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.reference in ($2, cell.erased_reference($2))`,
);

/** Finds the grant with this reference. Also searches the hashed references of erased customers, because they cannot be reused either. */
export function findGrantByReference(
  tx: Tx,
  environmentId: EnvironmentId,
  reference: string,
): Promise<ReferencedGrant | null> {
  return findRow(tx, FIND_BY_REFERENCE, [environmentId, reference], REFERENCED);
}

const FIND_BY_REFERENCES = statement(
  "grants.find_by_references",
  `
  select ${REFERENCED.list}
  from unnest($2::text[]) as r (reference)
  cross join lateral (values (r.reference), (cell.erased_reference(r.reference))) as s (stored)
  cross join lateral (
    select f.customer_number, f.number, f.pool_id, f.kind, f.credits, f.effective_at, f.expires_at, r.reference
    from cell.grants as f
    where f.environment_id = $1
      and f.reference = s.stored
    limit 1
  ) as g`,
);

/**
 * Finds grants that already use these references, including grants of erased customers. Looks up each reference separately, because a
 * plain join would read every grant. The plain and hashed references are also compared separately. With a list of values and without
 * statistics, the planner would scan the primary key.
 */
export async function findGrantsByReferences(
  tx: Tx,
  environmentId: EnvironmentId,
  references: readonly string[],
): Promise<Map<string, ReferencedGrant>> {
  const grants = await listRows(tx, FIND_BY_REFERENCES, [environmentId, texts(references)], REFERENCED);
  return new Map(grants.map((grant) => [grant.reference, grant]));
}

const REVOKE = statement(
  "grants.revoke",
  `
  update cell.grants
  set revoked_at = clock_timestamp()
  where environment_id = $1
    and customer_number = $2
    and number = $3`,
);

export function markGrantRevoked(tx: Tx, name: WalletName, number: number): Promise<Rows> {
  return tx.run(REVOKE, [name.environmentId, name.customerNumber, number]);
}
