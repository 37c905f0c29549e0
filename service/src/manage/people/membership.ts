import { type Principal, rolesOfToken } from "../../edge/principal.ts";
import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant, ProjectId } from "../../primitives/brand.ts";
import { mayActAs, type Role, type Roles, roleIn, roleInProject } from "../../primitives/role.ts";
import type { EnvironmentKind } from "../../primitives/secret.ts";
import { lockManagementToken } from "../../store/control/management-tokens.ts";
import { findMember, lockMembership } from "../../store/control/members.ts";
import { isSessionOpen } from "../../store/control/sessions.ts";
import { actorOf, type Call, principalOf } from "../operation.ts";

/** The caller who changes members, links, tokens or keys. */
export type Author = { readonly principal: Principal; readonly actor: Actor };

export function authorOf(call: Call): Author {
  return { principal: principalOf(call), actor: actorOf(call) };
}

/** The current rights of a member, token or command. These rights limit the tokens and links that the member, token or command created. */
export type Authority = Roles & {
  /** The member at the start of the chain of creators. Null if the chain starts with a command. */
  readonly rootMemberId: number | null;
  /** When these rights expire, and with them the tokens and links created under them. Null if the rights do not expire. */
  readonly expiresAt: Instant | null;
};

/** Why a change was rejected and rolled back. */
export type Refusal =
  | "author_gone"
  | "author_demoted"
  | "not_found"
  | "project_not_found"
  | "above_own_role"
  | "last_owner"
  | "already_exists";

type Opened =
  | { kind: "open"; authority: Authority & { readonly role: Role } }
  | { kind: "author_gone" | "author_demoted" };

/** An environment, or a whole project if `environment` is null. */
type Within = { readonly projectId: ProjectId; readonly environment: EnvironmentKind | null };

/**
 * Locks membership, so that access changes run one at a time, and checks the caller's rights under the lock. Fails if the caller's
 * session has ended, or the caller was removed or demoted in the meantime. The caller must have the role `needed` in the whole workspace,
 * or in `scope` if it is given.
 */
export async function openMembership(
  tx: Tx,
  { principal, actor }: Author,
  scope: Within | null = null,
  needed: Role = "admin",
): Promise<Opened> {
  await lockMembership(tx);
  const { sessionHash } = principal;
  if (sessionHash !== null && !(await isSessionOpen(tx, sessionHash))) return { kind: "author_gone" };
  const authority = await findAuthority(tx, principal.workspaceId, actor);
  if (authority === null) return { kind: "author_gone" };
  const role = scope === null ? authority.role : roleWithin(authority, scope);
  if (role === null || !mayActAs(role, needed)) return { kind: "author_demoted" };
  return { kind: "open", authority: { ...authority, role } };
}

function roleWithin(roles: Roles, { projectId, environment }: Within): Role | null {
  return environment === null ? roleInProject(roles, projectId) : roleIn(roles, { projectId, environment });
}

/** Finds the current rights of a member, token or command. Null if the member is removed or the token is no longer valid. */
export async function findAuthority(
  tx: Tx,
  workspaceId: number,
  { kind, id }: Pick<Actor, "kind" | "id">,
): Promise<Authority | null> {
  if (kind === "command" || kind === "system")
    return { role: "owner", projectRoles: [], rootMemberId: null, expiresAt: null };
  const sought = { workspaceId, id: Number(id) };
  if (kind === "member") {
    const member = await findMember(tx, sought);
    if (member === null) return null;
    const { role, projectRoles } = member;
    return { role, projectRoles, rootMemberId: member.id, expiresAt: null };
  }
  const token = await lockManagementToken(tx, sought);
  if (token === null || !token.isValid) return null;
  const { rootMemberId, expiresAt } = token;
  return { ...rolesOfToken(token), rootMemberId, expiresAt };
}

const DETAILS = {
  author_gone: ["sign_in_required", "Your session or token ended, or you were removed, during this call."],
  author_demoted: ["role_missing", "Your role changed during this call."],
  not_found: ["not_found", "There is no such member, token or key in this workspace."],
  project_not_found: ["not_found", "There is no such project in this workspace."],
  above_own_role: ["role_missing", "You cannot grant, change or remove a role above your own."],
  last_owner: [
    "last_owner",
    "Make another member an owner first. An invited owner counts only after accepting the invitation.",
  ],
  already_exists: ["already_exists", "A member with this email already exists."],
} as const satisfies Record<Refusal, readonly [string, string]>;

export function toProblem(refusal: Refusal): Problem {
  const [code, detail] = DETAILS[refusal];
  return new Problem(code, { detail });
}
