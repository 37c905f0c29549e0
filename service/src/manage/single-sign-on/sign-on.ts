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
  hasJoined,
  lockMembership,
  type Member,
  updateMember,
} from "../../store/control/members.ts";
import { findMemberOfLink } from "../people/accept-link.ts";
import { summarizeMember } from "../people/describe-member.ts";
import { endAccess } from "../people/member-access.ts";
import { insertSessionIn, type Visit } from "../people/sign-in.ts";
import { claimedRole, type Person, refuseEmail, refusePerson } from "./claims.ts";
import type { SignOnFailure } from "./failures.ts";
import type { SignOnSettings } from "./settings.ts";

export type SignOnOutcome =
  | { readonly kind: "signed_in"; readonly sessionToken: string }
  | { readonly kind: "failed"; readonly code: SignOnFailure };

const failed = (code: SignOnFailure): SignOnOutcome => ({ kind: "failed", code });

/** Logs a person in whom the provider has identified. The first sign-in accepts an open invitation to the person's email. */
export function signOn(
  control: Pool,
  settings: SignOnSettings,
  person: Person,
  visit: Visit,
): Promise<SignOnOutcome> {
  return transaction<SignOnOutcome>(
    control,
    async (tx) => {
      const refused = refusePerson(settings, person);
      if (refused !== null) return failed(refused);
      await lockMembership(tx);
      const memberId = await findMemberOfIdentity(tx, person);
      const found =
        memberId === null ? await join(tx, settings, person, visit) : await getMember(tx, memberId);
      if ("code" in found) return found;
      const member = await applyRole(tx, settings, person, found, visit);
      await touchIdentity(tx, person);
      return {
        kind: "signed_in",
        sessionToken: await insertSessionIn(tx, member, visit, "single_sign_on", person.issuer),
      };
    },
    ({ kind }) => kind === "signed_in",
  );
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
): Promise<Member | (SignOnOutcome & { kind: "failed" })> {
  const no = (code: SignOnFailure) => ({ kind: "failed", code }) as const;
  const refused = refuseEmail(settings, person);
  if (refused !== null) return no(refused);
  const member = await findMemberByEmail(tx, person.email ?? "");
  if (member === null) return no("not_invited");
  // Otherwise, the next owner of an employee's old address could take over the employee's account in Purser.
  if (hasJoined(member)) return no("connect_first");
  const invitation = await findInvitation(tx, member.id);
  if (invitation === null || (await findMemberOfLink(tx, invitation)) === null) return no("not_invited");
  if (!(await insertIdentity(tx, { ...person, memberId: member.id }))) return no("account_in_use");
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
 * Gives the member the role of the role claim. Owners stay owners, and members with roles only in projects keep only these. A lower
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
