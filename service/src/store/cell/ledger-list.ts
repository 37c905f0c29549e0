import type { EntryKind } from "../../entitlement/entry.ts";
import { describeRow, integer, json, listRows, orNull, type RowOf } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { FeatureId, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { ENTRY, ENTRY_KIND_NUMBER } from "./ledger.ts";
import type { WalletName } from "./wallets.ts";

const RECORD = describeRow({
  ...ENTRY,
  metadata: orNull(json("e.metadata")),
  /** Of a consume: how much of its quantity was reversed. */
  reversedQuantity: orNull(
    integer(`case
      when e.kind = 2 then (
        select coalesce(sum(r.quantity), 0)
        from cell.ledger as r
        where r.customer_number = e.customer_number
          and r.reverses = e.sequence
      )
    end`),
  ),
});

/** An entry as people see one. */
export type LedgerRecord = RowOf<typeof RECORD>;

const LIST = statement(
  "ledger.list",
  `
  select ${RECORD.list}
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
export function listLedger(tx: Tx, name: WalletName, range: LedgerRange): Promise<LedgerRecord[]> {
  const parameters = [
    name.environmentId,
    name.customerNumber,
    range.before,
    range.after,
    range.kind === null ? null : ENTRY_KIND_NUMBER[range.kind],
    range.feature,
    range.limit,
    formatTimestamp(range.since),
  ];
  return listRows(tx, LIST, parameters, RECORD);
}
