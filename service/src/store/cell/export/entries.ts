import type { EntryKind, Part } from "../../../entitlement/entry.ts";
import type { ShortHash } from "../../../entitlement/fingerprint.ts";
import { bigints } from "../../../postgres/binary-array.ts";
import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureId,
  type Instant,
  type PlanVersionId,
  type PoolId,
} from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import { ENTRY_KIND_NUMBER, entryKindOf, parseParts } from "../ledger.ts";
import { recordedSince } from "../recorded-since.ts";
import type { ExportRange } from "./estimate.ts";

/** Somebody with a ledger, and how many entries it has. */
export type LedgerOwner = {
  readonly customerNumber: CustomerNumber;
  /** Null: erased since. */
  readonly customerId: CustomerId | null;
  readonly sequence: number;
};

const LIST_OWNERS = statement(
  "export.list_owners",
  `
  select w.customer_number, c.customer_id, w.sequence
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
export async function listLedgerOwners(
  tx: Tx,
  environmentId: EnvironmentId,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<LedgerOwner[]> {
  const { rows } = await tx.run(LIST_OWNERS, [environmentId, from, limit]);
  return rows.map(([number, customerId, sequence]) => ({
    customerNumber: brandAs<CustomerNumber>(readInteger(number)),
    customerId: readNullable(customerId, (id) => brandAs<CustomerId>(readText(id))),
    sequence: readInteger(sequence),
  }));
}

// A ledger is found by its customer alone, so that a run of each is read through the index; the limit keeps the planner from
// reading the whole table once instead.
const LIST = statement(
  "export.list_entries",
  `
  select
    r.position::integer,
    e.sequence,
    e.kind,
    e.pool_id,
    e.feature_id,
    e.quantity,
    e.amount,
    e.balance_after,
    (extract(epoch from e.happened_at) * 1000)::bigint,
    (extract(epoch from e.recorded_at) * 1000)::bigint,
    e.plan_version_id,
    e.metadata::text,
    encode(uuid_send(e.key_hash), 'hex'),
    e.reverses,
    (
      select (extract(epoch from c.recorded_at) * 1000)::bigint
      from cell.ledger as c
      where c.customer_number = r.customer_number
        and c.sequence = e.reverses
    ),
    coalesce(b.quantity, 0),
    coalesce(b.amount, 0),
    e.parts
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as r (customer_number, after, until, position)
  cross join lateral (
    select
      l.sequence, l.kind, l.pool_id, l.feature_id, l.quantity, l.amount, l.balance_after, l.recorded_at,
      coalesce(l.effective_at, l.recorded_at) as happened_at, l.plan_version_id, l.metadata, l.key_hash, l.reverses,
      l.parts
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

export type ExportedEntry = {
  readonly owner: LedgerOwner;
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly pool: PoolId;
  readonly feature: FeatureId | null;
  readonly quantity: number | null;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly effectiveAt: Instant;
  readonly recordedAt: Instant;
  readonly planVersion: PlanVersionId | null;
  /** JSON. */
  readonly metadata: string | null;
  readonly keyHash: ShortHash | null;
  readonly reverses: { readonly sequence: number; readonly recordedAt: Instant } | null;
  readonly reversedQuantity: number;
  readonly reversedCredits: number;
  readonly parts: readonly Part[];
};

/** Run after run, each in its order. */
export async function listExportedEntries(
  tx: Tx,
  { environmentId, from, to, settled }: ExportRange,
  { runs, kind }: { readonly runs: readonly EntryRun[]; readonly kind: EntryKind | null },
): Promise<ExportedEntry[]> {
  const { rows } = await tx.run({ ...LIST, name: "" }, [
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
  ]);
  return rows.flatMap((row) => {
    const owner = runs[readInteger(row[0]) - 1]?.owner;
    return owner === undefined ? [] : { owner, ...readEntry(row) };
  });
}

function readEntry(row: readonly unknown[]): Omit<ExportedEntry, "owner"> {
  const [, sequence, kind, pool, feature, quantity, amount, balanceAfter, effectiveAt, ...rest] = row;
  const [recordedAt, planVersion, metadata, keyHash, reverses, consumedAt, ...reversed] = rest;
  return {
    sequence: readInteger(sequence),
    kind: entryKindOf(readInteger(kind)),
    pool: brandAs<PoolId>(readInteger(pool)),
    feature: readNullable(feature, (id) => brandAs<FeatureId>(readInteger(id))),
    quantity: readNullable(quantity, readInteger),
    amount: readInteger(amount),
    balanceAfter: readInteger(balanceAfter),
    effectiveAt: readInstant(effectiveAt),
    recordedAt: readInstant(recordedAt),
    planVersion: readNullable(planVersion, (id) => brandAs<PlanVersionId>(readInteger(id))),
    metadata: readNullable(metadata, readText),
    keyHash: readNullable(keyHash, readText),
    // Nor where the charge's month is detached.
    reverses:
      reverses === null || consumedAt === null
        ? null
        : { sequence: readInteger(reverses), recordedAt: readInstant(consumedAt) },
    reversedQuantity: readInteger(reversed[0]),
    reversedCredits: readInteger(reversed[1]),
    parts: parseParts(readText(reversed[2])),
  };
}
