import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { ROLES, type Role } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import {
  getWorkspace,
  putWorkspaceLimits,
  renameWorkspace,
  type Workspace as StoredWorkspace,
  type WorkspaceLimits,
} from "../../store/control/workspaces.ts";
import { nullable, strictObject } from "../fields.ts";
import { type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type Author, authorOf, openMembership, toProblem } from "../people/membership.ts";
import { requireSecondFactor } from "../people/require-second-factor.ts";
import { refuseEarlySecondFactor } from "../refuse-unfinished-upgrade.ts";

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

const requiredFromField = nullable(
  Type.Enum([...ROLES], {
    description:
      "Members with this role or above must use a passkey to log in with a password. Null if a passkey is not required. Single sign-on " +
      "and management tokens are not affected.",
  }),
);

export const Workspace = Type.Object({
  id: Type.String({ examples: ["1"] }),
  name: nameField,
  limits: Type.Object(limitFields),
  secondFactor: Type.Object({ requiredFrom: requiredFromField }),
  version: Type.String({ description: "The Purser release.", examples: ["0.1.0"] }),
});

export function workspaceOperations({ control, cellNamed, publicUrl, version }: ManageParts): Operation[] {
  const describe = (workspace: StoredWorkspace): Static<typeof Workspace> => {
    const { id, name, limits, secondFactorFrom: requiredFrom } = workspace;
    return { id: String(id), name, limits, secondFactor: { requiredFrom }, version };
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/workspace",
      access: { role: "viewer", in: "anywhere" },
      id: "readWorkspace",
      noun: NOUN,
      summary: "Read the workspace",
      description: "Returns the workspace's name, limits and second factor, and the Purser release.",
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
        "Changes the name or limits of this workspace. Omitted fields stay unchanged. All processes apply new limits within 5 " +
        "seconds.\n\n" +
        "To change `secondFactor`, an owner must have logged in within the last 10 minutes. To require a second factor, the owner must " +
        "have used a passkey in this login, and `PUBLIC_URL` must be set. A requirement ends sessions that were opened without a second " +
        "factor. Members without a passkey must register one at their next login.",
      body: strictObject({
        name: Type.Optional(nameField),
        limits: Type.Optional(Type.Partial(Type.Object(limitFields), { additionalProperties: false })),
        secondFactor: Type.Optional(strictObject({ requiredFrom: requiredFromField })),
      }),
      answer: Workspace,
      codes: ["recent_log_in_required", "passkey_missing", "passkey_unavailable", "upgrade_unfinished"],
      handle: async (call) => {
        if (call.body.secondFactor !== undefined) await refuseEarlySecondFactor(cellNamed);
        return describe(await changeWorkspace(control, authorOf(call), { ...call.body, publicUrl }));
      },
    }),
  ];
}

type WorkspaceInput = {
  readonly name?: string;
  readonly limits?: Partial<WorkspaceLimits>;
  readonly secondFactor?: { readonly requiredFrom: Role | null };
  readonly publicUrl: string | null;
};

/** Edits the workspace. Omitted fields stay unchanged. Safe to repeat. */
function changeWorkspace(control: Pool, author: Author, input: WorkspaceInput): Promise<StoredWorkspace> {
  const { workspaceId } = author.principal;
  return transaction(control, async (tx) => {
    const opened = await openMembership(tx, author, null, "owner");
    if (opened.kind !== "open") throw toProblem(opened.kind);
    const before = await getWorkspace(tx, workspaceId);
    const name = input.name ?? before.name;
    const limits = { ...before.limits, ...input.limits };
    const isRenamed = name !== before.name;
    const isLimited = JSON.stringify(limits) !== JSON.stringify(before.limits);
    await changeRequirement(tx, author, before, input);
    if (!isRenamed && !isLimited) return getWorkspace(tx, workspaceId);
    if (isRenamed) await renameWorkspace(tx, { id: workspaceId, name });
    if (isLimited) await putWorkspaceLimits(tx, workspaceId, limits);
    await insertControlAudit(tx, {
      workspaceId,
      actor: author.actor,
      action: "workspace.changed",
      subject: name,
      before: { name: before.name, limits: before.limits },
      after: { name, limits },
    });
    return getWorkspace(tx, workspaceId);
  });
}

/** Does nothing if the field was omitted or is unchanged. */
async function changeRequirement(
  tx: Tx,
  author: Author,
  { secondFactorFrom: before }: StoredWorkspace,
  { secondFactor, publicUrl }: WorkspaceInput,
): Promise<void> {
  const after = secondFactor?.requiredFrom;
  if (after === undefined || after === before) return;
  await requireSecondFactor(tx, author, { before, after, publicUrl });
}
