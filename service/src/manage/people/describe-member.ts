import type { Static } from "typebox";
import type { Principal } from "../../edge/principal.ts";
import { brandAs, type ProjectId } from "../../primitives/brand.ts";
import { type ProjectRole as HeldRole, highestRole, type Roles } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Member as StoredMember } from "../../store/control/members.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { invalidField } from "../fields.ts";
import { hasJoined, type SignOnSettings, usesSignOn } from "../single-sign-on/settings.ts";
import { toProblem } from "./membership.ts";
import type { Me, Member, ProjectRole, wantedProjectRolesField } from "./schema.ts";

export function describeMember(member: StoredMember, settings: SignOnSettings | null): Static<typeof Member> {
  const { id, email, name, role, projectRoles, hasPasskey, createdAt } = member;
  return {
    id: String(id),
    email,
    name,
    role,
    projectRoles: projectRoles.map(describeProjectRole),
    status: hasJoined(settings, member) ? "active" : "invited",
    usesSignOn: usesSignOn(settings, member),
    hasPasskey,
    createdAt: formatTimestamp(createdAt),
  };
}

/** A member in the audit log. `projectRoles` is left out if the member has none. */
export function summarizeMember({ id, email, name, role, projectRoles }: StoredMember): object {
  const extra = projectRoles.length === 0 ? {} : { projectRoles: projectRoles.map(describeProjectRole) };
  return { id: String(id), email, name, role, ...extra };
}

export type Identity = Pick<Principal, "kind" | "id" | "name" | "email" | "workspaceId"> & Roles;

export function describeMe({ kind, id, name, email, workspaceId, ...roles }: Identity): Static<typeof Me> {
  return {
    kind,
    id: String(id),
    name,
    email,
    role: kind === "token" ? highestRole(roles) : roles.role,
    projectRoles: roles.projectRoles.map(describeProjectRole),
    workspaceId: String(workspaceId),
  };
}

function describeProjectRole({ projectId, environment, role }: HeldRole): Static<typeof ProjectRole> {
  return { projectId: String(projectId), environment, role };
}

/** Reads project roles from a request body. Each project and environment can be named only once. */
export function readProjectRoles(wanted: Static<typeof wantedProjectRolesField>): HeldRole[] {
  const scopes = new Set(wanted.map(({ projectId, environment }) => `${projectId}/${environment}`));
  if (scopes.size < wanted.length) {
    const message = "names the same project and environment twice";
    throw invalidField({ field: "projectRoles", code: "wrong_form", message });
  }
  const roles = wanted.map(({ projectId, environment, role }) => {
    const id = readRowId(projectId);
    if (id === null) throw toProblem("project_not_found");
    return { projectId: brandAs<ProjectId>(id), environment, role };
  });
  // The order in which roles are stored, so that listing the same roles in another order does not count as a change.
  return roles.sort((a, b) => a.projectId - b.projectId || orderOf(a) - orderOf(b));
}

function orderOf({ environment }: HeldRole): number {
  return [null, "test", "live"].indexOf(environment);
}
