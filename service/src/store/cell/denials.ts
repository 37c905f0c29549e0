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
  findRow,
  hexUuid,
  id,
  instant,
  integer,
  json,
  listRows,
  orNull,
  type RowOf,
  text,
  uuid,
} from "../../postgres/row.ts";
import { type Rows, type Statement, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureId,
  type FeatureKey,
  type Instant,
  type MemberId,
  type PlanVersionId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import type { WalletName } from "./wallets.ts";

/** The number stored for each reason in the tables `denials` and `keyed_requests`. Numbers are never reused. */
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
  assert(isReason(reason), "the reason of a denial is known");
  return reason;
}

function isReason(text: string | undefined): text is Reason {
  return text !== undefined && text in REASON_NUMBER;
}

/** Columns of `cell.denials as d`. */
export const DENIAL = {
  id: uuid("d.id"),
  recordedAt: instant("d.recorded_at"),
  reason: derive(integer("d.reason"), reasonOf),
  quantity: integer("d.quantity"),
  /** All items of the request as JSON, and the index of the denied item. Null for a request without items. */
  request: orNull(describeRow({ deniedItem: integer("d.item"), items: text("d.items") })),
  /** Credits that the denied item and earlier items need from the denied item's pool. */
  creditsRequired: integer("d.credits_required"),
  balance: integer("d.balance"),
  limit: orNull(describeRow({ quantity: integer("d.limit_quantity"), used: integer("d.limit_used") })),
  /** When the limit resets, if the reason is `limit_reached`. For other reasons, when the allowance renews. */
  resetsAt: orNull(instant("d.resets_at")),
  planVersion: orNull(id<PlanVersionId>("d.plan_version_id")),
  /** Number of the overrides that change the denied feature for the customer. Null if there are none. */
  overrides: orNull(integer("d.overrides_number")),
  keyHash: hexUuid("d.key_hash"),
  memberId: orNull(derive(text("d.member_id"), (value) => brandAs<MemberId>(value))),
} as const;

/** The items of a denied request, and the index of the denied item. */
export type DeniedItems = {
  readonly deniedItem: number;
  /** As JSON: the feature and quantity of each item. */
  readonly items: string;
};

export type DenialRow = WalletName & {
  readonly id: Uuid;
  readonly sequence: number;
  readonly creditsRequired: number;
  readonly position: Position;
  readonly keyHash: ShortHash;
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly request: DeniedItems | null;
  readonly planVersion: PlanVersionId | null;
  readonly overrides: number | null;
  readonly reason: Reason;
  readonly memberId: MemberId | null;
  readonly metadata: string | null;
};

const INSERT = statement(
  "denials.insert",
  `
  insert into cell.denials (
    recorded_at, id, customer_number, sequence, credits_required, balance, limit_quantity, limit_used, resets_at,
    key_hash, environment_id, feature_id, quantity, plan_version_id, reason, metadata, item, items, member_id,
    overrides_number
  )
  select
    $1::timestamptz, d.id, d.customer_number, d.sequence, d.credits_required, d.balance, d.limit_quantity, d.limit_used,
    d.resets_at, d.key_hash, d.environment_id, d.feature_id, d.quantity, d.plan_version_id, d.reason, d.metadata::jsonb,
    d.item, d.items, d.member_id, d.overrides_number
  from unnest(
    $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[],
    $10::uuid[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::smallint[], $16::text[],
    $17::smallint[], $18::text[], $19::text[], $20::integer[]
  ) as d (
    id, customer_number, sequence, credits_required, balance, limit_quantity, limit_used, resets_at, key_hash,
    environment_id, feature_id, quantity, plan_version_id, reason, metadata, item, items, member_id,
    overrides_number
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
    smallints(rows.map(({ request }) => request?.deniedItem ?? null)),
    texts(rows.map(({ request }) => request?.items ?? null)),
    texts(rows.map((row) => row.memberId)),
    integers(rows.map((row) => row.overrides)),
  ]);
}

/** When the limit resets, if the reason is `limit_reached`. For other reasons, when the allowance renews. */
function resetOf({ limit, resetsAt }: Position, reason: Reason): Instant | null {
  return reason === "limit_reached" ? (limit?.resetsAt ?? null) : resetsAt;
}

const RECORD = describeRow({
  ...DENIAL,
  feature: id<FeatureId>("d.feature_id"),
  metadata: orNull(json("d.metadata")),
});

/** A denial as the management API lists it. */
export type DenialRecord = RowOf<typeof RECORD>;

const LIST_RECORDS = statement(
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

/** Lists denials from `since` until `before`, newest first. */
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
  return listRows(tx, LIST_RECORDS, parameters, RECORD);
}

const EXPLAINED = describeRow({
  ...DENIAL,
  customerNumber: id<CustomerNumber>("d.customer_number"),
  /** The wallet's sequence at the decision. */
  sequence: integer("d.sequence"),
  feature: derive(text("f.key"), (key) => brandAs<FeatureKey>(key)),
  /** As JSON text. */
  metadata: orNull(text("d.metadata::text")),
});

/** A denied consume request, with the balance and limits at that moment. */
export type Denial = RowOf<typeof EXPLAINED>;

function denialStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
    select ${EXPLAINED.list}
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

/** Reads the time from a denial's ID, a UUIDv7 that starts with `recorded_at`. */
export function nameDenial(denialId: Uuid): DenialName {
  return { id: denialId, recordedAt: brandAs<Instant>(denialId.readUIntBE(0, 6)) };
}

/** Finds a denial. Null if the environment has no such denial. */
export function findDenial(tx: Tx, environmentId: EnvironmentId, name: DenialName): Promise<Denial | null> {
  const parameters = [environmentId, formatTimestamp(name.recordedAt), name.id.toString("hex")];
  return findRow(tx, FIND, parameters, EXPLAINED);
}

/** Lists a customer's denials before `before`, newest first. */
export function listDenials(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit }: { readonly before: DenialName; readonly limit: number },
): Promise<Denial[]> {
  const place = [formatTimestamp(before.recordedAt), before.id.toString("hex")];
  return listRows(tx, LIST, [environmentId, customerNumber, ...place, limit], EXPLAINED);
}
