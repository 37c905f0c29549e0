import type { Reason } from "../../entitlement/decide.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { readBytes, readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type FeatureId, type Instant, type PlanVersionId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import type { Uuid } from "../../words/uuid.ts";
import { reasonOf } from "./denials.ts";
import type { WalletName } from "./wallets.ts";

/** A denial as people see one. */
export type DenialRecord = {
  readonly id: Uuid;
  readonly recordedAt: Instant;
  readonly reason: Reason;
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly creditsRequired: number;
  readonly balance: number;
  readonly limit: { readonly quantity: number; readonly used: number } | null;
  readonly resetsAt: Instant | null;
  readonly planVersion: PlanVersionId | null;
  readonly keyHash: ShortHash;
  readonly metadata: Readonly<Record<string, unknown>> | null;
};

const LIST = statement(
  "denials.list",
  `
  select
    uuid_send(d.id),
    (extract(epoch from d.recorded_at) * 1000)::bigint,
    d.reason,
    d.feature_id,
    d.quantity,
    d.credits_required,
    d.balance,
    d.limit_quantity,
    d.limit_used,
    (extract(epoch from d.resets_at) * 1000)::bigint,
    d.plan_version_id,
    encode(uuid_send(d.key_hash), 'hex'),
    d.metadata::text
  from cell.denials as d
  where d.environment_id = $1
    and d.customer_number = $2
    and d.recorded_at <= $3::timestamptz
    and d.recorded_at >= $6::timestamptz
    and (d.recorded_at, d.id) < ($3::timestamptz, $4::uuid)
  order by d.recorded_at desc, d.id desc
  limit $5`,
);

export type DenialPlace = { readonly recordedAt: Instant; readonly id: string };

/** The newest first, after the one at this place, back to `since`. */
export async function listDenialRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: DenialPlace; readonly since: Instant; readonly limit: number },
): Promise<DenialRecord[]> {
  const { recordedAt, id } = page.before;
  const { environmentId, customerNumber } = name;
  const { rows } = await tx.run(LIST, [
    environmentId,
    customerNumber,
    formatTimestamp(recordedAt),
    id,
    page.limit,
    formatTimestamp(page.since),
  ]);
  return rows.map(readRecord);
}

function readRecord(row: readonly unknown[]): DenialRecord {
  const [id, recordedAt, reason, feature, quantity, creditsRequired, balance, ...rest] = row;
  const [limitQuantity, limitUsed, resetsAt, planVersion, keyHash, metadata] = rest;
  return {
    id: readBytes(id),
    recordedAt: readInstant(recordedAt),
    reason: reasonOf(readInteger(reason)),
    feature: brandAs<FeatureId>(readInteger(feature)),
    quantity: readInteger(quantity),
    creditsRequired: readInteger(creditsRequired),
    balance: readInteger(balance),
    limit:
      limitQuantity === null ? null : { quantity: readInteger(limitQuantity), used: readInteger(limitUsed) },
    resetsAt: readNullable(resetsAt, readInstant),
    planVersion: readNullable(planVersion, (version) => brandAs<PlanVersionId>(readInteger(version))),
    keyHash: readText(keyHash),
    metadata: readNullable(metadata, (text) => JSON.parse(readText(text))),
  };
}
