import type { ShortHash } from "../../../entitlement/fingerprint.ts";
import { readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { type Statement, statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PlanVersionId,
  type PoolId,
} from "../../../words/brand.ts";
import { type ConsumeId, consumeId } from "../../../words/consume-id.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";
import type { WalletName } from "../wallets.ts";

/** An allowed consume, as people see one. */
export type Charge = {
  readonly id: Uuid;
  readonly customerNumber: CustomerNumber;
  readonly sequence: number;
  readonly recordedAt: Instant;
  readonly feature: string;
  readonly quantity: number;
  readonly credits: number;
  readonly balanceAfter: number;
  readonly pool: PoolId;
  readonly planVersion: PlanVersionId;
  readonly keyHash: ShortHash | null;
  /** JSON. */
  readonly metadata: string | null;
  readonly reversedQuantity: number;
  readonly reversedCredits: number;
};

function chargeStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
    select
      e.customer_number,
      e.sequence,
      (extract(epoch from e.recorded_at) * 1000)::bigint,
      f.key,
      e.quantity,
      e.amount,
      e.balance_after,
      e.pool_id,
      e.plan_version_id,
      encode(uuid_send(e.key_hash), 'hex'),
      e.metadata::text,
      coalesce(r.quantity, 0),
      coalesce(r.amount, 0)
    from (
      select
        l.environment_id, l.customer_number, l.sequence, l.recorded_at, l.feature_id, l.quantity, l.amount,
        l.balance_after, l.pool_id, l.plan_version_id, l.key_hash, l.metadata
      from cell.ledger as l
      where l.environment_id = $1
        and l.customer_number = $2
        and l.kind = 2
        ${which}
    ) as e
    join cell.features as f on f.environment_id = e.environment_id and f.id = e.feature_id
    left join lateral (
      select sum(r.quantity) as quantity, sum(r.amount) as amount
      from cell.ledger as r
      where r.customer_number = e.customer_number
        and r.reverses = e.sequence
    ) as r on true
    order by e.sequence desc`,
  );
}

const FIND = chargeStatement("explain.find_charge", "and l.sequence = $3 and l.recorded_at = $4");
const LIST = chargeStatement(
  "explain.list_charges",
  "and l.sequence < $3 order by l.customer_number desc, l.sequence desc limit $4",
);

/** Null: there is no such charge in this environment. */
export async function findCharge(
  tx: Tx,
  environmentId: EnvironmentId,
  { customerNumber, sequence, recordedAt }: ConsumeId,
): Promise<Charge | null> {
  const { rows } = await tx.run(FIND, [environmentId, customerNumber, sequence, formatTimestamp(recordedAt)]);
  return rows[0] === undefined ? null : readCharge(rows[0]);
}

/** Of one customer, the newest first: those with an entry before this one. */
export async function listCharges(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<Charge[]> {
  const { rows } = await tx.run(LIST, [environmentId, customerNumber, before, limit]);
  return rows.map(readCharge);
}

function readCharge(row: readonly unknown[]): Charge {
  const name = {
    customerNumber: brandAs<CustomerNumber>(readInteger(row[0])),
    sequence: readInteger(row[1]),
    recordedAt: readInstant(row[2]),
  };
  return {
    id: consumeId(name),
    ...name,
    feature: readText(row[3]),
    quantity: readInteger(row[4]),
    // Not -0, where nothing was charged.
    credits: 0 - readInteger(row[5]),
    balanceAfter: readInteger(row[6]),
    pool: brandAs<PoolId>(readInteger(row[7])),
    planVersion: brandAs<PlanVersionId>(readInteger(row[8])),
    keyHash: readNullable(row[9], readText),
    metadata: readNullable(row[10], readText),
    reversedQuantity: readInteger(row[11]),
    reversedCredits: readInteger(row[12]),
  };
}
