import type { EntryKind } from "../../entitlement/entry.ts";
import { bigints } from "../../postgres/binary-array.ts";
import {
  boolean,
  derive,
  describeRow,
  id,
  integer,
  listRows,
  orNull,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { type EventPosition, storedEvent } from "./event-list.ts";
import type { ExportRange } from "./export-range.ts";
import { GRANT_RECORD } from "./grant-list.ts";
import { ENTRY, ENTRY_KIND_NUMBER, METADATA } from "./ledger.ts";
import { recordedSince } from "./ledger-balances.ts";

const OWNER = describeRow({
  customerNumber: id<CustomerNumber>("w.customer_number"),
  /** Null if the customer was erased. */
  customerId: orNull(derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value))),
  sequence: integer("w.sequence"),
});

/** A customer who has a ledger. `sequence` is that of the last ledger entry. */
export type LedgerOwner = RowOf<typeof OWNER>;

const LIST_OWNERS = statement(
  "export.list_owners",
  `
  select ${OWNER.list}
  from cell.wallets as w
  left join cell.customers as c
    on c.environment_id = w.environment_id
    and c.number = w.customer_number
    and c.erased_at is null
  where w.environment_id = $1
    and w.customer_number >= $2
  order by w.customer_number
  limit $3`,
);

/** Lists customers with a ledger, ordered by customer number. The first number is `from` or higher. */
export function listLedgerOwners(
  tx: Tx,
  environmentId: EnvironmentId,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<LedgerOwner[]> {
  return listRows(tx, LIST_OWNERS, [environmentId, from, limit], OWNER);
}

const EXPORTED_ENTRY = describeRow({
  /** Position of the entry's `EntryRun` in the parameters. The first has position 1. */
  run: integer("r.position::integer"),
  entry: describeRow({
    ...ENTRY,
    /** As JSON text. */
    metadata: orNull(text(`(${METADATA})::text`)),
    reversedQuantity: integer("coalesce(b.quantity, 0)"),
    reversedCredits: integer("coalesce(b.amount, 0)"),
  }),
});

// The index starts with the customer, so each run is read separately. The limit keeps the planner from scanning the whole table.
const LIST_ENTRIES = statement(
  "export.list_entries",
  `
  select ${EXPORTED_ENTRY.list}
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as r (customer_number, after, until, position)
  cross join lateral (
    select
      l.customer_number, l.sequence, l.kind, l.pool_id, l.feature_id, l.quantity, l.amount, l.balance_after, l.recorded_at,
      l.effective_at, l.plan_version_id, l.metadata, l.key_hash, l.reverses, l.parts, l.item, l.items,
      l.overrides_number, l.member_id, l.environment_id, l.hold_number, l.uncovered, l.overage
    from cell.ledger as l
    where l.environment_id = $4
      and l.customer_number = r.customer_number
      and l.sequence > r.after
      and l.sequence <= r.until
      and l.recorded_at >= ${recordedSince({ environment: "$4", from: "$5" })}
      and l.transaction_number < $7
      and l.transaction_number <> all($10::bigint[])
      and coalesce(l.effective_at, l.recorded_at) >= $5::timestamptz
      and coalesce(l.effective_at, l.recorded_at) < $6::timestamptz
      and ($8::smallint is null or l.kind = $8)
    order by l.customer_number, l.sequence
    limit $9
  ) as e
  left join lateral (
    select sum(b.quantity) as quantity, sum(b.amount) as amount
    from cell.ledger as b
    where e.kind = 2
      and b.customer_number = r.customer_number
      and b.reverses = e.sequence
      and b.transaction_number < $7
      and b.transaction_number <> all($10::bigint[])
  ) as b on true
  order by r.position, e.sequence`,
);

/** Selects a customer's entries with a sequence above `after` and at most `until`. */
export type EntryRun = {
  readonly owner: LedgerOwner;
  readonly after: number;
  readonly until: number;
};

export type ExportedEntry = RowOf<typeof EXPORTED_ENTRY>["entry"] & { readonly owner: LedgerOwner };

/** Lists the entries of the runs, in the order of `runs`. Within each run, entries are ordered by sequence. */
export async function listExportedEntries(
  tx: Tx,
  { environmentId, from, to, settled }: ExportRange,
  { runs, kind }: { readonly runs: readonly EntryRun[]; readonly kind: EntryKind | null },
): Promise<ExportedEntry[]> {
  const parameters = [
    bigints(runs.map(({ owner }) => owner.customerNumber)),
    bigints(runs.map(({ after }) => after)),
    bigints(runs.map(({ until }) => until)),
    environmentId,
    formatTimestamp(from),
    formatTimestamp(to),
    settled.below,
    kind === null ? null : ENTRY_KIND_NUMBER[kind],
    Math.max(...runs.map(({ after, until }) => until - after)),
    bigints(settled.without),
  ];
  const rows = await listRows(tx, { ...LIST_ENTRIES, name: "" }, parameters, EXPORTED_ENTRY);
  return rows.flatMap(({ run, entry }) => {
    const owner = runs[run - 1]?.owner;
    return owner === undefined ? [] : { owner, ...entry };
  });
}

const EVENT = describeRow({
  stored: storedEvent("e"),
  isSettled: boolean("e.transaction_number < $7 and e.transaction_number <> all($8::bigint[])"),
});

// `isSettled` is a column rather than a condition, because the index by which events are listed does not contain `transaction_number`. If
// nearly all events are newer than the export, the condition would make one statement scan all of them to find the next settled event.
const LIST_EVENTS = statement(
  "export.list_events",
  `
  select ${EVENT.list}
  from cell.events as e
  where e.environment_id = $1
    and e.occurred_at >= $2::timestamptz
    and e.occurred_at < $3::timestamptz
    and (e.occurred_at, e.id) > ($2::timestamptz, $4::uuid)
    and e.recorded_at >= $5::timestamptz
    and e.recorded_at < $6::timestamptz
  order by e.occurred_at, e.id
  limit $9`,
);

/** The range of `recorded_at` that the remaining events can have. It prunes partitions and excludes no event. */
export type RecordedRange = { readonly recordedFrom: Instant; readonly recordedTo: Instant };

/** `isSettled` is false for events that were not committed when the export began. The export omits these events. */
export type WalkedEvent = RowOf<typeof EVENT>["stored"] & { readonly isSettled: boolean };

/** Lists the events after `after`, in ascending order of `occurred_at`. */
export async function listExportedEvents(
  tx: Tx,
  range: ExportRange & RecordedRange,
  { after, limit }: { readonly after: EventPosition; readonly limit: number },
): Promise<WalkedEvent[]> {
  // Unnamed, so that PostgreSQL makes a query plan for the remaining partitions.
  const parameters = [
    range.environmentId,
    formatTimestamp(after.occurredAt),
    formatTimestamp(range.to),
    after.id.toString("hex"),
    formatTimestamp(range.recordedFrom),
    formatTimestamp(range.recordedTo),
    range.settled.below,
    bigints(range.settled.without),
    limit,
  ];
  const rows = await listRows(tx, { ...LIST_EVENTS, name: "" }, parameters, EVENT);
  return rows.map(({ stored, isSettled }) => ({ ...stored, isSettled }));
}

type GrantPosition = { readonly customerNumber: number; readonly number: number };

const EXPORTED_GRANT = describeRow({
  grant: GRANT_RECORD,
  customerNumber: integer("g.customer_number"),
  /** Null if the customer was erased. */
  customerId: orNull(derive(text("c.customer_id"), (value) => brandAs<CustomerId>(value))),
});

type Exported = RowOf<typeof EXPORTED_GRANT>;

export type ExportedGrant = Exported["grant"] & Omit<Exported, "grant">;

const LIST_GRANTS = statement(
  "export.list_grants",
  `
  select ${EXPORTED_GRANT.list}
  from cell.grants as g
  left join cell.customers as c
    on c.environment_id = g.environment_id
    and c.number = g.customer_number
    and c.erased_at is null
  where g.environment_id = $1
    and (g.customer_number, g.number) > ($2, $3)
  order by g.customer_number, g.number
  limit $4`,
);

/** Lists the grants after `after`, ordered by customer and grant number. Does not filter by time, because no index contains the time. */
export async function listExportedGrants(
  tx: Tx,
  environmentId: EnvironmentId,
  { after, limit }: { readonly after: GrantPosition; readonly limit: number },
): Promise<ExportedGrant[]> {
  const parameters = [environmentId, after.customerNumber, after.number, limit];
  const rows = await listRows(tx, LIST_GRANTS, parameters, EXPORTED_GRANT);
  return rows.map(({ grant, ...owner }) => ({ ...grant, ...owner }));
}
