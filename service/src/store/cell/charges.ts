import {
  derive,
  describeRow,
  hexUuid,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { type Statement, statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, PlanVersionId, PoolId } from "../../primitives/brand.ts";
import { type ConsumeId, ITEMS_MAX, requestIdOf } from "../../primitives/consume-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { MEMBER, METADATA, PLACE } from "./ledger.ts";
import type { WalletName } from "./wallets.ts";

const CHARGE = describeRow({
  customerNumber: id<CustomerNumber>("e.customer_number"),
  sequence: integer("e.sequence"),
  recordedAt: instant("e.recorded_at"),
  feature: text("f.key"),
  quantity: integer("e.quantity"),
  // `-amount` would be -0 if nothing was charged.
  credits: derive(integer("e.amount"), (amount) => 0 - amount),
  overageCredits: integer("coalesce(e.overage, 0)"),
  balanceAfter: integer("e.balance_after"),
  pool: id<PoolId>("e.pool_id"),
  planVersion: id<PlanVersionId>("e.plan_version_id"),
  overrides: orNull(integer("e.overrides_number")),
  hold: orNull(integer("e.hold_number")),
  keyHash: orNull(hexUuid("e.key_hash")),
  memberId: MEMBER,
  place: PLACE,
  /** As JSON text. */
  metadata: orNull(text(`(${METADATA})::text`)),
  reversedQuantity: integer("coalesce(r.quantity, 0)"),
  reversedCredits: integer("coalesce(r.amount, 0)"),
  reversedOverageCredits: integer("coalesce(r.overage, 0)"),
});

const NAMED_CHARGE = derive(CHARGE, (charge) => ({ id: requestIdOf(charge), ...charge }));

/** A charge, as the management API shows it. */
export type Charge = RowOf<typeof NAMED_CHARGE>;

function chargeStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
    select ${CHARGE.list}
    from (
      select
        l.kind, l.environment_id, l.customer_number, l.sequence, l.recorded_at, l.feature_id, l.quantity, l.amount,
        l.balance_after, l.pool_id, l.plan_version_id, l.key_hash, l.metadata, l.item, l.items, l.member_id,
        l.overrides_number, l.hold_number, l.overage
      from cell.ledger as l
      where l.environment_id = $1
        and l.customer_number = $2
        and l.kind = 2
        ${which}
    ) as e
    join cell.features as f on f.environment_id = e.environment_id and f.id = e.feature_id
    left join lateral (
      select sum(r.quantity) as quantity, sum(r.amount) as amount, sum(r.overage) as overage
      from cell.ledger as r
      where r.customer_number = e.customer_number
        and r.reverses = e.sequence
    ) as r on true
    order by e.sequence desc`,
  );
}

const LIST_OF_REQUEST = chargeStatement(
  "explain.list_charges_of_request",
  `and l.sequence >= $3 and l.sequence < $3 + ${ITEMS_MAX} and l.sequence - coalesce(l.item, 0) = $3 and l.recorded_at = $4`,
);
const LIST = chargeStatement(
  "explain.list_charges",
  "and l.sequence < $3 order by l.customer_number desc, l.sequence desc limit $4",
);

/** The charges of one request, in ledger order. Empty if the environment has no such request. */
export async function listChargesOfRequest(
  tx: Tx,
  environmentId: EnvironmentId,
  { customerNumber, sequence, recordedAt }: ConsumeId,
): Promise<Charge[]> {
  const parameters = [environmentId, customerNumber, sequence, formatTimestamp(recordedAt)];
  return (await listRows(tx, LIST_OF_REQUEST, parameters, NAMED_CHARGE)).reverse();
}

/** A customer's charges with a sequence below `before`, newest first. */
export function listCharges(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<Charge[]> {
  return listRows(tx, LIST, [environmentId, customerNumber, before, limit], NAMED_CHARGE);
}
