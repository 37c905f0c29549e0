import type { EnvironmentId } from "../primitives/brand.ts";
import type { Role } from "../primitives/role.ts";
import type { ManagementToken } from "../store/control/management-tokens.ts";
import type { Scope } from "../store/control/scopes.ts";
import type { SessionMember } from "../store/control/sessions.ts";

/** A caller of the management API: a person with a session, or automation with a token. */
export type Principal = {
  readonly kind: "member" | "token";
  readonly id: number;
  readonly name: string;
  /** Null for a token. */
  readonly email: string | null;
  readonly workspaceId: number;
  readonly role: Role;
  /**
   * Whether the principal may manage members, links and tokens, if its role allows it. A token may do so only if it was created
   * with this permission.
   */
  readonly managesAccess: boolean;
  /** Null if the principal has access to the whole workspace. */
  readonly environmentId: EnvironmentId | null;
  /** Identifies the session, so that it can be ended. Null for a token. */
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

/** Whether the principal can access the scope. An inaccessible scope is reported as not found. */
export function reaches(principal: Principal, scope: Scope): boolean {
  return principal.environmentId === null || principal.environmentId === scope.environmentId;
}
