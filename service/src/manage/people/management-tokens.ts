import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { readControlClock } from "../../store/control/clock.ts";
import { endLinksCreatedByTokens } from "../../store/control/links.ts";
import {
  insertManagementToken,
  listDescendantTokens,
  lockManagementToken,
  type ManagementToken,
  type NewManagementToken,
  revokeManagementToken,
} from "../../store/control/management-tokens.ts";
import type { Actor } from "../../words/actor.ts";
import type { Instant } from "../../words/brand.ts";
import { mayActAs } from "../../words/role.ts";
import { hashSecret, makeManagementToken } from "../../words/secret.ts";
import { describeToken } from "./describe-token.ts";
import { type Author, openMembership, type Refusal } from "./membership.ts";

export type TokenInput = Omit<NewManagementToken, "secretHash" | "lastFour" | "createdBy" | "rootMemberId">;
export type CreatedToken = ManagementToken & { readonly secret: string };

/** By the command line or the service itself. The secret is returned once and kept nowhere. */
export function createManagementToken(
  control: Pool,
  actor: Actor & { readonly kind: "command" | "system" },
  input: Omit<TokenInput, "managesAccess"> & { readonly managesAccess?: boolean },
): Promise<CreatedToken> {
  const { managesAccess = false } = input;
  const token = { ...input, managesAccess, rootMemberId: null };
  return transaction(control, (tx) => createTokenIn(tx, actor, token));
}

async function createTokenIn(
  tx: Tx,
  actor: Actor,
  input: TokenInput & Pick<NewManagementToken, "rootMemberId">,
): Promise<CreatedToken> {
  const secret = makeManagementToken();
  const token = await insertManagementToken(tx, {
    ...input,
    createdBy: actor,
    secretHash: hashSecret(secret),
    lastFour: secret.slice(-4),
  });
  await audit(tx, actor, { action: "token.created", before: null, after: token });
  return { ...token, secret };
}

export type IssueTokenOutcome =
  | { kind: "issued"; token: CreatedToken }
  | { kind: "outlives_creator"; endsAtMax: Instant }
  | { kind: Refusal | "ends_in_the_past" };

/** By somebody, and never above what they may do themselves. Made with a token that ends, it ends then at the latest. */
export function issueManagementToken(
  control: Pool,
  author: Author,
  input: Omit<TokenInput, "workspaceId">,
): Promise<IssueTokenOutcome> {
  return transaction<IssueTokenOutcome>(control, async (tx) => {
    const opened = await openMembership(tx, author);
    if (opened.kind !== "open") return opened;
    const { role, rootMemberId, expiresAt: endsAtMax } = opened.authority;
    if (!mayActAs(role, input.role)) return { kind: "above_own_role" };
    const expiresAt = input.expiresAt ?? endsAtMax;
    if (expiresAt !== null && expiresAt <= (await readControlClock(tx))) return { kind: "ends_in_the_past" };
    if (expiresAt !== null && endsAtMax !== null && expiresAt > endsAtMax) {
      return { kind: "outlives_creator", endsAtMax };
    }
    const { workspaceId } = author.principal;
    const token = { ...input, workspaceId, rootMemberId, expiresAt };
    return { kind: "issued", token: await createTokenIn(tx, author.actor, token) };
  });
}

export type RevokeTokenOutcome = { kind: "revoked"; token: ManagementToken } | { kind: Refusal };

/** Those that it created end with it. Safe to repeat. */
export function endManagementToken(control: Pool, author: Author, id: number): Promise<RevokeTokenOutcome> {
  return transaction<RevokeTokenOutcome>(control, async (tx) => {
    const opened = await openMembership(tx, author);
    if (opened.kind !== "open") return opened;
    const { workspaceId } = author.principal;
    const before = await lockManagementToken(tx, { workspaceId, id });
    if (before === null) return { kind: "not_found" };
    if (!mayActAs(opened.authority.role, before.role)) return { kind: "above_own_role" };
    if (before.revokedAt !== null) return { kind: "revoked", token: before };
    const descendants = await listDescendantTokens(tx, id);
    const [token = before] = await revokeTokens(tx, author.actor, [before, ...descendants]);
    return { kind: "revoked", token };
  });
}

/** With the links that they created. Whoever calls this holds the membership and has found all descendants. */
export async function revokeTokens(
  tx: Tx,
  actor: Actor,
  tokens: readonly ManagementToken[],
): Promise<ManagementToken[]> {
  const revoked: ManagementToken[] = [];
  for (const before of tokens) {
    const after = await revokeManagementToken(tx, before.id);
    await audit(tx, actor, { action: "token.revoked", before, after });
    revoked.push(after);
  }
  await endLinksCreatedByTokens(
    tx,
    tokens.map(({ id }) => id),
  );
  return revoked;
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
  const { createdAt, createdBy, lastUsedAt, isValid, ...rest } = describeToken(token);
  return rest;
}
