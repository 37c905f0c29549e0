import type { HoldChangeKind } from "../../entitlement/entry.ts";
import type { Hold } from "../../entitlement/wallet.ts";
import { bigints, integers } from "../../postgres/binary-array.ts";
import {
  derive,
  describeRow,
  findRow,
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
import type { CustomerNumber, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { decodeHoldState } from "./hold-state.ts";
import { HOLD, type HoldNote, holdChangeOf, OPEN_KIND_NUMBERS } from "./holds.ts";
import type { WalletName } from "./wallets.ts";

export type HoldName = WalletName & { readonly number: number };

const CLOSING = describeRow({ fingerprint: hexUuid("h.fingerprint"), answer: text("h.answer") });

const LATEST = describeRow({
  customerNumber: id<CustomerNumber>("h.customer_number"),
  kind: derive(integer("h.kind"), holdChangeOf),
  hold: HOLD,
  closing: orNull(CLOSING),
});

/** A hold after its last change, and the request that ended the hold. */
export type LatestHold = {
  readonly customerNumber: CustomerNumber;
  readonly kind: HoldChangeKind;
  readonly hold: Hold;
  readonly closing: HoldNote["closing"];
};

const FIND_LATEST = statement(
  "holds.find_latest",
  `
  select ${LATEST.list}
  from unnest($1::integer[], $2::bigint[], $3::integer[]) as n (environment_id, customer_number, number)
  cross join lateral (
    select
      c.customer_number, c.hold_number, c.kind, c.opened_at, c.expires_at, c.member_id, c.state, c.fingerprint, c.answer
    from cell.hold_changes as c
    where c.environment_id = n.environment_id
      and c.customer_number = n.customer_number
      and c.hold_number = n.number
    order by c.number desc
    limit 1
  ) as h`,
);

/** Finds the latest state of holds. The transaction must already hold the wallet locks, so that no hold changes meanwhile. */
export function findLatestHolds(tx: Tx, names: readonly HoldName[]): Promise<LatestHold[]> {
  const parameters = [
    integers(names.map(({ environmentId }) => environmentId)),
    bigints(names.map(({ customerNumber }) => customerNumber)),
    integers(names.map(({ number }) => number)),
  ];
  return listRows(tx, FIND_LATEST, parameters, LATEST);
}

const RECORD = describeRow({
  kind: derive(integer("h.kind"), holdChangeOf),
  hold: HOLD,
  /** The wallet's sequence after the change, which is that of the last ledger entry. */
  sequence: integer("h.sequence"),
  effectiveAt: instant("h.effective_at"),
  recordedAt: instant("h.recorded_at"),
  /** The response to the request that ended the hold. */
  answer: orNull(text("h.answer")),
  /** The items as they were when the hold was opened. */
  opened: derive(text("o.state"), (state) => decodeHoldState(state).items),
  firstExpiresAt: instant("o.expires_at"),
  /** The metadata of the request that opened the hold, as JSON text. */
  metadata: orNull(text("o.metadata::text")),
});

/** A hold after its last change, as API responses show it. */
export type HoldRecord = RowOf<typeof RECORD>;

/** `which` is a subquery that returns the last change of each hold. */
function recordStatement(name: string, which: string): Statement {
  return statement(
    name,
    `
  select ${RECORD.list}
  from (
    ${which}
  ) as h
  cross join lateral (
    select c.metadata, c.state, c.expires_at
    from cell.hold_changes as c
    where c.environment_id = $1
      and c.customer_number = $2
      and c.hold_number = h.hold_number
    order by c.number
    limit 1
  ) as o
  order by h.hold_number desc`,
  );
}

const COLUMNS =
  "c.hold_number, c.kind, c.sequence, c.effective_at, c.recorded_at, c.opened_at, c.expires_at, c.member_id, c.state, c.answer";

const FIND = recordStatement(
  "holds.find",
  `
    select ${COLUMNS}
    from cell.hold_changes as c
    where c.environment_id = $1
      and c.customer_number = $2
      and c.hold_number = $3
    order by c.number desc
    limit 1`,
);

export function findHoldRecord(
  tx: Tx,
  { environmentId, customerNumber, number }: HoldName,
): Promise<HoldRecord | null> {
  return findRow(tx, FIND, [environmentId, customerNumber, number], RECORD);
}

const LIST = recordStatement(
  "holds.list",
  `
    select distinct on (c.hold_number) ${COLUMNS}
    from cell.hold_changes as c
    where c.environment_id = $1
      and c.customer_number = $2
      and c.hold_number < $3
    order by c.hold_number desc, c.number desc
    limit $4`,
);

const LIST_OPEN = recordStatement(
  "holds.list_open",
  `
    select ${COLUMNS}
    from cell.open_holds as p
    join cell.hold_changes as c
      on c.environment_id = p.environment_id
      and c.customer_number = p.customer_number
      and c.number = p.change_number
    where p.environment_id = $1
      and p.customer_number = $2
      and p.number < $3
      and p.expires_at > clock_timestamp()
    order by p.number desc
    limit $4`,
);

const OPEN = describeRow({ hold: HOLD });

const LIST_OPEN_AT = statement(
  "holds.list_open_at",
  `
  select ${OPEN.list}
  from (
    select distinct on (c.hold_number)
      c.kind, c.hold_number, c.opened_at, c.expires_at, c.member_id, c.state
    from cell.hold_changes as c
    where c.environment_id = $1
      and c.customer_number = $2
      and c.recorded_at <= $3
    order by c.hold_number, c.number desc
  ) as h
  where h.kind = any ($4)
    and h.expires_at > $3`,
);

/** Lists the holds that were open at a time in the past. Reads all earlier changes to the customer's holds. */
export async function listHoldsOpenAt(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  at: Instant,
): Promise<Hold[]> {
  const parameters = [environmentId, customerNumber, formatTimestamp(at), OPEN_KIND_NUMBERS];
  return (await listRows(tx, LIST_OPEN_AT, parameters, OPEN)).map(({ hold }) => hold);
}

type HoldPage = { readonly before: number; readonly limit: number; readonly isOpen: boolean };

/** Lists a customer's holds with a number below `before`, newest first. If `isOpen` is true, lists only open holds. */
export function listHoldRecords(
  tx: Tx,
  { environmentId, customerNumber }: WalletName,
  { before, limit, isOpen }: HoldPage,
): Promise<HoldRecord[]> {
  return listRows(tx, isOpen ? LIST_OPEN : LIST, [environmentId, customerNumber, before, limit], RECORD);
}
