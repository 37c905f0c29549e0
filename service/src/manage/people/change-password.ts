import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { deleteDevicesOf } from "../../store/control/devices.ts";
import { endLinksOf } from "../../store/control/links.ts";
import { lockMembership, replacePassword } from "../../store/control/members.ts";
import { deleteOtherSessionsOf } from "../../store/control/sessions.ts";
import type { MemberWithPassword } from "./sign-in.ts";

/** After the old password was checked. Ends all other sessions. False: the password has changed meanwhile. */
export async function changePassword(
  control: Pool,
  member: MemberWithPassword,
  input: {
    readonly passwordHash: string;
    readonly sessionHash: Buffer;
    /** The current device, which stays known. */
    readonly device: string | null;
    readonly requestId: string;
  },
): Promise<boolean> {
  const { id, workspaceId, email } = member;
  return transaction(control, async (tx) => {
    // Before the sessions end, so that a concurrent access change in one of them happens entirely before or not at all.
    await lockMembership(tx);
    const after = input.passwordHash;
    if (!(await replacePassword(tx, { id, before: member.passwordHash, after }))) return false;
    await deleteOtherSessionsOf(tx, { memberId: id, tokenHash: input.sessionHash });
    const except = input.device === null ? null : hashSecret(input.device);
    await deleteDevicesOf(tx, { memberId: id, except });
    await endLinksOf(tx, id);
    await insertControlAudit(tx, {
      workspaceId,
      actor: { kind: "member", id: String(id), requestId: input.requestId },
      action: "member.password_changed",
      subject: email,
      before: null,
      after: null,
    });
    return true;
  });
}
