import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  getWorkspace,
  lockWorkspace,
  putWorkspaceLimits,
  renameWorkspace,
  type Workspace as StoredWorkspace,
  type WorkspaceLimits,
} from "../../store/control/workspaces.ts";
import { nullable, strictObject } from "../fields.ts";
import { actorOf, type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";

const NOUN = "Workspace";

const nameField = Type.String({ minLength: 1, maxLength: 120, examples: ["Acme GmbH"] });

const limitFields = {
  metadataBytesMax: Type.Integer({
    minimum: 0,
    maximum: 65_536,
    description: "Maximum size of the metadata of an event or charge, in bytes.",
    examples: [8_192],
  }),
  metadataKeysMax: Type.Integer({ minimum: 0, maximum: 10_000, examples: [50] }),
  metadataDepthMax: Type.Integer({ minimum: 1, maximum: 32, examples: [5] }),
  historyDaysMax: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 36_500,
      description:
        "Number of days of history to show and export. Older history is hidden, not deleted. Null means unlimited.",
      examples: [90],
    }),
  ),
  requestsPerSecondMax: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "Maximum requests per second for each API key in each process. Null means unlimited.",
      examples: [500],
    }),
  ),
};

export const Workspace = Type.Object({
  id: Type.String({ examples: ["1"] }),
  name: nameField,
  limits: Type.Object(limitFields),
  version: Type.String({ description: "The Purser release.", examples: ["0.1.0"] }),
});

export function workspaceOperations({ control, version }: ManageParts): Operation[] {
  const describe = ({ id, name, limits }: StoredWorkspace): Static<typeof Workspace> => {
    return { id: String(id), name, limits, version };
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/workspace",
      access: { role: "viewer", in: "workspace" },
      id: "readWorkspace",
      noun: NOUN,
      summary: "Read the workspace",
      description: "Returns the workspace's name and limits, and the Purser release.",
      answer: Workspace,
      handle: async (call) => {
        const { workspaceId } = principalOf(call);
        return describe(await single(control, (tx) => getWorkspace(tx, workspaceId)));
      },
    }),
    operation({
      method: "PATCH",
      path: "/manage/v1/workspace",
      access: { role: "owner", in: "workspace" },
      id: "changeWorkspace",
      noun: NOUN,
      summary: "Edit the workspace",
      description:
        "Changes the name or limits of this workspace. Omitted fields stay unchanged. All processes apply new limits within 5 seconds.",
      body: strictObject({
        name: Type.Optional(nameField),
        limits: Type.Optional(Type.Partial(Type.Object(limitFields), { additionalProperties: false })),
      }),
      answer: Workspace,
      handle: async (call) => {
        const { workspaceId } = principalOf(call);
        return describe(await changeWorkspace(control, { workspaceId, actor: actorOf(call) }, call.body));
      },
    }),
  ];
}

type WorkspaceInput = { readonly name?: string; readonly limits?: Partial<WorkspaceLimits> };

/** Edits the workspace. Omitted fields stay unchanged. Safe to repeat. */
function changeWorkspace(
  control: Pool,
  { workspaceId, actor }: { workspaceId: number; actor: Actor },
  input: WorkspaceInput,
): Promise<StoredWorkspace> {
  return transaction(control, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await getWorkspace(tx, workspaceId);
    const name = input.name ?? before.name;
    const limits = { ...before.limits, ...input.limits };
    const isRenamed = name !== before.name;
    const isLimited = JSON.stringify(limits) !== JSON.stringify(before.limits);
    if (!isRenamed && !isLimited) return before;
    if (isRenamed) await renameWorkspace(tx, { id: workspaceId, name });
    if (isLimited) await putWorkspaceLimits(tx, workspaceId, limits);
    await insertControlAudit(tx, {
      workspaceId,
      actor,
      action: "workspace.changed",
      subject: name,
      before: { name: before.name, limits: before.limits },
      after: { name, limits },
    });
    return getWorkspace(tx, workspaceId);
  });
}
