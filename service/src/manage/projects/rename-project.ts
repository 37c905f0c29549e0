import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { lockProjectName, renameProject } from "../../store/control/projects.ts";
import type { Actor } from "../../words/actor.ts";
import type { ProjectId } from "../../words/brand.ts";

/** Safe to repeat. */
export function changeProjectName(
  control: Pool,
  { workspaceId, projectId, actor }: { workspaceId: number; projectId: ProjectId; actor: Actor },
  name: string,
): Promise<void> {
  return transaction(control, async (tx) => {
    const before = await lockProjectName(tx, projectId);
    if (before === null || before === name) return;
    await renameProject(tx, { id: projectId, name });
    await insertControlAudit(tx, {
      workspaceId,
      actor,
      action: "project.renamed",
      subject: name,
      before: { id: String(projectId), name: before },
      after: { id: String(projectId), name },
    });
  });
}
