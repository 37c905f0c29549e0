import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import { mayActAs, ROLES, type Role } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { listPasskeys } from "../../store/control/passkeys.ts";
import { deleteSessionsWithoutFactor } from "../../store/control/sessions.ts";
import { setSecondFactorFrom } from "../../store/control/workspaces.ts";
import type { Author } from "./membership.ts";
import { isRecentLogIn } from "./own-passkeys.ts";
import { refusedChange } from "./passkey-operations.ts";

/**
 * Requires a second factor from members with this role or above, and ends the sessions that they opened without one. The caller holds
 * the lock of the workspace, which changes to passkeys take too.
 */
export async function requireSecondFactor(
  tx: Tx,
  { principal, actor }: Author,
  { before, after: requiredFrom }: { before: Role | null; after: Role | null },
): Promise<void> {
  const { id, workspaceId, kind, email, sessionHash } = principal;
  if (kind === "token" || sessionHash === null) {
    throw new Problem("role_missing", {
      detail: "Only an owner who is logged in can change who needs a second factor. A token cannot.",
    });
  }
  if (!(await isRecentLogIn(tx, sessionHash))) throw refusedChange("log_in_again");
  // Proves that passkeys work at the address of this installation, so that the requirement does not lock everyone out.
  if (requiredFrom !== null && (await listPasskeys(tx, id)).length === 0) {
    throw new Problem("passkey_missing", {
      detail: "Add a passkey to your own account first, so that you do not lock yourself out.",
    });
  }
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
