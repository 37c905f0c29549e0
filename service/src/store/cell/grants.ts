import type { NewGrant } from "../../entitlement/entry.ts";
import type { GrantFacts } from "../../entitlement/revoke-grant.ts";
import { bigints, integers, smallints, texts, timestamps } from "../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { GRANT_KIND_NUMBER, grantKindOf } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** How credits came about, where people or automation gave them. */
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

const LIST_SLOTS = statement(
  "grants.list_slots",
  `
  select
    g.number,
    coalesce(g.merged_into, g.number),
    g.pool_id,
    g.kind,
    g.credits,
    (extract(epoch from g.expires_at) * 1000)::bigint,
    g.revoked_at is not null
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and coalesce(g.merged_into, g.number) = any($3::integer[])
  order by g.number`,
);

/** All grants that share these slots of the wallet. */
export async function listGrantsOfSlots(
  tx: Tx,
  name: WalletName,
  slots: readonly number[],
): Promise<GrantFacts[]> {
  const { rows } = await tx.run(LIST_SLOTS, [name.environmentId, name.customerNumber, slots]);
  return rows.map(readFacts);
}

const FIND = statement(
  "grants.find",
  `
  select
    g.number,
    coalesce(g.merged_into, g.number),
    g.pool_id,
    g.kind,
    g.credits,
    (extract(epoch from g.expires_at) * 1000)::bigint,
    g.revoked_at is not null
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = $3`,
);

export async function findGrant(tx: Tx, name: WalletName, number: number): Promise<GrantFacts | null> {
  const { rows } = await tx.run(FIND, [name.environmentId, name.customerNumber, number]);
  return rows[0] === undefined ? null : readFacts(rows[0]);
}

function readFacts(row: readonly unknown[]): GrantFacts {
  const [number, slot, pool, kind, credits, expiresAt, isRevoked] = row;
  return {
    number: readInteger(number),
    slot: readInteger(slot),
    pool: brandAs<PoolId>(readInteger(pool)),
    kind: grantKindOf(readInteger(kind)),
    credits: readInteger(credits),
    expiresAt: readNullable(expiresAt, readInstant),
    isRevoked: readBoolean(isRevoked),
  };
}

const FIND_BY_REFERENCE = statement(
  "grants.find_by_reference",
  `
  select g.customer_number, g.number, g.pool_id, g.kind, g.credits, g.reference
  from cell.grants as g
  where g.environment_id = $1
    and g.reference in ($2, cell.erased_reference($2))`,
);

export type ReferencedGrant = {
  readonly customerNumber: CustomerNumber;
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantFacts["kind"];
  readonly credits: number;
  readonly reference: string;
};

/** Of an erased customer's reference a hash is left: it stays taken. */
export async function findGrantByReference(
  tx: Tx,
  environmentId: EnvironmentId,
  reference: string,
): Promise<ReferencedGrant | null> {
  const { rows } = await tx.run(FIND_BY_REFERENCE, [environmentId, reference]);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    customerNumber: brandAs<CustomerNumber>(readInteger(row[0])),
    number: readInteger(row[1]),
    pool: brandAs<PoolId>(readInteger(row[2])),
    kind: grantKindOf(readInteger(row[3])),
    credits: readInteger(row[4]),
    reference: readText(row[5]),
  };
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
