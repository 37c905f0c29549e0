import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { mayActAs } from "../../primitives/role.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { deleteDevicesOf } from "../../store/control/devices.ts";
import { endLinksOf, type FoundLink, findLink, useLink } from "../../store/control/links.ts";
import {
  findMemberById,
  lockMembership,
  type Member,
  setPassword,
  updateMember,
} from "../../store/control/members.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { findAuthority } from "./membership.ts";
import type { HashNew } from "./password.ts";
import { type OpenedLogIn, openSessionIn, type Visit } from "./sign-in.ts";

export type LinkInput = { readonly token: string; readonly password?: string; readonly name?: string };

export type AcceptOutcome =
  /** The link is used, even if the login still waits for a second factor. */
  | { kind: "accepted"; member: Member; opened: OpenedLogIn }
  | { kind: "link_invalid" }
  /** The link stays valid, so that the caller can correct the field. */
  | { kind: "misfit"; field: "password" | "name"; code: "required" | "unknown_field"; message: string };

type Purpose = "invitation" | "password" | "sign_in";

/**
 * Uses a one-time link (invitation, password reset or login). Logs the member in, or asks for a second factor. `admit` throws if the
 * member may not use links.
 */
export async function acceptLink(
  control: Pool,
  input: LinkInput,
  visit: Visit,
  hash: HashNew,
  admit: (member: Member) => void,
): Promise<AcceptOutcome> {
  const tokenHash = hashSecret(input.token);
  // Checks the link before the expensive password hash, so that unauthenticated callers cannot use up CPU. The link is marked as used
  // later, under the lock.
  const found = await single(control, (tx) => findLink(tx, tokenHash));
  if (found === null || found.purpose === "setup") return { kind: "link_invalid" };
  const invited = await transaction(control, (tx) => findMemberOfLink(tx, found));
  if (invited === null) return { kind: "link_invalid" };
  admit(invited);
  const { purpose } = found;
  const misfit = findMisfit(purpose, input);
  if (misfit !== null) return misfit;
  const passwordHash = input.password === undefined ? null : await hash(input.password, invited.email);
  return transaction<AcceptOutcome>(
    control,
    async (tx) => {
      await lockMembership(tx);
      const link = await useLink(tx, { tokenHash, purposes: [purpose] });
      const before = link && (await findMemberOfLink(tx, link));
      if (before === null) return { kind: "link_invalid" };
      admit(before);
      const member = { ...before, name: input.name ?? before.name };
      if (passwordHash !== null) {
        await updateMember(tx, member);
        await setPassword(tx, { id: member.id, passwordHash });
        await endLinksOf(tx, member.id);
        await deleteSessionsOf(tx, member.id);
        await deleteDevicesOf(tx, { memberId: member.id, except: null });
        await insertControlAudit(tx, {
          workspaceId: member.workspaceId,
          actor: { kind: "member", id: String(member.id), requestId: visit.requestId },
          action: purpose === "invitation" ? "member.joined" : "member.password_reset",
          subject: member.email,
          before: { name: before.name },
          after: { name: member.name },
        });
      }
      return { kind: "accepted", member, opened: await openSessionIn(tx, member, visit) };
    },
    ({ kind }) => kind === "accepted",
  );
}

/**
 * Finds the member of a valid link. A link ends when its creator is removed or demoted, or when the token that created the link is
 * revoked.
 */
export async function findMemberOfLink(
  tx: Tx,
  { memberId, createdBy }: Pick<FoundLink, "memberId" | "createdBy">,
): Promise<Member | null> {
  const member = memberId === null ? null : await findMemberById(tx, memberId);
  if (member === null || createdBy === null) return null;
  const authority = await findAuthority(tx, member.workspaceId, createdBy);
  if (authority === null || !mayActAs(authority.role, "admin")) return null;
  return mayActAs(authority.role, member.role) ? member : null;
}

function findMisfit(purpose: Purpose, { password, name }: LinkInput): AcceptOutcome | null {
  if (purpose !== "sign_in" && password === undefined) {
    return { kind: "misfit", field: "password", code: "required", message: "is required with this link" };
  }
  const message = "is not allowed with this link";
  if (purpose === "sign_in" && password !== undefined) {
    return { kind: "misfit", field: "password", code: "unknown_field", message };
  }
  if (purpose !== "invitation" && name !== undefined) {
    return { kind: "misfit", field: "name", code: "unknown_field", message };
  }
  return null;
}
