import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ACCESS } from "../../test/access.ts";
import { createTestProject, type Reply } from "../../test/harness.ts";
import { addWorkspace, type CallOptions, type Managed, send, setupManage } from "../../test/manage.ts";
import { OPERATIONS } from "../../test/operations.ts";
import type { Access } from "../edge/admit-managers.ts";
import { transaction } from "../postgres/transaction.ts";
import { mayActAs, type ProjectRole, ROLES, type Role } from "../primitives/role.ts";
import { hashSecret, makeSecret } from "../primitives/secret.ts";
import { replaceProjectRoles } from "../store/control/member-roles.ts";
import { insertMember } from "../store/control/members.ts";
import { insertSession } from "../store/control/sessions.ts";
import type { Operation } from "./operation.ts";
import { createManagementToken } from "./people/management-tokens.ts";

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

test("the access table lists exactly the existing operations", () => {
  const stated = OPERATIONS.map((operation) => [nameOf(operation), operation.access]);
  expect(Object.fromEntries(stated)).toEqual(ACCESS);
});

type Caller = {
  readonly name: string;
  /** Called before every request, because the logout operation ends the session it is called with. */
  readonly identify: () => Promise<CallOptions>;
  readonly expect: (access: Access) => Answer;
};

type Answer = "admitted" | "sign_in_required" | "role_missing" | "capability_missing" | "not_found";

const nobody = (access: Access): Answer => (access === "anyone" ? "admitted" : "sign_in_required");

const withRole =
  (role: Role) =>
  (access: Access): Answer =>
    typeof access === "string" || mayActAs(role, access.role) ? "admitted" : "role_missing";

/** The expected response to a token for the whole workspace without `managesAccess`. */
const withoutAccess =
  (role: Role) =>
  (access: Access): Answer => {
    const answer = withRole(role)(access);
    const isMissing = typeof access !== "string" && access.managesAccess === true;
    return answer === "admitted" && isMissing ? "capability_missing" : answer;
  };

type Reach = "this project" | "this environment" | "the other environment" | "another project";

/** The expected response to a token for one environment, or to a member with a role only in one project or environment. */
const narrow =
  (role: Role, reach: Reach) =>
  (access: Access): Answer => {
    if (typeof access === "string") return "admitted";
    if (access.in === "workspace") return "role_missing";
    if (access.in === "anywhere" || reach === "this project") return withRole(role)(access);
    return reach === "this environment" && access.in === "environment" ? withRole(role)(access) : "not_found";
  };

/** The expected response to a viewer of the workspace with this role in this environment. */
const viewerAnd =
  (role: Role) =>
  (access: Access): Answer =>
    withRole(typeof access !== "string" && access.in === "environment" ? role : "viewer")(access);

/** The expected response to an owner of another workspace. */
const stranger = (access: Access): Answer =>
  typeof access === "string" || access.in === "workspace" || access.in === "anywhere"
    ? "admitted"
    : "not_found";

