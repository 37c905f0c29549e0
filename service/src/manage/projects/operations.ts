import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import type { ProjectId } from "../../primitives/brand.ts";
import { type Roles, roleIn } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  findProject,
  listProjects,
  lockProjectName,
  renameProject,
  type Project as StoredProject,
} from "../../store/control/projects.ts";
import { nameField, strictObject, timeField } from "../fields.ts";
import { secretField } from "../keys/describe-api-key.ts";
import {
  type Call,
  type Operation,
  operation,
  PROJECT_PATH,
  principalOf,
  projectParams,
  scopeOf,
} from "../operation.ts";
import { pageById, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { type Author, authorOf, openMembership, type Refusal, toProblem } from "../people/membership.ts";
import { createProjectIn } from "./create-project.ts";

const NOUN = "Projects";

export const Project = Type.Object({
  id: Type.String({ examples: ["1"] }),
  name: Type.String({ ...nameField, examples: ["Acme Studio"] }),
  createdAt: timeField,
  environments: Type.Array(
    Type.Object({
      environment: Type.Enum(["test", "live"]),
      validApiKeys: Type.Integer({
        description: "API keys that are neither revoked nor expired.",
        examples: [1],
      }),
    }),
    { description: "`test`, then `live`. Contains only environments in which you have a role." },
  ),
});

const nameBody = strictObject({
  name: Type.String({ minLength: 1, maxLength: 120, examples: ["My product"] }),
});

export function projectOperations({ control }: ManageParts): Operation[] {
  const read = async (call: Call): Promise<Static<typeof Project>> => {
    const { workspaceId } = principalOf(call);
    const sought = { workspaceId, id: scopeOf(call).projectId };
    const found = await single(control, (tx) => findProject(tx, sought));
    if (found === null)
      throw new Problem("not_found", { detail: "There is no such project or environment." });
    return describeProject(found, principalOf(call));
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/projects",
      access: { role: "viewer", in: "anywhere" },
      id: "listProjects",
      noun: NOUN,
      summary: "List projects",
      description: "Lists the projects in which you have a role, with their environments, oldest first.",
      query: strictObject(pageQuery),
      answer: pageOf(Project),
      handle: async (call) => {
        const principal = principalOf(call);
        const { workspaceId, role, projectRoles } = principal;
        const limit = readLimit(call.query.limit);
        const ids = role === null ? projectRoles.map(({ projectId }) => projectId) : null;
        const page = { workspaceId, ids, after: readIdCursor(call.query.cursor) ?? 0, limit: limit + 1 };
        const found = await single(control, (tx) => listProjects(tx, page));
        return pageById(found, limit, (project) => describeProject(project, principal));
      },
    }),
    operation({
      method: "POST",
      path: "/manage/v1/projects",
      access: { role: "admin", in: "workspace" },
      id: "createProject",
      noun: NOUN,
      summary: "Create a project",
      description:
        "Creates a project with a test and a live environment, and an API key for each. Only this response contains the secrets.",
      body: nameBody,
      answer: Type.Object({
        project: Project,
        secrets: Type.Object({ test: secretField, live: secretField }),
      }),
      handle: async (call) => {
        const { workspaceId } = principalOf(call);
        const author = authorOf(call);
        const outcome = await transaction(control, async (tx) => {
          // Locks and checks the author's access first, because the new API keys stay valid if the author loses access later.
          const opened = await openMembership(tx, author);
          if (opened.kind !== "open") return opened;
          const input = { workspaceId, name: call.body.name, actor: author.actor };
          const created = await createProjectIn(tx, input);
          const project = await findProject(tx, { workspaceId, id: created.projectId });
          return { kind: "created" as const, created, project };
        });
        if (outcome.kind !== "created") throw toProblem(outcome.kind);
        const { created, project } = outcome;
        assert(project !== null, "an inserted project is found");
        const secrets = { test: created.test.key.secret, live: created.live.key.secret };
        return { project: describeProject(project, principalOf(call)), secrets };
      },
    }),
    operation({
      method: "GET",
      path: PROJECT_PATH,
      access: { role: "viewer", in: "project" },
      id: "readProject",
      noun: NOUN,
      summary: "Read a project",
      description: "Returns the project with its environments.",
      params: Type.Object(projectParams),
      answer: Project,
      handle: read,
    }),
    operation({
      method: "PATCH",
      path: PROJECT_PATH,
      access: { role: "admin", in: "project" },
      id: "renameProject",
      noun: NOUN,
      summary: "Rename a project",
      description: "API keys, customers and history are not affected.",
      params: Type.Object(projectParams),
      body: nameBody,
      answer: Project,
      handle: async (call) => {
        const change = { projectId: scopeOf(call).projectId, name: call.body.name };
        const outcome = await changeProjectName(control, authorOf(call), change);
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return read(call);
      },
    }),
  ];
}

function describeProject(
  { id: projectId, name, createdAt, validKeys }: StoredProject,
  roles: Roles,
): Static<typeof Project> {
  return {
    id: String(projectId),
    name,
    createdAt: formatTimestamp(createdAt),
    environments: (["test", "live"] as const)
      .filter((environment) => roleIn(roles, { projectId, environment }) !== null)
      .map((environment) => ({ environment, validApiKeys: validKeys[environment] })),
  };
}

/** Renames a project. Safe to repeat. */
function changeProjectName(
  control: Pool,
  author: Author,
  { projectId, name }: { projectId: ProjectId; name: string },
): Promise<{ kind: "done" | Refusal }> {
  const { workspaceId } = author.principal;
  return transaction<{ kind: "done" | Refusal }>(control, async (tx) => {
    const opened = await openMembership(tx, author, { projectId, environment: null });
    if (opened.kind !== "open") return opened;
    const before = await lockProjectName(tx, { workspaceId, id: projectId });
    if (before === null || before === name) return { kind: "done" };
    await renameProject(tx, { workspaceId, id: projectId, name });
    await insertControlAudit(tx, {
      workspaceId,
      actor: author.actor,
      action: "project.renamed",
      subject: name,
      before: { id: String(projectId), name: before },
      after: { id: String(projectId), name },
    });
    return { kind: "done" };
  });
}
