import type { HoldChange, HoldChangeKind } from "../../entitlement/entry.ts";
import type { Fingerprint, ShortHash } from "../../entitlement/fingerprint.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { bigints, integers, smallints, timestamps } from "../../postgres/binary-array.ts";
import { readInteger } from "../../postgres/column.ts";
import { columnsOf, Insert } from "../../postgres/insert.ts";
import { derive, describeRow, instant, integer, listRows, orNull, text } from "../../postgres/row.ts";
import { type Parameter, type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type Instant, type MemberId } from "../../primitives/brand.ts";
import { decodeHoldState, encodeHoldState } from "./hold-state.ts";
import { findReadable, type Run } from "./verify-ledger.ts";
import type { WalletName } from "./wallets.ts";

/** Fields of a row in `hold_changes` that are not part of the change. */
export type HoldNote = {
  /** The key of the request that opened the hold. */
  readonly keyHash: ShortHash | null;
  readonly metadata: string | null;
  /** The request that ended the hold, and its response. */
  readonly closing: { readonly fingerprint: Fingerprint; readonly answer: string } | null;
};

export type HoldRow = WalletName & { readonly change: HoldChange; readonly note: HoldNote | null };

const KINDS: readonly HoldChangeKind[] = [
  "opened",
  "extended",
  "settled",
  "released",
  "expired",
  "charged",
  "revoked",
];

/** The changes after which a hold is still open. */
const OPEN_KINDS: ReadonlySet<HoldChangeKind> = new Set(["opened", "extended", "revoked"]);

/** The stored numbers of the kinds in `OPEN_KINDS`, as an array for SQL. */
export const OPEN_KIND_NUMBERS: Parameter = smallints(
  KINDS.flatMap((kind, index) => (OPEN_KINDS.has(kind) ? [index + 1] : [])),
);

export function holdChangeOf(number: number): HoldChangeKind {
  const kind = KINDS[number - 1];
  assert(kind !== undefined, "the kind of a hold's change is known");
  return kind;
}

const columns = columnsOf<HoldRow>();

const INSERT = new Insert<HoldRow>("holds.insert", "hold_changes", {
  usual: [
    columns.integer("environment_id", (row) => row.environmentId),
    columns.bigint("customer_number", (row) => row.customerNumber),
    columns.integer("number", ({ change }) => change.number),
    columns.integer("hold_number", ({ change }) => change.hold.number),
    columns.smallint("kind", ({ change }) => KINDS.indexOf(change.kind) + 1),
    columns.bigint("sequence", ({ change }) => change.sequence),
    columns.timestamp("effective_at", ({ change }) => change.effectiveAt),
    columns.timestamp("opened_at", ({ change }) => change.hold.openedAt),
    columns.timestamp("expires_at", ({ change }) => change.hold.expiresAt),
    columns.text("state", ({ change }) => encodeHoldState(change.hold)),
    columns.hexUuid("key_hash", ({ note }) => note?.keyHash ?? null),
    columns.hexUuid("fingerprint", ({ note }) => note?.closing?.fingerprint ?? null),
    columns.text("answer", ({ note }) => note?.closing?.answer ?? null),
  ],
  rare: [
    columns.text("member_id", ({ change }) => change.hold.memberId),
    columns.jsonb("metadata", ({ note }) => note?.metadata ?? null),
  ],
  hasRare: ({ change, note }) => change.hold.memberId !== null || (note?.metadata ?? null) !== null,
});

const ADD_OPEN = statement(
  "holds.add_open",
  `
  insert into cell.open_holds (environment_id, customer_number, number, change_number, expires_at)
  select h.environment_id, h.customer_number, h.number, h.change_number, h.expires_at
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[], $5::timestamptz[])
    as h (environment_id, customer_number, number, change_number, expires_at)`,
);

const KEEP_OPEN = statement(
  "holds.keep_open",
  `
  update cell.open_holds as o
  set change_number = h.change_number, expires_at = h.expires_at
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[], $5::timestamptz[])
    as h (environment_id, customer_number, number, change_number, expires_at)
  where o.environment_id = h.environment_id
    and o.customer_number = h.customer_number
    and o.number = h.number`,
);

const CLOSE = statement(
  "holds.close",
  `
  delete from cell.open_holds as o
  using unnest($1::integer[], $2::bigint[], $3::integer[]) as h (environment_id, customer_number, number)
  where o.environment_id = h.environment_id
    and o.customer_number = h.customer_number
    and o.number = h.number`,
);

