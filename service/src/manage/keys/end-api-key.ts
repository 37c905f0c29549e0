import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant } from "../../primitives/brand.ts";
import { hashSecret } from "../../primitives/secret.ts";
import {
  type ApiKeyRecord,
  endApiKeyAfter,
  lockApiKey,
  lockApiKeyBySecret,
  revokeApiKey,
} from "../../store/control/api-key-list.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { readControlClock } from "../../store/control/clock.ts";
import type { Scope } from "../../store/control/scopes.ts";
import { type Author, openMembership, type Refusal } from "../people/membership.ts";
import { type CreatedApiKey, createApiKey } from "./create-api-key.ts";
import { describeApiKey, summarizeApiKey } from "./describe-api-key.ts";

export type RotateOutcome =
  | { kind: "rotated"; key: CreatedApiKey; replaced: ApiKeyRecord }
  | { kind: Refusal | "ends_in_the_past" };

/** Creates a key with the same name and scopes. The old key stays valid for `overlapSeconds`, so that callers can switch gradually. */
export function rotateApiKey(
  control: Pool,
  { author, scope }: { author: Author; scope: Scope },
  input: { readonly id: number; readonly overlapSeconds: number; readonly expiresAt: Instant | null },
): Promise<RotateOutcome> {
  return transaction<RotateOutcome>(control, async (tx) => {
    const opened = await openMembership(tx, author, scope);
    if (opened.kind !== "open") return opened;
    const { actor } = author;
    const { projectId, environmentId, environment } = scope;
    const { expiresAt, overlapSeconds } = input;
    const before = await lockApiKey(tx, { environmentId, id: input.id });
    // A revoked or expired key cannot be rotated.
    if (before === null || !before.isValid) return { kind: "not_found" };
    if (expiresAt !== null && expiresAt <= (await readControlClock(tx))) return { kind: "ends_in_the_past" };
    const { workspaceId, name, scopes } = before;
    const key = await createApiKey(tx, {
      projectId,
      environmentId,
      kind: environment,
      name,
      scopes,
      expiresAt,
      createdBy: actor,
    });
    const replaced = await endApiKeyAfter(tx, before.id, overlapSeconds);
    await insertControlAudit(tx, {
      workspaceId,
      environmentId,
      actor,
      action: "api_key.rotated",
      subject: name,
      before: summarizeApiKey(before),
      after: { ...summarizeApiKey(key), replaced: summarizeApiKey(replaced) },
    });
    return { kind: "rotated", key, replaced };
  });
}

export type RevokeOutcome = { kind: "revoked"; key: ApiKeyRecord } | { kind: Refusal };

/** Revokes a key. Safe to repeat. */
export function endApiKey(
  control: Pool,
  { author, scope }: { author: Author; scope: Scope },
  id: number,
): Promise<RevokeOutcome> {
  return transaction<RevokeOutcome>(control, async (tx) => {
    const opened = await openMembership(tx, author, scope);
    if (opened.kind !== "open") return opened;
    const key = await endApiKeyIn(tx, author.actor, { environmentId: scope.environmentId, id });
    return key === null ? { kind: "not_found" } : { kind: "revoked", key };
  });
}

/** Null if the environment has no such key. */
export async function endApiKeyIn(
  tx: Tx,
  actor: Actor,
  sought: Pick<ApiKeyRecord, "environmentId" | "id">,
): Promise<ApiKeyRecord | null> {
  const key = await lockApiKey(tx, sought);
  if (key === null || key.revokedAt !== null) return key;
  return revoke(tx, actor, key);
}

/** Revokes a key by its secret. Returns false if the key does not exist or is already revoked. */
export function endApiKeyBySecret(control: Pool, actor: Actor, secret: string): Promise<boolean> {
  return transaction(control, async (tx) => {
    const key = await lockApiKeyBySecret(tx, hashSecret(secret));
    if (key === null || key.revokedAt !== null) return false;
    await revoke(tx, actor, key);
    return true;
  });
}

async function revoke(tx: Tx, actor: Actor, key: ApiKeyRecord): Promise<ApiKeyRecord> {
  const revoked = await revokeApiKey(tx, key.id);
  const { workspaceId, environmentId, name } = key;
  await insertControlAudit(tx, {
    workspaceId,
    environmentId,
    actor,
    action: "api_key.revoked",
    subject: name,
    before: summarizeApiKey(key),
    after: { ...summarizeApiKey(revoked), revokedAt: describeApiKey(revoked).revokedAt },
  });
  return revoked;
}
