import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  getWorkspace,
  lockWorkspace,
  putWorkspaceLimits,
  renameWorkspace,
  type Workspace,
  type WorkspaceLimits,
} from "../../store/control/workspaces.ts";
import type { Actor } from "../../words/actor.ts";

export type WorkspaceInput = { readonly name?: string; readonly limits?: Partial<WorkspaceLimits> };

/** What is left out stays. Safe to repeat. */
export function changeWorkspace(
  control: Pool,
  { workspaceId, actor }: { workspaceId: number; actor: Actor },
  input: WorkspaceInput,
): Promise<Workspace> {
  return transaction(control, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await getWorkspace(tx, workspaceId);
    const name = input.name ?? before.name;
    const limits = { ...before.limits, ...input.limits };
    const isRenamed = name !== before.name;
    const isLimited = JSON.stringify(limits) !== JSON.stringify(before.limits);
    if (!isRenamed && !isLimited) return before;
    if (isRenamed) await renameWorkspace(tx, { id: workspaceId, name });
    if (isLimited) await putWorkspaceLimits(tx, workspaceId, limits);
    await insertControlAudit(tx, {
      workspaceId,
      actor,
      action: "workspace.changed",
      subject: name,
      before: { name: before.name, limits: before.limits },
      after: { name, limits },
    });
    return getWorkspace(tx, workspaceId);
  });
}
