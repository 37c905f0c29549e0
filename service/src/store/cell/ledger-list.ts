import type { EntryKind, Part } from "../../entitlement/entry.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type FeatureId, type Instant, type PlanVersionId, type PoolId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { ENTRY_KIND_NUMBER, entryKindOf, parseParts } from "./ledger.ts";
import type { WalletName } from "./wallets.ts";

/** An entry as people see one. */
export type LedgerRecord = {
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
  readonly parts: readonly Part[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly keyHash: ShortHash | null;
  /** Of a reversal: the consume. */
  readonly reverses: { readonly sequence: number; readonly recordedAt: Instant } | null;
  /** Of a consume: how much of its quantity was reversed. */
  readonly reversedQuantity: number | null;
};

const LIST = statement(
  "ledger.list",
  `
  select
    e.sequence,
    e.kind,
    e.pool_id,
    e.feature_id,
    e.quantity,
    e.amount,
    e.balance_after,
    (extract(epoch from coalesce(e.effective_at, e.recorded_at)) * 1000)::bigint,
    (extract(epoch from e.recorded_at) * 1000)::bigint,
    e.plan_version_id,
    e.parts,
    e.metadata::text,
    encode(uuid_send(e.key_hash), 'hex'),
    e.reverses,
    (
      select (extract(epoch from c.recorded_at) * 1000)::bigint
      from cell.ledger as c
      where c.customer_number = e.customer_number
        and c.sequence = e.reverses
    ),
    case
      when e.kind = 2 then (
        select coalesce(sum(r.quantity), 0)
        from cell.ledger as r
        where r.customer_number = e.customer_number
          and r.reverses = e.sequence
      )
    end
  from cell.ledger as e
  where e.environment_id = $1
    and e.customer_number = $2
    and e.sequence < $3
    and e.sequence > $4
    and ($5::smallint is null or e.kind = $5)
    and ($6::integer is null or e.feature_id = $6)
    and coalesce(e.effective_at, e.recorded_at) >= $8::timestamptz
  order by e.sequence desc
  limit $7`,
);

export type LedgerRange = {
  /** Entries below this one, */
  readonly before: number;
  /** and above this one. */
  readonly after: number;
  readonly kind: EntryKind | null;
  readonly feature: FeatureId | null;
  /** By the entries' own time. */
  readonly since: Instant;
  readonly limit: number;
};

/** The newest first. */
export async function listLedger(tx: Tx, name: WalletName, range: LedgerRange): Promise<LedgerRecord[]> {
  const { rows } = await tx.run(LIST, [
    name.environmentId,
    name.customerNumber,
    range.before,
    range.after,
    range.kind === null ? null : ENTRY_KIND_NUMBER[range.kind],
    range.feature,
    range.limit,
    formatTimestamp(range.since),
  ]);
  return rows.map(readRecord);
}

function readRecord(row: readonly unknown[]): LedgerRecord {
  const [sequence, kind, pool, feature, quantity, amount, balanceAfter, effectiveAt, recordedAt, ...rest] =
    row;
  const [planVersion, parts, metadata, keyHash, reverses, consumedAt, reversedQuantity] = rest;
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
    parts: parseParts(readText(parts)),
    metadata: readNullable(metadata, (text) => JSON.parse(readText(text))),
    keyHash: readNullable(keyHash, readText),
    // Nor where the charge's month is detached.
    reverses:
      reverses === null || consumedAt === null
        ? null
        : { sequence: readInteger(reverses), recordedAt: readInstant(consumedAt) },
    reversedQuantity: readNullable(reversedQuantity, readInteger),
  };
}
