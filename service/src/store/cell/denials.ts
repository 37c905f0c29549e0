import type { Position, Reason } from "../../entitlement/decide.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import {
  bigints,
  hexUuids,
  integers,
  smallints,
  texts,
  timestamps,
  uuids,
} from "../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  hexUuid,
  id,
  instant,
  integer,
  json,
  listRows,
  orNull,
  type RowOf,
  uuid,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { FeatureId, Instant, PlanVersionId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import type { WalletName } from "./wallets.ts";

/** How a reason is stored, here and under its key. A number is never given to another reason. */
export const REASON_NUMBER = {
  customer_blocked: 1,
  customer_not_found: 2,
  no_active_plan: 3,
  feature_not_in_plan: 4,
  limit_reached: 5,
  insufficient_credits: 6,
} as const satisfies Record<Reason, number>;

const REASONS = new Map(
  Object.entries(REASON_NUMBER).map(([reason, number]): [number, string] => [number, reason]),
);

export function reasonOf(number: number): Reason {
  const reason = REASONS.get(number);
  assert(isReason(reason), "a reason is a known one");
  return reason;
}

function isReason(text: string | undefined): text is Reason {
  return text !== undefined && text in REASON_NUMBER;
}

/** Of the denials as `d`. */
export const DENIAL = {
  id: uuid("d.id"),
  recordedAt: instant("d.recorded_at"),
  reason: derive(integer("d.reason"), reasonOf),
  quantity: integer("d.quantity"),
  creditsRequired: integer("d.credits_required"),
  balance: integer("d.balance"),
  limit: orNull(describeRow({ quantity: integer("d.limit_quantity"), used: integer("d.limit_used") })),
  /** Of the limit that was reached, or else of the plan's credits. */
  resetsAt: orNull(instant("d.resets_at")),
  planVersion: orNull(id<PlanVersionId>("d.plan_version_id")),
  keyHash: hexUuid("d.key_hash"),
} as const;

export type DenialRow = WalletName & {
  readonly id: Uuid;
  readonly sequence: number;
  readonly creditsRequired: number;
  readonly position: Position;
  readonly keyHash: ShortHash;
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly planVersion: PlanVersionId | null;
  readonly reason: Reason;
  readonly metadata: string | null;
};

const INSERT = statement(
  "denials.insert",
  `
  insert into cell.denials (
    recorded_at, id, customer_number, sequence, credits_required, balance, limit_quantity, limit_used, resets_at,
    key_hash, environment_id, feature_id, quantity, plan_version_id, reason, metadata
  )
  select
    $1::timestamptz, d.id, d.customer_number, d.sequence, d.credits_required, d.balance, d.limit_quantity, d.limit_used,
    d.resets_at, d.key_hash, d.environment_id, d.feature_id, d.quantity, d.plan_version_id, d.reason, d.metadata::jsonb
  from unnest(
    $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[],
    $10::uuid[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::smallint[], $16::text[]
  ) as d (
    id, customer_number, sequence, credits_required, balance, limit_quantity, limit_used, resets_at, key_hash,
    environment_id, feature_id, quantity, plan_version_id, reason, metadata
  )`,
);

export function insertDenials(tx: Tx, rows: readonly DenialRow[], recordedAt: Instant): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(recordedAt),
    uuids(rows.map((row) => row.id)),
    bigints(rows.map((row) => row.customerNumber)),
    bigints(rows.map((row) => row.sequence)),
    bigints(rows.map((row) => row.creditsRequired)),
    bigints(rows.map(({ position }) => position.balance)),
    bigints(rows.map(({ position }) => position.limit?.quantity ?? null)),
    bigints(rows.map(({ position }) => position.limit?.used ?? null)),
    timestamps(rows.map(({ position, reason }) => resetOf(position, reason))),
    hexUuids(rows.map((row) => row.keyHash)),
    integers(rows.map((row) => row.environmentId)),
    integers(rows.map((row) => row.feature)),
    integers(rows.map((row) => row.quantity)),
    integers(rows.map((row) => row.planVersion)),
    smallints(rows.map((row) => REASON_NUMBER[row.reason])),
    texts(rows.map((row) => row.metadata)),
  ]);
}

/** When waiting helps: when the limit that was reached starts again, or else the allowance. */
function resetOf({ limit, resetsAt }: Position, reason: Reason): Instant | null {
  return reason === "limit_reached" ? (limit?.resetsAt ?? null) : resetsAt;
}

const RECORD = describeRow({
  ...DENIAL,
  feature: id<FeatureId>("d.feature_id"),
  metadata: orNull(json("d.metadata")),
});

/** A denial as people see one. */
export type DenialRecord = RowOf<typeof RECORD>;

const LIST = statement(
  "denials.list",
  `
  select ${RECORD.list}
  from cell.denials as d
  where d.environment_id = $1
    and d.customer_number = $2
    and d.recorded_at <= $3::timestamptz
    and d.recorded_at >= $6::timestamptz
    and (d.recorded_at, d.id) < ($3::timestamptz, $4::uuid)
  order by d.recorded_at desc, d.id desc
  limit $5`,
);

type DenialPosition = { readonly recordedAt: Instant; readonly id: string };

/** The newest first, after the one at this place, back to `since`. */
export function listDenialRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: DenialPosition; readonly since: Instant; readonly limit: number },
): Promise<DenialRecord[]> {
  const { before } = page;
  const { environmentId, customerNumber } = name;
  const parameters = [
    environmentId,
    customerNumber,
    formatTimestamp(before.recordedAt),
    before.id,
    page.limit,
    formatTimestamp(page.since),
  ];
  return listRows(tx, LIST, parameters, RECORD);
}