/** Inserts changes, and updates `open_holds`. The transaction must have locked the wallets. */
export function* writeHolds(
  tx: Tx,
  rows: readonly HoldRow[],
  recordedAt: Instant,
): Generator<Promise<Rows>, void> {
  yield INSERT.run(tx, rows, recordedAt);
  // For each hold, `open_holds` refers only to the last change.
  const holds = new Map<string, { isNew: boolean; last: HoldRow }>();
  for (const last of rows) {
    const id = `${last.customerNumber} ${last.change.hold.number}`;
    holds.set(id, { isNew: holds.get(id)?.isNew ?? last.change.kind === "opened", last });
  }
  const added: HoldRow[] = [];
  const kept: HoldRow[] = [];
  const closed: HoldRow[] = [];
  for (const { isNew, last } of holds.values()) {
    if (OPEN_KINDS.has(last.change.kind)) (isNew ? added : kept).push(last);
    else if (!isNew) closed.push(last);
  }
  if (added.length > 0) yield tx.run(ADD_OPEN, listed(added));
  if (kept.length > 0) yield tx.run(KEEP_OPEN, listed(kept));
  if (closed.length > 0) yield tx.run(CLOSE, namesOf(closed));
}

function listed(rows: readonly HoldRow[]) {
  return [
    ...namesOf(rows),
    integers(rows.map(({ change }) => change.number)),
    timestamps(rows.map(({ change }) => change.hold.expiresAt)),
  ];
}

function namesOf(rows: readonly HoldRow[]) {
  return [
    integers(rows.map((row) => row.environmentId)),
    bigints(rows.map((row) => row.customerNumber)),
    integers(rows.map(({ change }) => change.hold.number)),
  ] as const;
}

const ROW = describeRow({
  number: integer("h.hold_number"),
  openedAt: instant("h.opened_at"),
  expiresAt: instant("h.expires_at"),
  memberId: orNull(derive(text("h.member_id"), (value) => brandAs<MemberId>(value))),
  state: text("h.state"),
});

/** Columns of `cell.hold_changes as h`. */
export const HOLD = derive(ROW, ({ state, ...row }): Hold => ({ ...row, ...decodeHoldState(state) }));

const LIST_OPEN_OF = statement(
  "holds.list_open_of",
  `
  select ${ROW.list}
  from cell.open_holds as o
  join cell.hold_changes as h
    on h.environment_id = o.environment_id
    and h.customer_number = o.customer_number
    and h.number = o.change_number
  where o.environment_id = $1
    and o.customer_number = $2
  order by o.number`,
);

/** Adds all open holds to the wallet. There are at most 1,000. */
export async function addOpenHolds<T extends WalletName & { readonly wallet: Wallet }>(
  tx: Tx,
  row: T,
): Promise<T> {
  const { environmentId, customerNumber, wallet } = row;
  if (wallet.openHolds === 0) return row;
  const holds = await listRows(tx, LIST_OPEN_OF, [environmentId, customerNumber], HOLD);
  return { ...row, wallet: { ...wallet, holds, holdsUntil: Number.POSITIVE_INFINITY } };
}

const CHANGE = describeRow({
  number: integer("h.number"),
  kind: derive(integer("h.kind"), holdChangeOf),
  sequence: integer("h.sequence"),
  effectiveAt: instant("h.effective_at"),
  hold: HOLD,
});

const LIST_RUNS = statement(
  "verify.list_hold_changes",
  `
  select
    n.position::integer,
    ${CHANGE.list}
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.hold_changes as h
    on h.environment_id = n.environment_id
    and h.customer_number = n.customer_number
    and h.number > n.after
    and h.number <= n.until
  order by n.position, h.number`,
);

/** Lists the hold changes of each run, ordered by number. Omits unreadable rows. */
export async function listHoldChangesOfRuns(
  tx: Tx,
  runs: readonly Run[],
): Promise<(readonly HoldChange[])[]> {
  const { rows } = await tx.run(LIST_RUNS, [
    integers(runs.map(({ environmentId }) => environmentId)),
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    integers(runs.map(({ after }) => after)),
    integers(runs.map(({ until }) => until)),
  ]);
  const found: HoldChange[][] = runs.map(() => []);
  for (const row of rows) {
    const change = findReadable(() => CHANGE.readAt(row, 1));
    if (change !== null) found[readInteger(row[0]) - 1]?.push(change);
  }
  return found;
}
