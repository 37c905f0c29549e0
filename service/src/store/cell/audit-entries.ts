import { bigints, timestamps } from "../../postgres/binary-array.ts";
import { readInteger, readText } from "../../postgres/column.ts";
import {
  boolean,
  describeRow,
  findRow,
  getRow,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerNumber, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { firstUuidOf, formatUuid } from "../../primitives/uuid.ts";
import { type AuditRecord, auditRow } from "../control/audit-scan.ts";
import type { BulkStart } from "./audit.ts";
import { readClock } from "./clock.ts";
import type { WalletName } from "./wallets.ts";

const ROW = auditRow("a.customer_number");

const FIND = statement(
  "audit.find",
  `
  select ${ROW.list}
  from cell.audit as a
  cross join lateral (select a.id) as s
  where a.environment_id = $1
    and a.id = $2::uuid`,
);

export function findAuditEntry(
  tx: Tx,
  environmentId: EnvironmentId,
  id: string,
): Promise<AuditRecord | null> {
  return findRow(tx, FIND, [environmentId, id], ROW);
}

const LIST_OF_CALL = statement(
  "audit.list_of_call",
  `
  select ${ROW.list}
  from cell.audit as a
  cross join lateral (select a.id) as s
  where a.environment_id = $1
    and a.id > $2::uuid
    and a.id < $3::uuid
    and a.action = $4
    and a.request_id = $5
    and a.actor_kind = $6
    and a.actor_id is not distinct from $7
    and a.customer_number is not null
    and a.after ->> 'inBulk' in ($8, 'true')
  order by a.id
  limit $9`,
);

/** Identifies the audit entries of a call that changed many customers. */
export type BulkCall = Pick<AuditRecord, "action" | "actor"> & {
  /** The ID of the start entry. The change's entries store this ID as `inBulk`. Entries recorded before 0.2 store only `true`. */
  readonly startId: string | null;
};

/** Entries about customers that a bulk change wrote between two IDs, oldest first. */
export function listEntriesOfCall(
  tx: Tx,
  environmentId: EnvironmentId,
  { action, actor, startId }: BulkCall,
  range: { readonly after: string; readonly before: string; readonly limit: number },
): Promise<AuditRecord[]> {
  const parameters = [
    ...[environmentId, range.after, range.before, action],
    ...[actor.requestId, actor.kind, actor.id, startId, range.limit],
  ];
  return listRows(tx, LIST_OF_CALL, parameters, ROW);
}

/** How far a failover may set the clock back. After such a failover, a bulk change can have entries dated before its start. */
export const CLOCK_STEP_MS_MAX = 60_000;

const COUNT_OF_BULK = statement(
  "audit.count_of_bulk",
  `
  select count(*)::integer
  from cell.audit as a
  where a.environment_id = $1
    and a.id >= $2::uuid
    and a.after ->> 'inBulk' = $3`,
);

/** The number of entries about customers that a bulk change has written. */
export function countEntriesOfBulk(
  tx: Tx,
  environmentId: EnvironmentId,
  { id, startedAt }: BulkStart,
): Promise<number> {
  const from = firstUuidOf(brandAs<Instant>(startedAt - CLOCK_STEP_MS_MAX));
  return getRow(tx, COUNT_OF_BULK, [environmentId, from, formatUuid(id)], integer(""));
}

const END = describeRow({
  endedAt: orNull(
    instant(`(
    select e.recorded_at
    from cell.audit as e
    where e.environment_id = $1
      and e.after ->> 'startEntry' = $2
    limit 1
  )`),
  ),
  isActive: boolean(`exists (
    select
    from cell.audit as a
    where a.environment_id = $1
      and a.id >= $3::uuid
      and a.after ->> 'inBulk' = $2
  )`),
});

const FIND_BULK_END = statement("audit.find_bulk_end", `select ${END.list}`);

/**
 * Finds when the bulk change with this start entry ended. `isActive` is true if the change wrote an entry about a customer within the
 * last `activeMs` milliseconds.
 */
export async function findBulkEnd(
  tx: Tx,
  environmentId: EnvironmentId,
  { startId, activeMs }: { readonly startId: string; readonly activeMs: number },
): Promise<RowOf<typeof END>> {
  const recent = firstUuidOf(brandAs<Instant>((await readClock(tx)) - activeMs));
  return getRow(tx, FIND_BULK_END, [environmentId, startId, recent], END);
}

const HAS_LATER = statement(
  "audit.has_later",
  `
  select exists (
    select
    from cell.audit as a
    where a.environment_id = $1
      and a.customer_number = $2
      and a.id > $3::uuid
      and a.action like any($4::text[])
  )`,
);

/** Whether the customer has a later entry whose action matches one of these `like` patterns. */
export function hasLaterEntry(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  id: string,
  actions: readonly string[],
): Promise<boolean> {
  return getRow(tx, HAS_LATER, [environmentId, customerNumber, id, actions], boolean(""));
}

const LIST_NOTES = statement(
  "audit.list_notes",
  `
  select n.position::integer, l.metadata ->> 'note'
  from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) with ordinality
    as n (customer_number, sequence, recorded_at, position)
  cross join lateral (
    select e.metadata
    from cell.ledger as e
    where e.customer_number = n.customer_number
      and e.sequence = n.sequence
      and e.recorded_at = n.recorded_at
  ) as l
  where l.metadata ->> 'note' is not null`,
);

export type LedgerPlace = {
  readonly customerNumber: CustomerNumber;
  readonly sequence: number;
  readonly recordedAt: Instant;
};

/** The notes of ledger entries, keyed by index in `places`. Entries of erased customers have no notes. */
export async function listNotes(tx: Tx, places: readonly LedgerPlace[]): Promise<Map<number, string>> {
  const { rows } = await tx.run(LIST_NOTES, [
    bigints(places.map(({ customerNumber }) => customerNumber)),
    bigints(places.map(({ sequence }) => sequence)),
    timestamps(places.map(({ recordedAt }) => recordedAt)),
  ]);
  return new Map(rows.map(([position, note]) => [readInteger(position) - 1, readText(note)]));
}
