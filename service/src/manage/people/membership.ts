import type { Principal } from "../../edge/principal.ts";
import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant } from "../../primitives/brand.ts";
import { mayActAs, type Role } from "../../primitives/role.ts";
import { lockManagementToken } from "../../store/control/management-tokens.ts";
import { findMember, lockMembership } from "../../store/control/members.ts";
import { isSessionOpen } from "../../store/control/sessions.ts";
import { actorOf, type Call, principalOf } from "../operation.ts";

/** Who changes who may do what. */
export type Author = { readonly principal: Principal; readonly actor: Actor };

export function authorOf(call: Call): Author {
  return { principal: principalOf(call), actor: actorOf(call) };
}

/** What the creator of something may do now, and so the most that it can be good for. */
export type Authority = {
  readonly role: Role;
  /** The member who began the chain of creators. Null: a command did. */
  readonly rootMemberId: number | null;
  /** When it ends, and with it everything created with it. Null: never. */
  readonly expiresAt: Instant | null;
};

/** Why such a change was not made; nothing of it is kept. */
export type Refusal =
  | "author_gone"
  | "author_demoted"
  | "not_found"
  | "above_own_role"
  | "last_owner"
  | "already_exists";

type Opened = { kind: "open"; authority: Authority } | { kind: "author_gone" | "author_demoted" };

/**
 * One such change at a time, and each by what its author may do now: whoever was removed or demoted, or whose session
 * ended, while their request was under way changes nothing any more.
 */
export async function openMembership(tx: Tx, { principal, actor }: Author): Promise<Opened> {
  await lockMembership(tx);
  const { sessionHash } = principal;
  if (sessionHash !== null && !(await isSessionOpen(tx, sessionHash))) return { kind: "author_gone" };
  const authority = await findAuthority(tx, principal.workspaceId, actor);
  if (authority === null) return { kind: "author_gone" };
  if (!mayActAs(authority.role, "admin")) return { kind: "author_demoted" };
  return { kind: "open", authority };
}

/** Null: the member was removed, or the token is not valid any more. */
export async function findAuthority(
  tx: Tx,
  workspaceId: number,
  { kind, id }: Pick<Actor, "kind" | "id">,
): Promise<Authority | null> {
  if (kind === "command" || kind === "system") return { role: "owner", rootMemberId: null, expiresAt: null };
  const sought = { workspaceId, id: Number(id) };
  if (kind === "member") {
    const member = await findMember(tx, sought);
    return member && { role: member.role, rootMemberId: member.id, expiresAt: null };
  }
  const token = await lockManagementToken(tx, sought);
  if (token === null || !token.isValid) return null;
  const { role, rootMemberId, expiresAt } = token;
  return { role, rootMemberId, expiresAt };
}

const DETAILS = {
  author_gone: [
    "sign_in_required",
    "Your session or token ended, or you were removed, while this was under way.",
  ],
  author_demoted: ["role_missing", "Your role was changed while this was under way."],
  not_found: ["not_found", "There is no such member, token or key in this workspace."],
  above_own_role: ["role_missing", "Nobody gives, changes or takes away a role above their own."],
  last_owner: ["last_owner", "Make somebody else an owner first; an invitation counts once it is accepted."],
  already_exists: ["already_exists", "There is a member with this email."],
} as const satisfies Record<Refusal, readonly [string, string]>;

export function toProblem(refusal: Refusal): Problem {
  const [code, detail] = DETAILS[refusal];
  return new Problem(code, { detail });
}
