import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  findMemberByEmail,
  insertMember,
  lockMembership,
  updateMember,
} from "../../store/control/members.ts";
import { getFirstWorkspace } from "../../store/control/projects.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { type MadeLink, makeLinkFor } from "./member-links.ts";

export type ResetOwner = { readonly kind: "created" | "promoted" | "reset"; readonly link: MadeLink };

const ACTOR = { kind: "command", id: "purser reset-owner", requestId: null } as const;

/**
 * A one-time link by which this person becomes an owner with a new password. `email` in lower case. The old password stays until the
 * link is used; sessions end at once.
 */
export function resetOwner(control: Pool, email: string): Promise<ResetOwner> {
  return transaction(control, async (tx) => {
    await lockMembership(tx);
    const member = await findMemberByEmail(tx, email);
    const workspaceId = member?.workspaceId ?? (await getFirstWorkspace(tx));
    const owner = { workspaceId, email, name: member?.name ?? "Owner", role: "owner" } as const;
    const id = member?.id ?? (await insertMember(tx, { ...owner, passwordHash: null }));
    if (member !== null && member.role !== "owner") await updateMember(tx, { ...owner, id });
    const sessionsEnded = await deleteSessionsOf(tx, id);
    await insertControlAudit(tx, {
      workspaceId,
      actor: ACTOR,
      action: "member.owner_reset",
      subject: email,
      before: member && { role: member.role },
      after: { role: "owner", sessionsEnded },
    });
    const hasPassword = member !== null && member.passwordHash !== null;
    const purpose = hasPassword ? "password" : "invitation";
    const link = await makeLinkFor(tx, { memberId: id, purpose, createdBy: ACTOR });
    const kind = member === null ? "created" : member.role === "owner" ? "reset" : "promoted";
    return { kind, link };
  });
}
