import type { Entry, EntryKind, Part } from "../../entitlement/entry.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { OveragePart } from "../../entitlement/wallet.ts";
import { readInstant } from "../../postgres/column.ts";
import { columnsOf, Insert } from "../../postgres/insert.ts";
import {
  column,
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
  text,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type MemberId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

export type LedgerRow = WalletName & {
  readonly entry: Entry;
  /** The idempotency key, the member and the caller's metadata. Set only for a consume entry or a reversal. */
  readonly keyHash: ShortHash | null;
  readonly memberId: MemberId | null;
  readonly metadata: string | null;
};

export const ENTRY_KIND_NUMBER = {
  grant: 1,
  consume: 2,
  expire: 3,
  revoke: 4,
  reverse: 5,
} as const satisfies Record<EntryKind, number>;

const KIND_OF_NUMBER = new Map<number, EntryKind>();
for (const kind of ["grant", "consume", "expire", "revoke", "reverse"] as const)
  KIND_OF_NUMBER.set(ENTRY_KIND_NUMBER[kind], kind);

export function entryKindOf(number: number): EntryKind {
  const kind = KIND_OF_NUMBER.get(number);
  assert(kind !== undefined, "the kind of an entry is known");
  return kind;
}

/** The position of a charge among the charges of its request, from `cell.ledger as e`. */
export const PLACE = orNull(describeRow({ index: integer("e.item"), of: integer("e.items") }));

/** The metadata of `cell.ledger as e`. Later charges of a request use the metadata of its first charge. */
export const METADATA = `case
    when e.kind = 2 and e.item > 0 then (
      select f.metadata
      from cell.ledger as f
      where f.customer_number = e.customer_number
        and f.sequence = e.sequence - e.item
        and f.recorded_at = e.recorded_at
    )
    else e.metadata
  end`;

/** The member named by the request, from `cell.ledger as e`. A reversal has the member of its charge. */
export const MEMBER = orNull(derive(text("e.member_id"), (value) => brandAs<MemberId>(value)));

/** Columns of `cell.ledger as e`. */
export const ENTRY = {
  sequence: integer("e.sequence"),
  kind: derive(integer("e.kind"), entryKindOf),
  pool: id<PoolId>("e.pool_id"),
  feature: orNull(id<FeatureId>("e.feature_id")),
  quantity: orNull(integer("e.quantity")),
  amount: integer("e.amount"),
  balanceAfter: integer("e.balance_after"),
  effectiveAt: instant("coalesce(e.effective_at, e.recorded_at)"),
  recordedAt: instant("e.recorded_at"),
  planVersion: orNull(id<PlanVersionId>("e.plan_version_id")),
  overrides: orNull(integer("e.overrides_number")),
  parts: derive(text("e.parts"), parseParts),
  keyHash: orNull(hexUuid("e.key_hash")),
  memberId: MEMBER,
  place: PLACE,
  /** The part of a charge's price that nothing covered. For a reversal, the part that it undoes. */
  uncovered: integer("coalesce(e.uncovered, 0)"),
  /** The part of a charge's price that was charged as overage. For a reversal, the part that it undoes. */
  overage: integer("coalesce(e.overage, 0)"),
  /** The hold that wrote the entry when it ended. */
  hold: orNull(
    describeRow({
      number: integer("e.hold_number"),
      openedAt: column(
        readInstant,
        `case when e.hold_number is not null then (
      select (extract(epoch from h.opened_at) * 1000)::bigint
      from cell.hold_changes as h
      where h.environment_id = e.environment_id
        and h.customer_number = e.customer_number
        and h.hold_number = e.hold_number
      limit 1
    ) end`,
      ),
    }),
  ),
  /** The reversed charge. Set only for a reversal. Also null if the charge's month is detached. */
  reverses: orNull(
    describeRow({
      recordedAt: column(
        readInstant,
        `(
      select (extract(epoch from c.recorded_at) * 1000)::bigint
      from cell.ledger as c
      where c.customer_number = e.customer_number
        and c.sequence = e.reverses
    )`,
      ),
      sequence: integer("e.reverses"),
    }),
  ),
} as const;

const columns = columnsOf<LedgerRow>();

const APPEND = new Insert<LedgerRow>("ledger.append", "ledger", {
  usual: [
    columns.bigint("customer_number", (row) => row.customerNumber),
    columns.bigint("sequence", ({ entry }) => entry.sequence),
    columns.bigint("amount", ({ entry }) => entry.amount),
    columns.bigint("balance_after", ({ entry }) => entry.balanceAfter),
    columns.hexUuid("key_hash", (row) => row.keyHash),
    columns.integer("environment_id", (row) => row.environmentId),
    columns.integer("pool_id", ({ entry }) => entry.pool),
    columns.integer("feature_id", ({ entry }) => entry.usage?.feature ?? null),
    columns.integer("quantity", ({ entry }) => entry.usage?.quantity ?? null),
    columns.integer("plan_version_id", ({ entry }) => entry.usage?.planVersion ?? null),
    columns.integer("assignment_number", ({ entry }) => entry.usage?.assignment ?? null),
    columns.smallint("kind", ({ entry }) => ENTRY_KIND_NUMBER[entry.kind]),
    columns.text("parts", ({ entry }) => formatParts(entry.parts)),
  ],
  rare: [
    // Null if the entry took effect when it was recorded.
    columns.timestamp("effective_at", ({ entry: { effectiveAt } }, recordedAt) =>
      effectiveAt === recordedAt ? null : effectiveAt,
    ),
    columns.bigint("reverses", ({ entry }) => entry.usage?.reverses ?? null),
    columns.jsonb("metadata", (row) => row.metadata),
    columns.smallint("item", ({ entry }) => entry.usage?.place?.index ?? null),
    columns.smallint("items", ({ entry }) => entry.usage?.place?.of ?? null),
    columns.text("member_id", (row) => row.memberId),
    columns.integer("overrides_number", ({ entry }) => entry.usage?.overrides ?? null),
    columns.integer("hold_number", ({ entry }) => entry.hold),
    columns.bigint("uncovered", ({ entry }) => entry.usage?.uncovered || null),
    columns.bigint("overage", ({ entry }) => sumOverage(entry.usage?.overage ?? []) || null),
    columns.text("overage_parts", ({ entry }) => formatOverage(entry.usage?.overage ?? []) || null),
  ],
  hasRare: ({ entry: { usage, effectiveAt, hold }, metadata, memberId }, recordedAt) =>
    metadata !== null ||
    memberId !== null ||
    hold !== null ||
    effectiveAt !== recordedAt ||
    (usage !== null &&
      (usage.reverses !== null ||
        usage.place !== null ||
        usage.overrides !== null ||
        usage.overage.length > 0)),
});

export function appendToLedger(tx: Tx, rows: readonly LedgerRow[], recordedAt: Instant): Promise<Rows> {
  return APPEND.run(tx, rows, recordedAt);
}

/** Formats parts as text such as `2:-10,3:-5`, which takes a few bytes. An array of pairs would take a hundred. */
export function formatParts(parts: readonly Part[]): string {
  let text = "";
  for (const { grant, amount } of parts) text += `${text === "" ? "" : ","}${grant}:${amount}`;
  return text;
}

export function formatOverage(parts: readonly OveragePart[]): string {
  return formatParts(parts.map(({ grant, credits }) => ({ grant, amount: credits })));
}

export function parseOverage(text: string): OveragePart[] {
  return parseParts(text).map(({ grant, amount }) => ({ grant, credits: amount }));
}

export function sumOverage(parts: readonly OveragePart[]): number {
  return parts.reduce((sum, { credits }) => sum + credits, 0);
}

export function parseParts(text: string): Part[] {
  if (text === "") return [];
  return text.split(",").map((part) => {
    const [grant, amount] = part.split(":").map(Number);
    assert(Number.isSafeInteger(grant) && Number.isSafeInteger(amount), "parts are numbers");
    return { grant: grant ?? 0, amount: amount ?? 0 };
  });
}

const RECORD = describeRow({
  ...ENTRY,
  metadata: orNull(json(`(${METADATA})`)),
  /** How much of a charge's quantity was reversed. */
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

/** An entry as the management API lists it. */
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

type LedgerRange = {
  /** Only sequences below this one. */
  readonly before: number;
  /** Only sequences above this one. */
  readonly after: number;
  readonly kind: EntryKind | null;
  readonly feature: FeatureId | null;
  /** Only entries that took effect at or after this time. */
  readonly since: Instant;
  readonly limit: number;
};

/** Lists a customer's entries, newest first. */
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
