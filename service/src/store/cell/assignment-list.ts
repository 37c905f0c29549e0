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
import { statement, type Tx } from "../../postgres/statement.ts";
import type { PlanId, PlanVersionId } from "../../words/brand.ts";
import { assignmentChangeOf } from "./assignments.ts";
import type { WalletName } from "./wallets.ts";

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
export type AssignmentRecord = RowOf<typeof RECORD>;

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
