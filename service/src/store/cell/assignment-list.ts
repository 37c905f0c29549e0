import type { AssignmentChangeKind } from "../../entitlement/entry.ts";
import { readBoolean, readInstant, readInteger, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type Instant, type PlanId, type PlanVersionId } from "../../words/brand.ts";
import { assignmentChangeOf } from "./assignments.ts";
import type { WalletName } from "./wallets.ts";

/** One change of a customer's plan, as people see it. */
export type AssignmentRecord = {
  readonly id: number;
  readonly change: AssignmentChangeKind;
  readonly plan: PlanId;
  readonly planVersion: PlanVersionId;
  readonly anchor: Instant;
  readonly endsAt: Instant | null;
  readonly isDefault: boolean;
  readonly effectiveAt: Instant;
  readonly recordedAt: Instant;
};

const LIST = statement(
  "assignments.list",
  `
  select
    a.id,
    a.change,
    a.plan_id,
    a.plan_version_id,
    (extract(epoch from a.anchor) * 1000)::bigint,
    (extract(epoch from a.ends_at) * 1000)::bigint,
    a.is_default,
    (extract(epoch from a.effective_at) * 1000)::bigint,
    (extract(epoch from a.recorded_at) * 1000)::bigint
  from cell.assignments as a
  where a.environment_id = $1
    and a.customer_number = $2
    and a.id < $3
  order by a.id desc
  limit $4`,
);

/** The newest first. */
export async function listAssignmentRecords(
  tx: Tx,
  name: WalletName,
  page: { readonly before: number; readonly limit: number },
): Promise<AssignmentRecord[]> {
  const { rows } = await tx.run(LIST, [name.environmentId, name.customerNumber, page.before, page.limit]);
  return rows.map(([id, change, plan, version, anchor, endsAt, isDefault, effectiveAt, recordedAt]) => ({
    id: readInteger(id),
    change: assignmentChangeOf(readInteger(change)),
    plan: brandAs<PlanId>(readInteger(plan)),
    planVersion: brandAs<PlanVersionId>(readInteger(version)),
    anchor: readInstant(anchor),
    endsAt: readNullable(endsAt, readInstant),
    isDefault: readBoolean(isDefault),
    effectiveAt: readInstant(effectiveAt),
    recordedAt: readInstant(recordedAt),
  }));
}
