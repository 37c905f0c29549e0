import { readInteger, readText } from "../../postgres/column.ts";
import { column, type Part } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type ProjectId } from "../../primitives/brand.ts";
import { type ProjectRole, ROLES, type Role } from "../../primitives/role.ts";
import { readEnvironmentKind } from "./scopes.ts";

export function role(sql: string): Part<Role> {
  return column(readRole, sql);
}

/** The stored value for a member without a role in the whole workspace. */
const NO_ROLE = "none";

/** A member's role in the whole workspace, or null. */
export function workspaceRole(sql: string): Part<Role | null> {
  return column((value) => (value === NO_ROLE ? null : readRole(value)), sql);
}

export function storedRole(role: Role | null): string {
  return role ?? NO_ROLE;
}

/** The member's roles in projects. Read in the same statement as the member, so that both are from one moment. */
export function projectRoles(member: string): Part<readonly ProjectRole[]> {
  const sql = `(
      select coalesce(
        jsonb_agg(
          jsonb_build_array(r.project_id, r.environment, r.role)
          order by r.project_id, r.environment desc nulls first
        ),
        '[]'
      )::text
      from control.member_roles as r
      where r.member_id = ${member}
    )`;
  return column(readProjectRoles, sql);
}

function readProjectRoles(value: unknown): readonly ProjectRole[] {
  const rows: unknown = JSON.parse(readText(value));
  assert(Array.isArray(rows), "project roles are an array");
  return rows.map((row) => {
    assert(Array.isArray(row), "a project role is an array");
    const [projectId, environment, role] = row;
    return {
      projectId: brandAs<ProjectId>(readInteger(projectId)),
      environment: environment === null ? null : readEnvironmentKind(environment),
      role: readRole(role),
    };
  });
}

function readRole(value: unknown): Role {
  const known = ROLES.find((one) => one === value);
  assert(known !== undefined, "a known role");
  return known;
}

const DELETE = statement("member_roles.delete", "delete from control.member_roles where member_id = $1");

const INSERT = statement(
  "member_roles.insert",
  `
  insert into control.member_roles (member_id, project_id, environment, role)
  select m.id, p.id, r.environment, r.role
  from jsonb_to_recordset($2::jsonb) as r (project_id integer, environment text, role text)
  join control.members as m on m.id = $1
  join control.projects as p on p.id = r.project_id and p.workspace_id = m.workspace_id`,
);

/** Replaces a member's roles in projects. False if the workspace does not have one of the projects. */
export async function replaceProjectRoles(
  tx: Tx,
  memberId: number,
  roles: readonly ProjectRole[],
): Promise<boolean> {
  await tx.run(DELETE, [memberId]);
  if (roles.length === 0) return true;
  const rows = roles.map(({ projectId, environment, role }) => ({
    project_id: projectId,
    environment,
    role,
  }));
  const { rowCount } = await tx.run(INSERT, [memberId, JSON.stringify(rows)]);
  return rowCount === roles.length;
}
