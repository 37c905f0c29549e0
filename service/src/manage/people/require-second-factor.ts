import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import { mayActAs, ROLES, type Role } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { listPasskeys } from "../../store/control/passkeys.ts";
import { deleteSessionsWithoutFactor, type OpenedWith } from "../../store/control/sessions.ts";
import { setSecondFactorFrom } from "../../store/control/workspaces.ts";
import type { Author } from "./membership.ts";
import { refusedChange } from "./passkey-operations.ts";
import { findProof } from "./second-factor.ts";

type RequirementChange = {
  readonly before: Role | null;
  readonly after: Role | null;
  readonly publicUrl: string | null;
};

/**
 * Requires a second factor from members with this role or above, and ends the sessions that they opened without one. The caller holds
 * the lock of the workspace, which changes to passkeys take too.
 */
export async function requireSecondFactor(
  tx: Tx,
  { principal, actor }: Author,
  { before, after: requiredFrom, publicUrl }: RequirementChange,
): Promise<void> {
  const { id, workspaceId, kind, email, sessionHash } = principal;
  if (kind === "token" || sessionHash === null) {
    throw new Problem("role_missing", {
      detail:
        "Only an owner who is logged in can change which roles require a second factor. A token cannot.",
    });
  }
  const proof = await findProof(tx, sessionHash);
  if (proof === null) throw refusedChange("log_in_again");
  if (requiredFrom !== null) await refuseLockOut(tx, { memberId: id, proof, publicUrl });
  await setSecondFactorFrom(tx, { id: workspaceId, from: requiredFrom });
  await insertControlAudit(tx, {
    workspaceId,
    actor,
    action: "workspace.second_factor_changed",
    subject: email ?? "",
    before: { requiredFrom: before },
    after: { requiredFrom },
  });
  if (requiredFrom === null) return;
  const roles = ROLES.filter((role) => mayActAs(role, requiredFrom));
  await deleteSessionsWithoutFactor(tx, { workspaceId, roles });
}

/** The owner must have used a passkey at the address of this installation. Otherwise, the requirement could lock everyone out. */
async function refuseLockOut(
  tx: Tx,
  { memberId, proof, publicUrl }: { memberId: number; proof: OpenedWith; publicUrl: string | null },
): Promise<void> {
  if (publicUrl === null) {
    throw new Problem("passkey_unavailable", {
      detail:
        "Set `PUBLIC_URL` to the address of this installation first. Without it, passkeys work only on localhost, " +
        "and members could not register one at any other address.",
    });
  }
  if ((await listPasskeys(tx, memberId)).length === 0) {
    throw new Problem("passkey_missing", {
      detail: "Add a passkey to your own account first, so that you do not lock yourself out.",
    });
  }
  if (proof === "passkey") return;
  throw new Problem("recent_log_in_required", {
    detail: "Log in again with a passkey first. This shows that passkeys work at this address.",
  });
}
