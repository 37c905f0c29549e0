import type { GrantKind } from "../../entitlement/wallet.ts";
import { integers } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import {
  derive,
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
import {
  brandAs,
  type CustomerId,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { GRANT } from "./grants.ts";
import { GRANT_KIND_NUMBER } from "./wallet-state.ts";
import type { WalletName } from "./wallets.ts";

/** Of the grants as `g`. */
export const GRANT_RECORD = describeRow({
  ...GRANT,
  recordedAt: instant("g.recorded_at"),
  effectiveAt: instant("g.effective_at"),
  revokedAt: orNull(instant("g.revoked_at")),
  reference: orNull(text("g.reference")),
  price: orNull(describeRow({ amount: integer("g.price_amount"), currency: text("g.price_currency") })),
  note: orNull(text("g.note")),
});

/** A grant as people see one. */
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
  /** Back to here by their own time, */
  readonly since: Instant;
  /** and of those before it only the grants of these slots. */
  readonly open: readonly number[];
};

/** The newest first. */
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

type GrantPosition = { readonly customerNumber: number; readonly number: number };

const EXPORTED = describeRow({
  grant: GRANT_RECORD,
  customerNumber: integer("g.customer_number"),
  /** Null: erased since. */
  customerId: orNull(derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value))),
});

type Exported = RowOf<typeof EXPORTED>;

export type ExportedGrant = Exported["grant"] & Omit<Exported, "grant">;

const LIST_EXPORTED = statement(
  "export.list_grants",
  `
  select ${EXPORTED.list}
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
  { after, limit }: { readonly after: GrantPosition; readonly limit: number },
): Promise<ExportedGrant[]> {
  const parameters = [environmentId, after.customerNumber, after.number, limit];
  const rows = await listRows(tx, LIST_EXPORTED, parameters, EXPORTED);
  return rows.map(({ grant, ...owner }) => ({ ...grant, ...owner }));
}
