import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { deleteDevicesOf } from "../../store/control/devices.ts";
import { deleteIdentitiesOf } from "../../store/control/identities.ts";
import {
  findMemberByEmail,
  insertMember,
  lockMembership,
  setPassword,
  updateMember,
} from "../../store/control/members.ts";
import { getFirstWorkspace } from "../../store/control/projects.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { endAccess, listAccess, type MadeLink, makeLinkFor } from "./member-access.ts";
import { hasPassword, NO_PASSWORD } from "./password.ts";
import { removeSecondFactor } from "./second-factor.ts";

/** The access that the reset ended. API keys keep working, because a product's backend may depend on them. */
export type Ended = {
  readonly passwordEnded: boolean;
  /** Accounts at a single sign-on provider that no longer belong to the member. */
  readonly accountsEnded: number;
  readonly sessionsEnded: number;
  readonly devicesEnded: number;
  readonly passkeysEnded: number;
  readonly tokensEnded: number;
  readonly linksEnded: number;
  readonly apiKeysKept: number;
};

export type ResetOwner = {
  readonly kind: "created" | "promoted" | "reset";
  readonly ended: Ended;
  readonly link: MadeLink;
};

const ACTOR = { kind: "command", id: "purser reset-owner", requestId: null } as const;

/**
 * Creates a one-time link to set a new owner password. `email` must be in lower case. Disables the old password and ends all access
 * that depends on it, so that nobody with the old password can revoke the new link.
 */
export function resetOwner(control: Pool, email: string): Promise<ResetOwner> {
  return transaction(control, async (tx) => {
    await lockMembership(tx);
    const member = await findMemberByEmail(tx, email);
    const workspaceId = member?.workspaceId ?? (await getFirstWorkspace(tx));
    const owner = { workspaceId, email, name: member?.name ?? "Owner", role: "owner" } as const;
    const id = member?.id ?? (await insertMember(tx, { ...owner, passwordHash: null }));
    if (member !== null && member.role !== "owner") await updateMember(tx, { ...owner, id });
    const hadPassword = member !== null && hasPassword(member);
    // Also without a password. Otherwise the disconnected account could join again, and would be an owner.
    const hasJoined = member !== null && (member.passwordHash !== null || member.issuers.length > 0);
    if (hasJoined) await setPassword(tx, { id, passwordHash: NO_PASSWORD });
    const { tokens, links, apiKeys } = await listAccess(tx, { id, workspaceId });
    const ended = {
      passwordEnded: hadPassword,
      accountsEnded: await deleteIdentitiesOf(tx, id),
      sessionsEnded: await deleteSessionsOf(tx, id),
      devicesEnded: await deleteDevicesOf(tx, { memberId: id, except: null }),
      passkeysEnded: await removeSecondFactor(tx, id),
      tokensEnded: tokens.length,
      linksEnded: links.length,
      apiKeysKept: apiKeys.length,
    };
    await endAccess(tx, ACTOR, { id, workspaceId });
    await insertControlAudit(tx, {
      workspaceId,
      actor: ACTOR,
      action: "member.owner_reset",
      subject: email,
      before: member && { role: member.role },
      after: { role: "owner", ...ended },
    });
    const purpose = hasJoined ? "password" : "invitation";
    const link = await makeLinkFor(tx, { memberId: id, purpose, createdBy: ACTOR });
    const kind = member === null ? "created" : member.role === "owner" ? "reset" : "promoted";
    return { kind, ended, link };
  });
}
