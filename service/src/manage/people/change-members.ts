import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import { includesRoles, mayActAs, type Roles } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { endLinksOf } from "../../store/control/links.ts";
import { replaceProjectRoles } from "../../store/control/member-roles.ts";
import {
  findMember,
  findMemberByEmail,
  insertMember,
  listOtherOwners,
  type Member,
  removeMember,
  updateMember,
} from "../../store/control/members.ts";
import { canLogIn, hasJoined, type SignOnSettings } from "../single-sign-on/settings.ts";
import { summarizeMember } from "./describe-member.ts";
import { endAccess, endApiKeysOf, type MadeLink, makeLinkFor } from "./member-access.ts";
import { type Author, type Authority, openMembership, type Refusal } from "./membership.ts";
import { removeSecondFactor } from "./second-factor.ts";

export type MemberOutcome = { kind: "done"; member: Member } | { kind: Refusal };
type ChangeOutcome = MemberOutcome | { kind: "not_demoted" | "no_role" };
export type LinkOutcome = { kind: "done"; member: Member; link: MadeLink } | { kind: Refusal };
type InviteOutcome = LinkOutcome | { kind: "no_role" };
type RenewOutcome = LinkOutcome | { kind: "own" };

const isDone = ({ kind }: { kind: string }): boolean => kind === "done";

/** Invites a member. `email` must be in lower case. */
export function inviteMember(
  control: Pool,
  author: Author,
  input: { readonly email: string; readonly name: string } & Roles,
): Promise<InviteOutcome> {
  return transaction<InviteOutcome>(
    control,
    async (tx) => {
      const opened = await openMembership(tx, author);
      if (opened.kind !== "open") return opened;
      if (!mayActAs(opened.authority.role, input.role)) return { kind: "above_own_role" };
      if (isWithoutRole(input)) return { kind: "no_role" };
      if ((await findMemberByEmail(tx, input.email)) !== null) return { kind: "already_exists" };
      const { workspaceId } = author.principal;
      const id = await insertMember(tx, { workspaceId, ...input, passwordHash: null });
      if (!(await replaceProjectRoles(tx, id, input.projectRoles))) return { kind: "project_not_found" };
      const member = await getMember(tx, { workspaceId, id });
      await audit(tx, author, { action: "member.invited", before: null, after: member });
      const link = linkBy(author, opened.authority, { memberId: id, purpose: "invitation" });
      return { kind: "done", member, link: await makeLinkFor(tx, link) };
    },
    isDone,
  );
}

type MemberChange = Partial<Roles> & {
  readonly id: number;
  readonly name?: string;
  /** API keys that the member created, to revoke when a role is lowered. */
  readonly revokeApiKeys?: readonly number[];
};

/**
 * Changes a member. Omitted fields stay unchanged. If a role is lowered or removed anywhere, the member's sessions, links and tokens
 * end. Safe to repeat.
 */
export function changeMember(
  control: Pool,
  settings: SignOnSettings | null,
  author: Author,
  input: MemberChange,
): Promise<ChangeOutcome> {
  return transaction<ChangeOutcome>(
    control,
    async (tx) => {
      const found = await openMember(tx, author, input.id);
      if (found.kind !== "found") return found;
      const { member: before, authority } = found;
      const { name = before.name, role = before.role, projectRoles = before.projectRoles } = input;
      const after = { ...before, name, role, projectRoles };
      const { revokeApiKeys = [] } = input;
      if (!mayActAs(authority.role, role)) return { kind: "above_own_role" };
      if (isWithoutRole(after)) return { kind: "no_role" };
      if (role !== "owner" && (await isLastOwner(tx, settings, before))) return { kind: "last_owner" };
      const isDemoted = !includesRoles(after, before);
      const isPromoted = !includesRoles(before, after);
      if (isDemoted) await endAccess(tx, author.actor, before);
      // When a demotion is repeated, the member already has the lower roles.
      const isRepeated = (input.role !== undefined || input.projectRoles !== undefined) && !isPromoted;
      const mayNameKeys = isDemoted || isRepeated;
      if (!mayNameKeys && revokeApiKeys.length > 0) return { kind: "not_demoted" };
      if (!(await endApiKeysOf(tx, author.actor, before, revokeApiKeys))) return { kind: "not_found" };
      if (JSON.stringify(after) === JSON.stringify(before)) return { kind: "done", member: before };
      await updateMember(tx, after);
      if (!(await replaceProjectRoles(tx, before.id, projectRoles))) return { kind: "project_not_found" };
      // A link created for a lower role must not grant a higher role.
      if (isPromoted) await endLinksOf(tx, before.id);
      await audit(tx, author, { action: "member.changed", before, after });
      return { kind: "done", member: after };
    },
    isDone,
  );
}

