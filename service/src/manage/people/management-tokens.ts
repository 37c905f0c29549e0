import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { readControlClock } from "../../store/control/clock.ts";
import {
  insertManagementToken,
  lockManagementToken,
  type ManagementToken,
  type NewManagementToken,
  revokeManagementToken,
} from "../../store/control/management-tokens.ts";
import type { Actor } from "../../words/actor.ts";
import { mayActAs } from "../../words/role.ts";
import { hashSecret, makeManagementToken } from "../../words/secret.ts";
import { describeToken } from "./describe-token.ts";
import { type Author, openMembership, type Refusal } from "./membership.ts";

export type TokenInput = Omit<NewManagementToken, "secretHash" | "lastFour">;
export type CreatedToken = ManagementToken & { readonly secret: string };

/** The secret is returned once and kept nowhere. */
export function createManagementToken(control: Pool, actor: Actor, input: TokenInput): Promise<CreatedToken> {
  return transaction(control, (tx) => createTokenIn(tx, actor, input));
}

async function createTokenIn(tx: Tx, actor: Actor, input: TokenInput): Promise<CreatedToken> {
  const secret = makeManagementToken();
  const token = await insertManagementToken(tx, {
    ...input,
    secretHash: hashSecret(secret),
    lastFour: secret.slice(-4),
  });
  await audit(tx, actor, { action: "token.created", before: null, after: token });
  return { ...token, secret };
}

export type IssueTokenOutcome =
  | { kind: "issued"; token: CreatedToken }
  | { kind: Refusal | "ends_in_the_past" };

/** By somebody, and never above what they may do themselves. */
export function issueManagementToken(
  control: Pool,
  author: Author,
  input: Omit<TokenInput, "workspaceId">,
): Promise<IssueTokenOutcome> {
  return transaction<IssueTokenOutcome>(control, async (tx) => {
    const role = await openMembership(tx, author);
    if (role === null) return { kind: "author_gone" };
    if (!mayActAs(role, input.role)) return { kind: "above_own_role" };
    const { expiresAt } = input;
    if (expiresAt !== null && expiresAt <= (await readControlClock(tx))) return { kind: "ends_in_the_past" };
    const { workspaceId } = author.principal;
    return { kind: "issued", token: await createTokenIn(tx, author.actor, { workspaceId, ...input }) };
  });
}

export type RevokeTokenOutcome = { kind: "revoked"; token: ManagementToken } | { kind: Refusal };

/** Safe to repeat. */
export function endManagementToken(control: Pool, author: Author, id: number): Promise<RevokeTokenOutcome> {
  return transaction<RevokeTokenOutcome>(control, async (tx) => {
    const role = await openMembership(tx, author);
    if (role === null) return { kind: "author_gone" };
    const { workspaceId } = author.principal;
    const before = await lockManagementToken(tx, { workspaceId, id });
    if (before === null) return { kind: "not_found" };
    if (!mayActAs(role, before.role)) return { kind: "above_own_role" };
    if (before.revokedAt !== null) return { kind: "revoked", token: before };
    const after = await revokeManagementToken(tx, id);
    await audit(tx, author.actor, { action: "token.revoked", before, after });
    return { kind: "revoked", token: after };
  });
}

async function audit(
  tx: Tx,
  actor: Actor,
  { action, before, after }: { action: string; before: ManagementToken | null; after: ManagementToken },
): Promise<void> {
  await insertControlAudit(tx, {
    workspaceId: after.workspaceId,
    environmentId: after.environment?.environmentId ?? null,
    actor,
    action,
    subject: after.name,
    before: before && summarize(before),
    after: summarize(after),
  });
}

function summarize(token: ManagementToken): object {
  const { createdAt, lastUsedAt, isValid, ...rest } = describeToken(token);
  return rest;
}
