import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { timestamps, uuids } from "../../postgres/binary-array.ts";
import {
  boolean,
  describeRow,
  hexUuid,
  instant,
  integer,
  listRows,
  orNull,
  uuid,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import type { WalletName } from "./wallets.ts";

// Erases the metadata and member IDs of a customer's charges, holds, denials and events. These append-only tables allow no other change.

/** The result for one page of a customer's rows: their idempotency keys, and how many rows were erased. */
export type ErasedPage<Cursor> = {
  readonly keyHashes: readonly ShortHash[];
  readonly erased: number;
  /** The position of the page's last row. Null if the page was empty. */
  readonly last: Cursor | null;
};

/** A position in a list that is sorted by time, then by ID. */
export type Moment = { readonly at: Instant; readonly id: string };

/** The position before all rows. */
export const FIRST_MOMENT: Moment = { at: brandAs<Instant>(0), id: "0".repeat(32) };

const ENTRY = describeRow({
  sequence: integer("e.sequence"),
  keyHash: orNull(hexUuid("e.key_hash")),
  isErasable: boolean("e.metadata is not null or e.member_id is not null"),
});

const LIST_LEDGER = statement(
  "erase.list_ledger",
  `
  select
    ${ENTRY.list}
  from cell.ledger as e
  where e.customer_number = $1
    and e.sequence > $2
  order by e.sequence
  limit $3`,
);

const ERASE_LEDGER = statement(
  "erase.ledger",
  `
  update cell.ledger
  set metadata = null, member_id = null
  where customer_number = $1
    and sequence > $2
    and sequence <= $3
    and (metadata is not null or member_id is not null)`,
);

export async function eraseLedgerPage(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: number; readonly rowsMax: number },
): Promise<ErasedPage<number>> {
  const entries = await listRows(tx, LIST_LEDGER, [customerNumber, after, rowsMax], ENTRY);
  const last = entries.at(-1)?.sequence ?? null;
  const erased = entries.some(({ isErasable }) => isErasable)
    ? (await tx.run(ERASE_LEDGER, [customerNumber, after, last])).rowCount
    : 0;
  return { keyHashes: entries.flatMap(({ keyHash }) => keyHash ?? []), erased, last };
}

const HOLD = describeRow({
  number: integer("h.number"),
  keyHash: orNull(hexUuid("h.key_hash")),
  isErasable: boolean("h.metadata is not null or h.member_id is not null"),
});

const LIST_HOLDS = statement(
  "erase.list_holds",
  `
  select
    ${HOLD.list}
  from cell.hold_changes as h
  where h.environment_id = $1
    and h.customer_number = $2
    and h.number > $3
  order by h.number
  limit $4`,
);

const ERASE_HOLDS = statement(
  "erase.holds",
  `
  update cell.hold_changes
  set metadata = null, member_id = null
  where environment_id = $1
    and customer_number = $2
    and number > $3
    and number <= $4
    and (metadata is not null or member_id is not null)`,
);

export async function eraseHoldsPage(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: number; readonly rowsMax: number },
): Promise<ErasedPage<number>> {
  const changes = await listRows(tx, LIST_HOLDS, [environmentId, customerNumber, after, rowsMax], HOLD);
  const last = changes.at(-1)?.number ?? null;
  const erased = changes.some(({ isErasable }) => isErasable)
    ? (await tx.run(ERASE_HOLDS, [environmentId, customerNumber, after, last])).rowCount
    : 0;
  return { keyHashes: changes.flatMap(({ keyHash }) => keyHash ?? []), erased, last };
}

const DENIAL = describeRow({
  at: instant("d.recorded_at"),
  id: hexUuid("d.id"),
  keyHash: hexUuid("d.key_hash"),
  isErasable: boolean("d.metadata is not null or d.member_id is not null"),
});

const LIST_DENIALS = statement(
  "erase.list_denials",
  `
  select
    ${DENIAL.list}
  from cell.denials as d
  where d.customer_number = $1
    and d.recorded_at >= $2::timestamptz
    and (d.recorded_at, d.id) > ($2::timestamptz, $3::uuid)
  order by d.recorded_at, d.id
  limit $4`,
);

const ERASE_DENIALS = statement(
  "erase.denials",
  `
  update cell.denials
  set metadata = null, member_id = null
  where customer_number = $1
    and recorded_at >= $2::timestamptz
    and recorded_at <= $3::timestamptz
    and (metadata is not null or member_id is not null)`,
);

export async function eraseDenialsPage(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: Moment; readonly rowsMax: number },
): Promise<ErasedPage<Moment>> {
  const from = formatTimestamp(after.at);
  const denials = await listRows(tx, LIST_DENIALS, [customerNumber, from, after.id, rowsMax], DENIAL);
  const last = denials.at(-1) ?? null;
  const erased =
    last !== null && denials.some(({ isErasable }) => isErasable)
      ? (await tx.run(ERASE_DENIALS, [customerNumber, from, formatTimestamp(last.at)])).rowCount
      : 0;
  return { keyHashes: denials.map(({ keyHash }) => keyHash), erased, last };
}

const EVENT = describeRow({
  occurredAt: instant("e.occurred_at"),
  recordedAt: instant("e.recorded_at"),
  id: uuid("e.id"),
  isErasable: boolean("e.metadata is not null or e.member_id is not null"),
});

// Reads the index on customer and `occurred_at`.
export const LIST_EVENTS_TO_ERASE = statement(
  "erase.list_events",
  `
  select
    ${EVENT.list}
  from cell.events as e
  where e.customer_number = $1
    and e.occurred_at >= $2::timestamptz
    and (e.occurred_at, e.id) > ($2::timestamptz, $3::uuid)
  order by e.occurred_at, e.id
  limit $4`,
);

export type EventToErase = { readonly recordedAt: Instant; readonly id: Uuid; readonly isErasable: boolean };

export type EventsToErase = {
  readonly events: readonly EventToErase[];
  /** The position of the page's last event, by `occurred_at`. Null if the page was empty. */
  readonly last: Moment | null;
  /** True if all events on the page occurred at the same time. Later pages may then contain many more events with this time. */
  readonly haveSameTime: boolean;
};

/** Lists the customer's events after `after`. Includes events without metadata or a member, because their keys must be erased too. */
export async function listEventsToErase(
  tx: Tx,
  { customerNumber }: WalletName,
  { after, rowsMax }: { readonly after: Moment; readonly rowsMax: number },
): Promise<EventsToErase> {
  const parameters = [customerNumber, formatTimestamp(after.at), after.id, rowsMax];
  const events = await listRows(tx, LIST_EVENTS_TO_ERASE, parameters, EVENT);
  const last = events.at(-1);
  return {
    events,
    last: last === undefined ? null : { at: last.occurredAt, id: last.id.toString("hex") },
    haveSameTime: last !== undefined && events[0]?.occurredAt === last.occurredAt,
  };
}

// Finds events by primary key. A time range could contain any number of events, because many can have the same time.
const ERASE_EVENTS = statement(
  "erase.events",
  `
  update cell.events as e
  set metadata = null, member_id = null
  from unnest($1::timestamptz[], $2::uuid[]) as d (recorded_at, id)
  where e.recorded_at = d.recorded_at
    and e.id = d.id
    and (e.metadata is not null or e.member_id is not null)`,
);

export async function eraseEvents(tx: Tx, events: readonly EventToErase[]): Promise<number> {
  const { rowCount } = await tx.run(ERASE_EVENTS, [
    timestamps(events.map(({ recordedAt }) => recordedAt)),
    uuids(events.map(({ id }) => id)),
  ]);
  return rowCount;
}
