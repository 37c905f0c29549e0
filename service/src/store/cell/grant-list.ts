import type { GrantKind } from "../../entitlement/wallet.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import {
  describeRow,
  findRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { GRANT } from "./grants.ts";
import { GRANT_KIND_NUMBER } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** Columns of `cell.grants as g`. */
export const GRANT_RECORD = describeRow({
  ...GRANT,
  recordedAt: instant("g.recorded_at"),
  effectiveAt: instant("g.effective_at"),
  revokedAt: orNull(instant("g.revoked_at")),
  reference: orNull(text("g.reference")),
  price: orNull(describeRow({ amount: integer("g.price_amount"), currency: text("g.price_currency") })),
  note: orNull(text("g.note")),
});

/** A grant as the management API lists it. */
export type GrantRecord = RowOf<typeof GRANT_RECORD>;

const LIST = statement(
  "grants.list",
  `
  select ${GRANT_RECORD.list}
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
  /** Includes grants that took effect at or after this time. */
  readonly since: Instant;
  /** The slots whose older grants are also included. */
  readonly open: readonly number[];
};

/** Lists a customer's grants, newest first. */
export function listGrantRecords(tx: Tx, name: WalletName, range: GrantRange): Promise<GrantRecord[]> {
  return listRows(
    tx,
    LIST,
    [
      name.environmentId,
      name.customerNumber,
      range.before,
      range.limit,
      formatTimestamp(range.since),
      integers(range.open),
    ],
    GRANT_RECORD,
  );
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

/** Sums the credits that grants numbered `from` or higher added to each slot. Excludes revoked grants. */
export async function sumLaterGrants(tx: Tx, name: WalletName, from: number): Promise<Map<number, number>> {
  const { rows } = await tx.run(SUM_LATER, [name.environmentId, name.customerNumber, from]);
  return new Map(rows.map(([slot, credits]) => [readInteger(slot), readInteger(credits)]));
}

/** Possible duplicates are searched only among this many of a customer's most recent grants. */
const RECENT_MAX = 500;

const LIST_TWINS = statement(
  "grants.list_twins",
  `
  select ${GRANT_RECORD.list}
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
    and g.revoked_at is null
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

/** Lists possible duplicates, newest first: grants recorded at or after `since` with these credits, kind and pool. Excludes revoked grants. */
export function listTwins(tx: Tx, name: WalletName, twin: TwinOf): Promise<GrantRecord[]> {
  return listRows(
    tx,
    LIST_TWINS,
    [
      name.environmentId,
      name.customerNumber,
      twin.pool,
      GRANT_KIND_NUMBER[twin.kind],
      twin.credits,
      formatTimestamp(twin.since),
      twin.limit,
    ],
    GRANT_RECORD,
  );
}

const FIND_RECORD = statement(
  "grants.find_record",
  `
  select ${GRANT_RECORD.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = $3`,
);

export function findGrantRecord(tx: Tx, name: WalletName, number: number): Promise<GrantRecord | null> {
  return findRow(tx, FIND_RECORD, [name.environmentId, name.customerNumber, number], GRANT_RECORD);
}

const DETAILS = describeRow({
  number: GRANT.number,
  pool: GRANT.pool,
  kind: GRANT.kind,
  expiresAt: GRANT.expiresAt,
  reference: orNull(text("g.reference")),
});

export type GrantDetails = RowOf<typeof DETAILS>;

const LIST_DETAILS = statement(
  "explain.list_grants",
  `
  select ${DETAILS.list}
  from cell.grants as g
  where g.environment_id = $1
    and g.customer_number = $2
    and g.number = any($3::integer[])
  order by g.expires_at nulls last, g.number`,
);

/** Lists these grants in order of expiry, earliest first. Grants that never expire come last. */
export function listGrantDetails(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  numbers: readonly number[],
): Promise<GrantDetails[]> {
  return listRows(tx, LIST_DETAILS, [environmentId, customerNumber, integers(numbers)], DETAILS);
}
