import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  deleteIdentitiesOf,
  findIdentityOf,
  findMemberOfIdentity,
  insertIdentity,
} from "../../store/control/identities.ts";
import { findMemberById, lockMembership, type Member } from "../../store/control/members.ts";
import { deleteSignedOnSessionsOf, isSessionOpen } from "../../store/control/sessions.ts";
import { hasPassword } from "../people/password.ts";
import { findProof } from "../people/second-factor.ts";
import { type Person, refuseEmail, refusePerson } from "./claims.ts";
import type { SignOnFailure } from "./failures.ts";
import { mayUsePassword, type SignOnSettings, usesSignOn } from "./settings.ts";

export type ConnectOutcome =
  | { readonly kind: "connected" }
  | { readonly kind: "failed"; readonly code: SignOnFailure };

/**
 * Connects the person's account to the member who started this in an open session. The account must have the member's email, so that
 * nobody can make a member connect a stranger's account.
 */
export function connectAccount(
  control: Pool,
  settings: SignOnSettings,
  person: Person,
  { memberId, sessionHash, requestId }: { memberId: number; sessionHash: Buffer; requestId: string },
): Promise<ConnectOutcome> {
  const failed = (code: SignOnFailure): ConnectOutcome => ({ kind: "failed", code });
  return transaction<ConnectOutcome>(
    control,
    async (tx) => {
      const refused = refusePerson(settings, person) ?? refuseEmail(settings, person);
      if (refused !== null) return failed(refused);
      await lockMembership(tx);
      const member = await findMemberById(tx, memberId);
      if (member === null || !(await isSessionOpen(tx, sessionHash))) return failed("attempt_invalid");
      if (person.email !== member.email) return failed("email_differs");
      const connected = await findMemberOfIdentity(tx, person);
      if (connected === memberId) return { kind: "connected" };
      const other = await findIdentityOf(tx, { memberId, issuer: person.issuer });
      if (connected !== null || other !== null) return failed("account_in_use");
      if (!(await insertIdentity(tx, { ...person, memberId }))) return failed("account_in_use");
      await insertControlAudit(tx, auditOf(member, requestId, "member.sign_on_connected", person.issuer));
      return { kind: "connected" };
    },
    ({ kind }) => kind === "connected",
  );
}

export type DisconnectOutcome = "disconnected" | "not_connected" | "no_password" | "log_in_again";

/**
 * Disconnects the member's account and ends the sessions that it opened. Refused if the member could not log in afterward, or has not
 * logged in recently.
 */
export function disconnectAccount(
  control: Pool,
  settings: SignOnSettings,
  { memberId, sessionHash, requestId }: { memberId: number; sessionHash: Buffer; requestId: string },
): Promise<DisconnectOutcome> {
  return transaction<DisconnectOutcome>(control, async (tx) => {
    await lockMembership(tx);
    const member = await findMemberById(tx, memberId);
    if (member === null || !usesSignOn(settings, member)) return "not_connected";
    if (!hasPassword(member) || !mayUsePassword(settings, member)) return "no_password";
    if ((await findProof(tx, sessionHash)) === null) return "log_in_again";
    await deleteIdentitiesOf(tx, memberId);
    await deleteSignedOnSessionsOf(tx, memberId);
    await insertControlAudit(tx, auditOf(member, requestId, "member.sign_on_disconnected", settings.issuer));
    return "disconnected";
  });
}

function auditOf(
  { id, workspaceId, email }: Member,
  requestId: string,
  action: "member.sign_on_connected" | "member.sign_on_disconnected",
  issuer: string,
) {
  return {
    workspaceId,
    actor: { kind: "member", id: String(id), requestId },
    action,
    subject: email,
    before: null,
    after: { issuer },
  } as const;
}
