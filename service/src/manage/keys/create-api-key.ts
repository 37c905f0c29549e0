import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { EnvironmentId, Instant, ProjectId } from "../../primitives/brand.ts";
import { type EnvironmentKind, hashSecret, makeApiKey } from "../../primitives/secret.ts";
import { type ApiKeyRecord, insertApiKey } from "../../store/control/api-key-list.ts";
import type { KeyScope } from "../../store/control/api-keys.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { readControlClock } from "../../store/control/clock.ts";
import { type Author, openMembership, type Refusal } from "../people/membership.ts";
import { summarizeApiKey } from "./describe-api-key.ts";

export type ApiKeyInput = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly kind: EnvironmentKind;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** If omitted, the key never expires. */
  readonly expiresAt?: Instant | null;
  readonly createdBy: Pick<Actor, "kind" | "id">;
};

export type CreatedApiKey = ApiKeyRecord & { readonly secret: string };

/** Creates a key and returns its secret. Only a hash of the secret is stored. */
export async function createApiKey(
  tx: Tx,
  input: ApiKeyInput,
  secret = makeApiKey(input.kind),
): Promise<CreatedApiKey> {
  const record = await insertApiKey(tx, {
    projectId: input.projectId,
    environmentId: input.environmentId,
    name: input.name,
    secretHash: hashSecret(secret),
    lastFour: secret.slice(-4),
    scopes: input.scopes,
    expiresAt: input.expiresAt ?? null,
    createdBy: input.createdBy,
  });
  return { ...record, secret };
}

export async function auditCreatedKey(tx: Tx, actor: Actor, key: ApiKeyRecord): Promise<void> {
  const { workspaceId, environmentId, name } = key;
  await insertControlAudit(tx, {
    workspaceId,
    environmentId,
    actor,
    action: "api_key.created",
    subject: name,
    before: null,
    after: summarizeApiKey(key),
  });
}

export type IssueOutcome = { kind: "issued"; key: CreatedApiKey } | { kind: Refusal | "ends_in_the_past" };

/**
 * Creates a key on behalf of a caller. The key stays valid after its creator loses access, because a product's backend may depend on
 * the key.
 */
export function issueApiKey(
  control: Pool,
  author: Author,
  input: Omit<ApiKeyInput, "createdBy">,
): Promise<IssueOutcome> {
  return transaction<IssueOutcome>(control, async (tx) => {
    const { projectId, kind: environment } = input;
    const opened = await openMembership(tx, author, { projectId, environment });
    if (opened.kind !== "open") return opened;
    const { expiresAt = null } = input;
    if (expiresAt !== null && expiresAt <= (await readControlClock(tx))) return { kind: "ends_in_the_past" };
    const key = await createApiKey(tx, { ...input, createdBy: author.actor });
    await auditCreatedKey(tx, author.actor, key);
    return { kind: "issued", key };
  });
}
