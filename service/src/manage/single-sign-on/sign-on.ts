import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import { mayActAs } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findMemberOfIdentity, insertIdentity, touchIdentity } from "../../store/control/identities.ts";
import { endLinksOf, findInvitation } from "../../store/control/links.ts";
import {
  findMemberByEmail,
  findMemberById,
  lockMembership,
  type Member,
  updateMember,
} from "../../store/control/members.ts";
import { deleteSession } from "../../store/control/sessions.ts";
import { findMemberOfLink } from "../people/accept-link.ts";
import { summarizeMember } from "../people/describe-member.ts";
import { endAccess } from "../people/member-access.ts";
import { insertSessionIn, type Visit } from "../people/sign-in.ts";
import { claimedRole, type Person, refuseEmail, refusePerson } from "./claims.ts";
import type { SignOnFailure } from "./failures.ts";
import { hasJoined, type SignOnSettings } from "./settings.ts";

export type SignOnOutcome =
  | { readonly kind: "signed_in"; readonly memberId: number; readonly sessionToken: string }
  /** `isCommitted`: true if the transaction must be committed although sign-in failed, because the failure ended the member's access. */
  | { readonly kind: "failed"; readonly code: SignOnFailure; readonly isCommitted: boolean };

type Failure = SignOnOutcome & { kind: "failed" };

const failed = (code: SignOnFailure, isCommitted = false): Failure => ({ kind: "failed", code, isCommitted });

/**
 * Logs in a person whom the provider has identified. The first sign-in accepts an open invitation to the person's email. `previous` is
 * the browser's session, which ends.
 */
export function signOn(
  control: Pool,
  settings: SignOnSettings,
  person: Person,
  visit: Visit & { readonly previous: Buffer | null },
): Promise<SignOnOutcome> {
  return transaction<SignOnOutcome>(
    control,
    async (tx) => {
      await lockMembership(tx);
      const memberId = await findMemberOfIdentity(tx, person);
      const refused = refusePerson(settings, person);
      if (refused !== null) {
        if (memberId === null) return failed(refused);
        return failed(
          refused,
          await endRefused(tx, settings, { ...(await getMember(tx, memberId)), refused }, visit),
        );
      }
      const found =
        memberId === null ? await join(tx, settings, person, visit) : await getMember(tx, memberId);
      if ("code" in found) return found;
      if (visit.previous !== null) await deleteSession(tx, visit.previous);
      const member = await applyRole(tx, settings, person, found, visit);
      await touchIdentity(tx, person);
      return {
        kind: "signed_in",
        memberId: member.id,
        sessionToken: await insertSessionIn(tx, member, visit, "single_sign_on", person.issuer),
      };
    },
    (outcome) => outcome.kind === "signed_in" || outcome.isCommitted,
  );
}

/**
 * Ends the access of a member who lost every role at the provider, or whose account left the allowed domains, as a demotion does.
 * Returns false for an owner, whose role is managed in Purser.
 */
async function endRefused(
  tx: Tx,
  { roles }: SignOnSettings,
  { id, workspaceId, email, role, refused }: Member & { readonly refused: SignOnFailure },
  { requestId }: Visit,
): Promise<boolean> {
  if (role === "owner") return false;
  const actor: Actor = { kind: "system", id: null, requestId };
  await endAccess(tx, actor, { id, workspaceId });
  await insertControlAudit(tx, {
    workspaceId,
    actor,
    action: "member.access_ended",
    subject: email,
    before: null,
    after: { reason: refused, ...(refused === "role_not_mapped" ? { claim: roles?.claim } : {}) },
  });
  return true;
}

async function getMember(tx: Tx, id: number): Promise<Member> {
  const member = await findMemberById(tx, id);
  assert(member !== null, "an account belongs to a member");
  return member;
}

/** Connects the account to the member whose invitation has the person's email. Nobody joins without an invitation. */
async function join(
  tx: Tx,
  settings: SignOnSettings,
  person: Person,
  { requestId }: Visit,
): Promise<Member | Failure> {
  const refused = refuseEmail(settings, person);
  if (refused !== null) return failed(refused);
  const member = await findMemberByEmail(tx, person.email ?? "");
  if (member === null) return failed("not_invited");
  // Otherwise, whoever is next assigned a former employee's email address could take over the employee's account in Purser.
  if (hasJoined(settings, member)) return failed("connect_first");
  const invitation = await findInvitation(tx, member.id);
  // The link of `purser reset-owner` is for the person who runs the command, not for an account at the provider.
  if (invitation?.createdBy?.kind === "command") return failed("not_invited");
  if (invitation === null || (await findMemberOfLink(tx, invitation)) === null) return failed("not_invited");
  if (!(await insertIdentity(tx, { ...person, memberId: member.id }))) return failed("account_in_use");
  await endLinksOf(tx, member.id);
  await insertControlAudit(tx, {
    workspaceId: member.workspaceId,
    actor: { kind: "member", id: String(member.id), requestId },
    action: "member.joined",
    subject: member.email,
    before: null,
    after: { issuer: person.issuer },
  });
  return member;
}

/**
 * Gives the member the role that the role claim maps to. Owners, and members who have only project roles, are left unchanged. A lower
 * role ends access like any demotion.
 */
async function applyRole(
  tx: Tx,
  settings: SignOnSettings,
  person: Person,
  member: Member,
  { requestId }: Visit,
): Promise<Member> {
  const role = claimedRole(settings, person);
  const isFixed = member.role === null || member.role === "owner";
  if (role === null || isFixed || role === member.role) return member;
  const actor: Actor = { kind: "system", id: null, requestId };
  if (!mayActAs(role, member.role)) await endAccess(tx, actor, member);
  // A link created for a lower role must not grant a higher role.
  else await endLinksOf(tx, member.id);
  const after = { ...member, role };
  await updateMember(tx, after);
  await insertControlAudit(tx, {
    workspaceId: member.workspaceId,
    actor,
    action: "member.changed",
    subject: member.email,
    before: summarizeMember(member),
    after: { ...summarizeMember(after), claim: settings.roles?.claim },
  });
  return after;
}
