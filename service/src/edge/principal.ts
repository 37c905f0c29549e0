import { assert } from "../primitives/assert.ts";
import type { Roles } from "../primitives/role.ts";
import type { ManagementToken } from "../store/control/management-tokens.ts";
import type { SessionMember } from "../store/control/sessions.ts";

/** A caller of the management API: a person with a session, or automation with a token. */
export type Principal = Roles & {
  readonly kind: "member" | "token";
  readonly id: number;
  readonly name: string;
  /** Null for a token. */
  readonly email: string | null;
  readonly workspaceId: number;
  /**
   * Whether the principal may manage members, links and tokens, if its role allows it. A token may do so only if it was created
   * with this permission.
   */
  readonly managesAccess: boolean;
  /** Identifies the session, so that it can be ended. Null for a token. */
  readonly sessionHash: Buffer | null;
};

export function principalOfSession(member: SessionMember, sessionHash: Buffer): Principal {
  const { memberId, name, email, workspaceId, role, projectRoles } = member;
  return {
    kind: "member",
    id: memberId,
    name,
    email,
    workspaceId,
    role,
    projectRoles,
    managesAccess: true,
    sessionHash,
  };
}

export function principalOfToken(token: ManagementToken): Principal {
  const { id, name, workspaceId, managesAccess } = token;
  return {
    kind: "token",
    id,
    name,
    email: null,
    workspaceId,
    ...rolesOfToken(token),
    managesAccess,
    sessionHash: null,
  };
}

/** A token has a role either in the whole workspace or in one environment. */
export function rolesOfToken({ role, environment, environmentKind }: ManagementToken): Roles {
  if (environment === null) return { role, projectRoles: [] };
  assert(environmentKind !== null, "a token's environment has a kind");
  const { projectId } = environment;
  return { role: null, projectRoles: [{ projectId, environment: environmentKind, role }] };
}
