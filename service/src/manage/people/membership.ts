import type { Principal } from "../../edge/principal.ts";
import { Problem } from "../../edge/problem.ts";
import type { Tx } from "../../postgres/statement.ts";
import { lockManagementToken } from "../../store/control/management-tokens.ts";
import { findMember, lockMembership } from "../../store/control/members.ts";
import type { Actor } from "../../words/actor.ts";
import type { Role } from "../../words/role.ts";

/** Who changes who may do what. */
export type Author = { readonly principal: Principal; readonly actor: Actor };

/** Why such a change was not made; nothing of it is kept. */
export type Refusal = "author_gone" | "not_found" | "above_own_role" | "last_owner" | "already_exists";

/**
 * One such change at a time, and each by the role that its author has now: somebody who was removed while their request was
 * under way changes nothing any more. Null: the author is gone.
 */
export async function openMembership(tx: Tx, { principal }: Author): Promise<Role | null> {
  await lockMembership(tx);
  const { workspaceId, id } = principal;
  if (principal.kind === "member") return (await findMember(tx, { workspaceId, id }))?.role ?? null;
  const token = await lockManagementToken(tx, { workspaceId, id });
  return token?.isValid ? token.role : null;
}

const DETAILS = {
  author_gone: ["sign_in_required", "You were removed, or your token was revoked, while this was under way."],
  not_found: ["not_found", "There is no such member or token in this workspace."],
  above_own_role: ["role_missing", "Nobody gives, changes or takes away a role above their own."],
  last_owner: ["last_owner", "Make somebody else an owner first; an invitation counts once it is accepted."],
  already_exists: ["already_exists", "There is a member with this email."],
} as const satisfies Record<Refusal, readonly [string, string]>;

export function toProblem(refusal: Refusal): Problem {
  const [code, detail] = DETAILS[refusal];
  return new Problem(code, { detail });
}
