import type { AssignmentChange, AssignmentChangeKind } from "../../entitlement/entry.ts";
import { bigints, booleans, integers, smallints, timestamps } from "../../postgres/binary-array.ts";
import {
  boolean,
  derive,
  describeRow,
  id,
  instant,
  integer,
  listRows,
  orNull,
  type RowOf,
} from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant, PlanId, PlanVersionId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

const CHANGE_NUMBER = {
  started: 1,
  resumed: 2,
  extended: 3,
  version_changed: 4,
  ended: 5,
  shortened: 6,
} as const satisfies Record<AssignmentChangeKind, number>;

const CHANGE_OF_NUMBER = new Map<number, AssignmentChangeKind>();
for (const change of ["started", "resumed", "extended", "version_changed", "ended", "shortened"] as const)
  CHANGE_OF_NUMBER.set(CHANGE_NUMBER[change], change);

export function assignmentChangeOf(number: number): AssignmentChangeKind {
  const change = CHANGE_OF_NUMBER.get(number);
  assert(change !== undefined, "a change of plan is of a known kind");
  return change;
}

export type AssignmentRow = WalletName & { readonly change: AssignmentChange };

const INSERT = statement(
  "assignments.insert",
  `
  insert into cell.assignments (
    environment_id, customer_number, number, change, plan_id, plan_version_id, anchor, ends_at, is_default,
    effective_at, recorded_at
  )
  select
    a.environment_id, a.customer_number, a.number, a.change, a.plan_id, a.plan_version_id, a.anchor, a.ends_at,
    a.is_default, a.effective_at, $1::timestamptz
  from unnest(
    $2::integer[], $3::bigint[], $4::integer[], $5::smallint[], $6::integer[], $7::integer[], $8::timestamptz[],
    $9::timestamptz[], $10::boolean[], $11::timestamptz[]
  ) with ordinality as a (
    environment_id, customer_number, number, change, plan_id, plan_version_id, anchor, ends_at, is_default,
    effective_at, position
  )
  order by a.position`,
);

/** In the order given, which is the order in which they happened. */
export function insertAssignmentChanges(
  tx: Tx,
  rows: readonly AssignmentRow[],
  recordedAt: Instant,
): Promise<Rows> {
  return tx.run(INSERT, [
    formatTimestamp(recordedAt),
    integers(rows.map((row) => row.environmentId)),
    bigints(rows.map((row) => row.customerNumber)),
    integers(rows.map(({ change }) => change.assignment)),
    smallints(rows.map(({ change }) => CHANGE_NUMBER[change.kind])),
    integers(rows.map(({ change }) => change.plan)),
    integers(rows.map(({ change }) => change.planVersion)),
    timestamps(rows.map(({ change }) => change.anchor)),
    timestamps(rows.map(({ change }) => change.endsAt)),
    booleans(rows.map(({ change }) => change.isDefault)),
    timestamps(rows.map(({ change }) => change.effectiveAt)),
  ]);
}

const RECORD = describeRow({
  id: integer("a.id"),
  change: derive(integer("a.change"), assignmentChangeOf),
  plan: id<PlanId>("a.plan_id"),
  planVersion: id<PlanVersionId>("a.plan_version_id"),
  anchor: instant("a.anchor"),
  endsAt: orNull(instant("a.ends_at")),
  isDefault: boolean("a.is_default"),
  effectiveAt: instant("a.effective_at"),
  recordedAt: instant("a.recorded_at"),
});

/** One change of a customer's plan, as people see it. */
type AssignmentRecord = RowOf<typeof RECORD>;

const LIST = statement(
  "assignments.list",
  `
  select ${RECORD.list}
  from cell.assignments as a
  where a.environment_id = $1
    and a.customer_number = $2
    and a.id < $3
  order by a.id desc
  limit $4`,
);

/** The newest first. */
export function listAssignmentRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: number; readonly limit: number },
): Promise<AssignmentRecord[]> {
  return listRows(tx, LIST, [name.environmentId, name.customerNumber, page.before, page.limit], RECORD);
}
