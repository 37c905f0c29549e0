import type { AssignmentChange, AssignmentChangeKind } from "../../entitlement/entry.ts";
import { bigints, booleans, integers, smallints, timestamps } from "../../postgres/binary-array.ts";
import { readInteger, readNullable } from "../../postgres/column.ts";
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
import type { EnvironmentId, Instant, PlanId, PlanVersionId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { WalletName } from "./wallets.ts";

const CHANGE_NUMBER = {
  started: 1,
  resumed: 2,
  extended: 3,
  version_changed: 4,
  ended: 5,
  shortened: 6,
  scheduled: 7,
  unscheduled: 8,
} as const satisfies Record<AssignmentChangeKind, number>;

/** All kinds of plan changes. The position of each kind determines the number stored for it. */
export const ASSIGNMENT_CHANGES = [
  "started",
  "resumed",
  "extended",
  "version_changed",
  "ended",
  "shortened",
  "scheduled",
  "unscheduled",
] as const satisfies readonly AssignmentChangeKind[];

const CHANGE_OF_NUMBER = new Map<number, AssignmentChangeKind>();
for (const change of ASSIGNMENT_CHANGES) CHANGE_OF_NUMBER.set(CHANGE_NUMBER[change], change);

export function assignmentChangeOf(number: number): AssignmentChangeKind {
  const change = CHANGE_OF_NUMBER.get(number);
  assert(change !== undefined, "the kind of a plan change is known");
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

/** Inserts the rows in the given order, which must be chronological. */
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

/** A change to a customer's plan, as the management API lists it. */
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

/** Lists a customer's plan changes, newest first. */
export function listAssignmentRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: number; readonly limit: number },
): Promise<AssignmentRecord[]> {
  return listRows(tx, LIST, [name.environmentId, name.customerNumber, page.before, page.limit], RECORD);
}

// wallet-state.ts describes the positions in a wallet's state. [3] is the assignment, with the plan in [1], its end in [4] and
// isDefault in [5]. [9] is the pending change, with the plan in [0], its start in [1] and its end in [2]. The customer's plan is
// the latest plan that has started and not ended, or else the default plan.
const COUNT = statement(
  "plan_customers.count",
  `
  select
    count(*),
    max(s.customer_number),
    count(*) filter (
      where case
        when (s.next ->> 1)::bigint <= s.at and coalesce((s.next ->> 2)::bigint > s.at, true)
        then (s.next ->> 0)::integer
        when (s.assignment ->> 5) = '0'
          and coalesce((s.assignment ->> 4)::bigint > s.at, true)
          and coalesce((s.next ->> 1)::bigint > s.at, true)
        then (s.assignment ->> 1)::integer
        else (
          select c.default_plan_id
          from cell.catalogs as c
          where c.environment_id = $1
        )
      end = $2
    )
  from (
    select
      w.customer_number,
      w.state::jsonb -> 3 as assignment,
      w.state::jsonb -> 9 as next,
      extract(epoch from now()) * 1000 as at
    from cell.customers as c
    join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
    where c.environment_id = $1
      and c.number > $3
      and c.erased_at is null
    order by c.number
    limit $4
  ) as s`,
);

export type CountedCustomers = {
  readonly scanned: number;
  readonly onPlan: number;
  /** Number of the last customer scanned. Null if no customer was left to scan. */
  readonly last: number | null;
};

/** Scans up to `limit` customers with a number above `after`. Counts those on the plan, whether by assignment or by default. */
export async function countPlanCustomers(
  tx: Tx,
  { environmentId, plan }: { readonly environmentId: EnvironmentId; readonly plan: PlanId },
  page: { readonly after: number; readonly limit: number },
): Promise<CountedCustomers> {
  // Unnamed, because a generic query plan would read and sort all customers for each page.
  const { rows } = await tx.run({ ...COUNT, name: "" }, [environmentId, plan, page.after, page.limit]);
  const [scanned, last, onPlan] = rows[0] ?? [];
  return {
    scanned: readInteger(scanned),
    last: readNullable(last, readInteger),
    onPlan: readInteger(onPlan),
  };
}
