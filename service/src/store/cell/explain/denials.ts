import type { Reason } from "../../../entitlement/decide.ts";
import type { ShortHash } from "../../../entitlement/fingerprint.ts";
import { readBytes, readInstant, readInteger, readNullable, readText } from "../../../postgres/column.ts";
import { type Statement, statement, type Tx } from "../../../postgres/statement.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureKey,
  type Instant,
  type PlanVersionId,
} from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";
import { reasonOf } from "../denials.ts";
import type { WalletName } from "../wallets.ts";

/** A denied consume, with the arithmetic of the moment. */
export type Denial = {
  readonly id: Uuid;
  readonly recordedAt: Instant;
  readonly customerNumber: CustomerNumber;
  /** Of the wallet at the decision. */
  readonly sequence: number;
  readonly creditsRequired: number;
  readonly balance: number;
  readonly limit: { readonly quantity: number; readonly used: number } | null;
  /** Of the limit that was reached, or else of the plan's credits. */
  readonly resetsAt: Instant | null;
  readonly keyHash: ShortHash;
  readonly feature: FeatureKey;
  readonly quantity: number;
  readonly planVersion: PlanVersionId | null;
  readonly reason: Reason;
  /** JSON. */
  readonly metadata: string | null;
};

function denialStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
    select
      uuid_send(d.id),
      (extract(epoch from d.recorded_at) * 1000)::bigint,
      d.customer_number,
      d.sequence,
      d.credits_required,
      d.balance,
      d.limit_quantity,
      d.limit_used,
      (extract(epoch from d.resets_at) * 1000)::bigint,
      encode(uuid_send(d.key_hash), 'hex'),
      f.key,
      d.quantity,
      d.plan_version_id,
      d.reason,
      d.metadata::text
    from cell.denials as d
    join cell.features as f on f.environment_id = d.environment_id and f.id = d.feature_id
    where d.environment_id = $1
      ${which}`,
  );
}

const FIND = denialStatement("explain.find_denial", "and d.recorded_at = $2 and d.id = $3");
const LIST = denialStatement(
  "explain.list_denials",
  `and d.customer_number = $2
      and d.recorded_at <= $3::timestamptz
      and (d.recorded_at < $3::timestamptz or d.id < $4::uuid)
    order by d.recorded_at desc, d.id desc
    limit $5`,
);

export type DenialName = { readonly recordedAt: Instant; readonly id: Uuid };

/** The id is a UUIDv7 of when it was recorded. */
export function nameDenial(id: Uuid): DenialName {
  return { id, recordedAt: brandAs<Instant>(id.readUIntBE(0, 6)) };
}

/** Null: there is no such denial in this environment. */
export async function findDenial(
  tx: Tx,
  environmentId: EnvironmentId,
  { recordedAt, id }: DenialName,
): Promise<Denial | null> {
  const { rows } = await tx.run(FIND, [environmentId, formatTimestamp(recordedAt), id.toString("hex")]);
  return rows[0] === undefined ? null : readDenial(rows[0]);
}

/** Of one customer, the newest first: those before this one. */
export async function listDenials(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit }: { readonly before: DenialName; readonly limit: number },
): Promise<Denial[]> {
  const { rows } = await tx.run(LIST, [
    environmentId,
    customerNumber,
    formatTimestamp(before.recordedAt),
    before.id.toString("hex"),
    limit,
  ]);
  return rows.map(readDenial);
}

function readDenial(row: readonly unknown[]): Denial {
  const limitQuantity = readNullable(row[6], readInteger);
  return {
    id: readBytes(row[0]),
    recordedAt: readInstant(row[1]),
    customerNumber: brandAs<CustomerNumber>(readInteger(row[2])),
    sequence: readInteger(row[3]),
    creditsRequired: readInteger(row[4]),
    balance: readInteger(row[5]),
    limit: limitQuantity === null ? null : { quantity: limitQuantity, used: readInteger(row[7]) },
    resetsAt: readNullable(row[8], readInstant),
    keyHash: readText(row[9]),
    feature: brandAs<FeatureKey>(readText(row[10])),
    quantity: readInteger(row[11]),
    planVersion: readNullable(row[12], (value) => brandAs<PlanVersionId>(readInteger(value))),
    reason: reasonOf(readInteger(row[13])),
    metadata: readNullable(row[14], readText),
  };
}
