import type { GrantKind } from "../../entitlement/wallet.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { GrantOrigin } from "./grants.ts";
import { GRANT_KIND_NUMBER, grantKindOf } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** A grant as people see one. */
export type GrantRecord = GrantOrigin & {
  readonly number: number;
  /** The slot of the wallet that it shares with others of its kind and expiry. */
  readonly slot: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  readonly recordedAt: Instant;
  readonly effectiveAt: Instant;
  readonly revokedAt: Instant | null;
};

/** What `readGrantRecord` reads. */
export const GRANT_COLUMNS = `
    g.number,
    coalesce(g.merged_into, g.number),
    g.pool_id,
    g.kind,
    g.credits,
    (extract(epoch from g.expires_at) * 1000)::bigint,
    (extract(epoch from g.recorded_at) * 1000)::bigint,
    (extract(epoch from g.effective_at) * 1000)::bigint,
    (extract(epoch from g.revoked_at) * 1000)::bigint,
    g.reference,
    g.price_amount,
    g.price_currency,
    g.note`;

const LIST = statement(
  "grants.list",
  `
  select ${GRANT_COLUMNS}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number < $3
    and (g.effective_at >= $5::timestamptz or coalesce(g.merged_into, g.number) = any($6::integer[]))
  order by g.number desc
  limit $4`,
);

export type GrantRange = {
  readonly before: number;
  readonly limit: number;
  /** Back to here by their own time, */
  readonly since: Instant;
  /** and of those before it only the grants of these slots. */
  readonly open: readonly number[];
};

/** The newest first. */
export async function listGrantRecords(tx: Tx, name: WalletName, range: GrantRange): Promise<GrantRecord[]> {
  const { rows } = await tx.run(LIST, [
    name.environmentId,
    name.customerNumber,
    range.before,
    range.limit,
    formatTimestamp(range.since),
    integers(range.open),
  ]);
  return rows.map(readGrantRecord);
}

/** Further columns come behind them. */
export function readGrantRecord(row: readonly unknown[]): GrantRecord {
  const [number, slot, pool, kind, credits, expiresAt, recordedAt, effectiveAt, ...rest] = row;
  const [revokedAt, reference, amount, currency, note] = rest;
  return {
    number: readInteger(number),
    slot: readInteger(slot),
    pool: brandAs<PoolId>(readInteger(pool)),
    kind: grantKindOf(readInteger(kind)),
    credits: readInteger(credits),
    expiresAt: readNullable(expiresAt, readInstant),
    recordedAt: readInstant(recordedAt),
    effectiveAt: readInstant(effectiveAt),
    revokedAt: readNullable(revokedAt, readInstant),
    reference: readNullable(reference, readText),
    price: amount === null ? null : { amount: readInteger(amount), currency: readText(currency) },
    note: readNullable(note, readText),
  };
}

const SUM_LATER = statement(
  "grants.sum_later",
  `
  select coalesce(g.merged_into, g.number) as slot, least(sum(g.credits), 9007199254740991)
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number >= $3
    and g.revoked_at is null
  group by slot`,
);

/** How many credits the grants from this number on gave to each slot, those that were revoked left out. */
export async function sumLaterGrants(tx: Tx, name: WalletName, from: number): Promise<Map<number, number>> {
  const { rows } = await tx.run(SUM_LATER, [name.environmentId, name.customerNumber, from]);
  return new Map(rows.map(([slot, credits]) => [readInteger(slot), readInteger(credits)]));
}

/** Grants of a customer among which twins are looked for: more were hardly given in minutes. */
const RECENT_MAX = 500;

const LIST_TWINS = statement(
  "grants.list_twins",
  `
  select ${GRANT_COLUMNS}
  from (
    select r.number
    from cell.grants as r
    where r.environment_id = $1
      and r.customer_number = $2
    order by r.number desc
    limit ${RECENT_MAX}
  ) as r
  join cell.grants as g on g.environment_id = $1 and g.customer_number = $2 and g.number = r.number
  where g.pool_id = $3
    and g.kind = $4
    and g.credits = $5
    and g.recorded_at >= $6::timestamptz
  order by g.number desc
  limit $7`,
);

export type TwinOf = {
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly since: Instant;
  readonly limit: number;
};

/** Grants of the same credits, kind and pool since then, the newest first. */
export async function listTwins(tx: Tx, name: WalletName, twin: TwinOf): Promise<GrantRecord[]> {
  const { rows } = await tx.run(LIST_TWINS, [
    name.environmentId,
    name.customerNumber,
    twin.pool,
    GRANT_KIND_NUMBER[twin.kind],
    twin.credits,
    formatTimestamp(twin.since),
    twin.limit,
  ]);
  return rows.map(readGrantRecord);
}

const FIND_RECORD = statement(
  "grants.find_record",
  `
  select ${GRANT_COLUMNS}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = $3`,
);

export async function findGrantRecord(tx: Tx, name: WalletName, number: number): Promise<GrantRecord | null> {
  const { rows } = await tx.run(FIND_RECORD, [name.environmentId, name.customerNumber, number]);
  return rows[0] === undefined ? null : readGrantRecord(rows[0]);
}
