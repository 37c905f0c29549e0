import type { ConsumeFacts } from "../../entitlement/reverse-consume.ts";
import { derive, describeRow, id, integer, listRows, orNull, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { FeatureId, Instant, PlanVersionId, PoolId } from "../../primitives/brand.ts";
import { ITEMS_MAX } from "../../primitives/consume-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { MEMBER, PLACE, parseOverage, parseParts } from "./ledger.ts";
import type { WalletName } from "./wallets.ts";

// Before a reversal, reads the charges of the request and their earlier reversals.

const CONSUME = describeRow({
  sequence: integer("e.sequence"),
  pool: id<PoolId>("e.pool_id"),
  feature: id<FeatureId>("e.feature_id"),
  quantity: integer("e.quantity"),
  planVersion: id<PlanVersionId>("e.plan_version_id"),
  assignment: integer("e.assignment_number"),
  overrides: orNull(integer("e.overrides_number")),
  hold: orNull(integer("e.hold_number")),
  place: PLACE,
  memberId: MEMBER,
  parts: derive(text("e.parts"), parseParts),
  overage: derive(text("coalesce(e.overage_parts, '')"), parseOverage),
  reversedQuantity: integer(`coalesce((
      select sum(r.quantity)
      from cell.ledger as r
      where r.customer_number = e.customer_number
        and r.reverses = e.sequence
    ), 0)`),
});

// The charges of one request have consecutive sequences and the same time.
const LIST_CONSUMES = statement(
  "ledger.list_consumes",
  `
  select ${CONSUME.list}
  from cell.ledger as e
  where e.customer_number = $1
    and e.sequence >= $2
    and e.sequence < $2 + ${ITEMS_MAX}
    and e.sequence - coalesce(e.item, 0) = $2
    and e.recorded_at = $3
    and e.environment_id = $4
    and e.kind = 2
  order by e.sequence`,
);

/** A charge, and the member who made it. */
export type StoredConsume = ConsumeFacts & RowOf<typeof CONSUME>;

export type ConsumeName = WalletName & { readonly sequence: number; readonly recordedAt: Instant };

/**
 * Lists the charges of one request, in ledger order. Empty if there is no such request. The wallet must be locked, so that no other
 * transaction can reverse these charges meanwhile.
 */
export function listConsumes(tx: Tx, name: ConsumeName): Promise<StoredConsume[]> {
  const { customerNumber, sequence, recordedAt, environmentId } = name;
  const parameters = [customerNumber, sequence, formatTimestamp(recordedAt), environmentId];
  return listRows(tx, LIST_CONSUMES, parameters, CONSUME);
}

const REVERSAL = describeRow({
  item: integer("coalesce(r.item, 0)"),
  quantity: integer("r.quantity"),
  credits: integer("r.amount"),
  overageCredits: integer("coalesce(r.overage, 0)"),
});

const LIST_REVERSALS = statement(
  "ledger.list_reversals",
  `
  select ${REVERSAL.list}
  from cell.ledger as r
  where r.customer_number = $1
    and r.reverses >= $2
    and r.reverses < $2 + ${ITEMS_MAX}
    and r.reverses - coalesce(r.item, 0) = $2
    and r.metadata ->> 'reference' = $3
  order by r.reverses`,
);

/** Lists the reversals of a request's charges that have this reference. The wallet must be locked. */
export function listReversals(
  tx: Tx,
  consume: Pick<ConsumeName, "customerNumber" | "sequence">,
  reference: string,
): Promise<RowOf<typeof REVERSAL>[]> {
  return listRows(tx, LIST_REVERSALS, [consume.customerNumber, consume.sequence, reference], REVERSAL);
}
