import type { EnvironmentId } from "../primitives/brand.ts";
import type { Role } from "../primitives/role.ts";
import type { ManagementToken } from "../store/control/management-tokens.ts";
import type { Scope } from "../store/control/scopes.ts";
import type { SessionMember } from "../store/control/sessions.ts";

/** Who calls the management API: a person with a session, or automation with a token. */
export type Principal = {
  readonly kind: "member" | "token";
  readonly id: number;
  readonly name: string;
  /** Of a token there is none. */
  readonly email: string | null;
  readonly workspaceId: number;
  readonly role: Role;
  /** Whether members, links and tokens are within reach of the role: of a token only if it was created for that. */
  readonly managesAccess: boolean;
  /** Null: all of the workspace. */
  readonly environmentId: EnvironmentId | null;
  /** Of the session, to end it by. */
  readonly sessionHash: Buffer | null;
};

export function principalOfSession(member: SessionMember, sessionHash: Buffer): Principal {
  const { memberId, name, email, workspaceId, role } = member;
  return {
    kind: "member",
    id: memberId,
    name,
    email,
    workspaceId,
    role,
    managesAccess: true,
    environmentId: null,
    sessionHash,
  };
}

export function principalOfToken(token: ManagementToken): Principal {
  const { id, name, workspaceId, role, managesAccess, environment } = token;
  return {
    kind: "token",
    id,
    name,
    email: null,
    workspaceId,
    role,
    managesAccess,
    environmentId: environment?.environmentId ?? null,
    sessionHash: null,
  };
}

/** A scope the caller cannot reach looks like one that does not exist. */
export function reaches(principal: Principal, scope: Scope): boolean {
  return principal.environmentId === null || principal.environmentId === scope.environmentId;
}