/** Removes a member. Ends the member's sessions, links and tokens, and revokes the listed API keys. */
export function expelMember(
  control: Pool,
  settings: SignOnSettings | null,
  author: Author,
  { id, revokeApiKeys }: { readonly id: number; readonly revokeApiKeys: readonly number[] },
): Promise<MemberOutcome> {
  return transaction<MemberOutcome>(
    control,
    async (tx) => {
      const found = await openMember(tx, author, id);
      if (found.kind !== "found") return found;
      const { member } = found;
      if (await isLastOwner(tx, settings, member)) return { kind: "last_owner" };
      // Must come before the removal, because a removed member's tokens are no longer found.
      await endAccess(tx, author.actor, member);
      if (!(await endApiKeysOf(tx, author.actor, member, revokeApiKeys))) return { kind: "not_found" };
      await removeSecondFactor(tx, id);
      await removeMember(tx, id);
      await audit(tx, author, { action: "member.removed", before: member, after: null });
      return { kind: "done", member };
    },
    isDone,
  );
}

/**
 * Creates a new invitation if the member has not joined yet, otherwise a password reset link. `admit` throws if a member who has joined
 * may not use a password.
 */
export function renewLink(
  control: Pool,
  settings: SignOnSettings | null,
  author: Author,
  id: number,
  admit: (member: Member) => void,
): Promise<RenewOutcome> {
  return transaction<RenewOutcome>(
    control,
    async (tx) => {
      const found = await openMember(tx, author, id);
      if (found.kind !== "found") return found;
      const { member, authority } = found;
      // Otherwise, somebody in an unattended session could choose a new password and log in with it.
      if (authority.rootMemberId === id) return { kind: "own" };
      const isInvited = !hasJoined(settings, member);
      if (!isInvited) admit(member);
      const purpose = isInvited ? "invitation" : "password";
      const link = await makeLinkFor(tx, linkBy(author, authority, { memberId: id, purpose }));
      const action = isInvited ? "member.invited_again" : "member.password_link_made";
      await audit(tx, author, { action, before: member, after: member });
      return { kind: "done", member, link };
    },
    isDone,
  );
}

type Found =
  | { kind: "found"; member: Member; authority: Authority }
  | { kind: "author_gone" | "author_demoted" | "not_found" | "above_own_role" };

/**
 * Finds a member to change. Rejects a member with a higher role, because a password reset link would let the caller take over that
 * account.
 */
async function openMember(tx: Tx, author: Author, id: number): Promise<Found> {
  const opened = await openMembership(tx, author);
  if (opened.kind !== "open") return opened;
  const { authority } = opened;
  const member = await findMember(tx, { workspaceId: author.principal.workspaceId, id });
  if (member === null) return { kind: "not_found" };
  if (!mayActAs(authority.role, member.role)) return { kind: "above_own_role" };
  return { kind: "found", member, authority };
}

function linkBy(
  { actor }: Author,
  { expiresAt }: Authority,
  link: { memberId: number; purpose: "invitation" | "password" },
) {
  return { ...link, createdBy: actor, endsAtMax: expiresAt };
}

/** Every member has at least one role. */
function isWithoutRole({ role, projectRoles }: Roles): boolean {
  return role === null && projectRoles.length === 0;
}

/** Whether no other owner can log in. An invited owner cannot log in yet. */
async function isLastOwner(tx: Tx, settings: SignOnSettings | null, member: Member): Promise<boolean> {
  if (member.role !== "owner" || !hasJoined(settings, member)) return false;
  return !(await listOtherOwners(tx, member)).some((owner) => canLogIn(settings, owner));
}

async function getMember(tx: Tx, sought: { workspaceId: number; id: number }): Promise<Member> {
  const member = await findMember(tx, sought);
  assert(member !== null, "an inserted member is found");
  return member;
}

async function audit(
  tx: Tx,
  { principal, actor }: Author,
  { action, before, after }: { action: string; before: Member | null; after: Member | null },
): Promise<void> {
  await insertControlAudit(tx, {
    workspaceId: principal.workspaceId,
    actor,
    action,
    subject: (after ?? before)?.email ?? "",
    before: before && summarizeMember(before),
    after: after && summarizeMember(after),
  });
}