async function listCallers({ cell, database, project, tokens }: Managed): Promise<Caller[]> {
  const addMember = (workspaceId: number, role: Role | null, projectRoles: readonly ProjectRole[] = []) =>
    transaction(cell, async (tx) => {
      const email = `${randomUUID()}@example.com`;
      const id = await insertMember(tx, { workspaceId, email, name: "Ada", role, passwordHash: null });
      await replaceProjectRoles(tx, id, projectRoles);
      return id;
    });
  const other = await createTestProject(database, "Another product");
  const session =
    (memberId: number, seconds = 3_600) =>
    async (): Promise<CallOptions> => {
      const token = makeSecret("pur_session_");
      await transaction(cell, (tx) =>
        insertSession(tx, {
          tokenHash: hashSecret(token),
          memberId,
          seconds,
          address: null,
          userAgent: null,
          openedWith: "password",
        }),
      );
      return { token: null, headers: { cookie: `__Host-purser_session=${token}` } };
    };
  const token = async (role: Role, environment: "test" | "live" | null): Promise<string> => {
    const { projectId } = project;
    const scope = environment && { projectId, environmentId: project[environment].environmentId };
    const actor = { kind: "system", id: null, requestId: null } as const;
    const input = { workspaceId: 1, name: "token", role, environment: scope, expiresAt: null };
    return (await createManagementToken(cell, actor, input)).secret;
  };
  const ended = async (column: "expires_at" | "revoked_at"): Promise<CallOptions> => {
    const secret = await token("owner", null);
    await database.query(`update control.management_tokens set ${column} = now() where secret_hash = $1`, [
      hashSecret(secret),
    ]);
    return { token: secret };
  };
  const elsewhere = await addWorkspace(database, "Another company");
  const callers: Caller[] = [
    { name: "nobody", identify: async () => ({ token: null }), expect: nobody },
    { name: "a runtime key", identify: async () => ({ token: project.test.key.secret }), expect: nobody },
    { name: "an expired session", identify: session(await addMember(1, "owner"), -1), expect: nobody },
    { name: "an expired token", identify: () => ended("expires_at"), expect: nobody },
    { name: "a revoked token", identify: () => ended("revoked_at"), expect: nobody },
    {
      name: "an owner of another workspace",
      identify: session(await addMember(elsewhere, "owner")),
      expect: stranger,
    },
  ];
  for (const role of ROLES) {
    const [here, there] = [await token(role, "test"), await token(role, "live")];
    const plain = await token(role, null);
    const memberId = role === "owner" ? 1 : await addMember(1, role);
    callers.push(
      { name: `a member with role ${role}`, identify: session(memberId), expect: withRole(role) },
      {
        name: `a token with role ${role}`,
        identify: async () => ({ token: tokens[role] }),
        expect: withRole(role),
      },
      {
        name: `a token with role ${role} that does not manage access`,
        identify: async () => ({ token: plain }),
        expect: withoutAccess(role),
      },
      {
        name: `a token with role ${role} for this environment`,
        identify: async () => ({ token: here }),
        expect: narrow(role, "this environment"),
      },
      {
        name: `a token with role ${role} for the other environment`,
        identify: async () => ({ token: there }),
        expect: narrow(role, "the other environment"),
      },
    );
  }
  const { projectId } = project;
  for (const role of ["viewer", "operator", "admin"] as const) {
    const scopes: readonly [Reach, Omit<ProjectRole, "role">][] = [
      ["this project", { projectId, environment: null }],
      ["this environment", { projectId, environment: "test" }],
      ["the other environment", { projectId, environment: "live" }],
      ["another project", { projectId: other.projectId, environment: null }],
    ];
    for (const [reach, scope] of scopes) {
      callers.push({
        name: `a member with role ${role} only in ${reach}`,
        identify: session(await addMember(1, null, [{ ...scope, role }])),
        expect: narrow(role, reach),
      });
    }
    callers.push({
      name: `a viewer of the workspace with role ${role} in this environment`,
      identify: session(await addMember(1, "viewer", [{ projectId, environment: "test", role }])),
      expect: viewerAnd(role),
    });
  }
  return callers;
}

/** A path to a missing row, so that an admitted call fails after the access check and changes nothing. */
function pathOf({ path }: Operation, projectId: number): string {
  return path
    .replace(":projectId", String(projectId))
    .replace(":environment", "test")
    .replaceAll(/:\w+/g, "999999");
}

function answerOf({ status, body }: Reply): Answer {
  const { code, detail } = body;
  if (status === 401 && code === "sign_in_required") return "sign_in_required";
  if (status === 403 && (code === "role_missing" || code === "capability_missing")) return code;
  if (status === 404 && detail === "There is no such project or environment.") return "not_found";
  return "admitted";
}

test("every operation admits exactly the callers in the access table", { timeout: 300_000 }, async () => {
  const managed = await setupManage();
  const { service, project } = managed;
  const callers = await listCallers(managed);
  const found: string[] = [];
  const stated: string[] = [];
  for (const operation of OPERATIONS) {
    const path = pathOf(operation, project.projectId);
    for (const caller of callers) {
      // An invalid body, so that an admitted call fails after the access check.
      const body = operation.body === undefined ? {} : { body: { unknown: true } };
      const reply = await send(`${service.url}${path}`, operation.method, {
        ...(await caller.identify()),
        ...body,
      });
      expect(reply.status, `${nameOf(operation)} as ${caller.name}: ${reply.text}`).toBeLessThan(500);
      found.push(`${nameOf(operation)} as ${caller.name}: ${answerOf(reply)}`);
      stated.push(`${nameOf(operation)} as ${caller.name}: ${caller.expect(operation.access)}`);
    }
  }
  expect(found).toEqual(stated);
});
