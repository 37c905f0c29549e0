import { sql } from "kysely";
import type { Tx } from "../../postgres/statement.ts";
import type { EnvironmentId } from "../../words/brand.ts";
import {
  AUDIT_COLUMNS,
  type AuditFilter,
  type AuditScan,
  type AuditWindow,
  isWithin,
  matches,
  runScan,
} from "./audit-scan.ts";

/** What was done to the workspace, or to what of it belongs to one environment. */
export function scanControlAudit(
  tx: Tx,
  where: { readonly workspaceId: number; readonly environmentId: EnvironmentId | null },
  window: AuditWindow,
  filter: AuditFilter,
): Promise<AuditScan> {
  const { workspaceId, environmentId } = where;
  const isThere =
    environmentId === null
      ? sql`c.workspace_id = ${workspaceId}`
      : sql`c.workspace_id = ${workspaceId} and c.environment_id = ${environmentId}`;
  const scan = sql`
    select ${AUDIT_COLUMNS}, a.environment_id
    from (
      select c.workspace_id, c.id
      from control.audit as c
      where ${isThere}
        and ${isWithin("c.id", window)}
      order by c.id desc
      limit ${window.count}
    ) as s
    left join control.audit as a
      on a.workspace_id = s.workspace_id
      and a.id = s.id
      and ${matches(filter)}
    order by s.id desc`;
  return runScan(tx, "audit.scan_control", scan, window);
}
