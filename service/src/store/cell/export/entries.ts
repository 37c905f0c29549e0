import type { EntryKind } from "../../../entitlement/entry.ts";
import { bigints } from "../../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  id,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../../postgres/row.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
} from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { ENTRY, ENTRY_KIND_NUMBER } from "../ledger.ts";
import { recordedSince } from "../recorded-since.ts";
import type { ExportRange } from "./estimate.ts";

const OWNER = describeRow({
  customerNumber: id<CustomerNumber>("w.customer_number"),
  /** Null: erased since. */
  customerId: orNull(derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value))),
  sequence: integer("w.sequence"),
});

/** Somebody with a ledger, and how many entries it has. */
export type LedgerOwner = RowOf<typeof OWNER>;

const LIST_OWNERS = statement(
  "export.list_owners",
  `
  select ${OWNER.list}
  from cell.wallets as w
  left join cell.customers as c
    on c.environment_id = w.environment_id
    and c.number = w.customer_number
    and c.erased_at is null
  where w.environment_id = $1
    and w.customer_number >= $2
  order by w.customer_number
  limit $3`,
);

/** By their number, from this one on. */
export function listLedgerOwners(
  tx: Tx,
  environmentId: EnvironmentId,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<LedgerOwner[]> {
  return listRows(tx, LIST_OWNERS, [environmentId, from, limit], OWNER);
}

const EXPORTED = describeRow({
  /** Of its run, from 1 on. */
  run: integer("r.position::integer"),
  entry: describeRow({
    ...ENTRY,
    /** JSON. */
    metadata: orNull(text("e.metadata::text")),
    reversedQuantity: integer("coalesce(b.quantity, 0)"),
    reversedCredits: integer("coalesce(b.amount, 0)"),
  }),
});

// A ledger is found by its customer alone, so that a run of each is read through the index; the limit keeps the planner from
// reading the whole table once instead.
const LIST = statement(
  "export.list_entries",
  `
  select ${EXPORTED.list}
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as r (customer_number, after, until, position)
  cross join lateral (
    select
      l.customer_number, l.sequence, l.kind, l.pool_id, l.feature_id, l.quantity, l.amount, l.balance_after, l.recorded_at,
      l.effective_at, l.plan_version_id, l.metadata, l.key_hash, l.reverses, l.parts
    from cell.ledger as l
    where l.environment_id = $4
      and l.customer_number = r.customer_number
      and l.sequence > r.after
      and l.sequence <= r.until
      and l.recorded_at >= ${recordedSince({ environment: "$4", from: "$5" })}
      and l.transaction_number < $7
      and l.transaction_number <> all($10::bigint[])
      and coalesce(l.effective_at, l.recorded_at) >= $5::timestamptz
      and coalesce(l.effective_at, l.recorded_at) < $6::timestamptz
      and ($8::smallint is null or l.kind = $8)
    order by l.customer_number, l.sequence
    limit $9
  ) as e
  left join lateral (
    select sum(b.quantity) as quantity, sum(b.amount) as amount
    from cell.ledger as b
    where e.kind = 2
      and b.customer_number = r.customer_number
      and b.reverses = e.sequence
      and b.transaction_number < $7
      and b.transaction_number <> all($10::bigint[])
  ) as b on true
  order by r.position, e.sequence`,
);

/** Entries of one customer, after one and up to another. */
export type EntryRun = {
  readonly owner: LedgerOwner;
  readonly after: number;
  readonly until: number;
};

export type ExportedEntry = RowOf<typeof EXPORTED>["entry"] & { readonly owner: LedgerOwner };

/** Run after run, each in its order. */
export async function listExportedEntries(
  tx: Tx,
  { environmentId, from, to, settled }: ExportRange,
  { runs, kind }: { readonly runs: readonly EntryRun[]; readonly kind: EntryKind | null },
): Promise<ExportedEntry[]> {
  const parameters = [
    bigints(runs.map(({ owner }) => owner.customerNumber)),
    bigints(runs.map(({ after }) => after)),
    bigints(runs.map(({ until }) => until)),
    environmentId,
    formatTimestamp(from),
    formatTimestamp(to),
    settled.below,
    kind === null ? null : ENTRY_KIND_NUMBER[kind],
    Math.max(...runs.map(({ after, until }) => until - after)),
    bigints(settled.without),
  ];
  const rows = await listRows(tx, { ...LIST, name: "" }, parameters, EXPORTED);
  return rows.flatMap(({ run, entry }) => {
    const owner = runs[run - 1]?.owner;
    return owner === undefined ? [] : { owner, ...entry };
  });
}
