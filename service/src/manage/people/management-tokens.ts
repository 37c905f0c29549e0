import type { Static } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant } from "../../primitives/brand.ts";
import { mayActAs } from "../../primitives/role.ts";
import { hashSecret, makeManagementToken } from "../../primitives/secret.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { type ControlAudit, insertControlAudit, insertControlAudits } from "../../store/control/audit.ts";
import { readControlClock } from "../../store/control/clock.ts";
import { endLinksCreatedByTokens } from "../../store/control/links.ts";
import {
  countValidTokens,
  insertManagementToken,
  listDescendantTokens,
  lockManagementToken,
  type ManagementToken,
  type NewManagementToken,
  revokeManagementTokens,
} from "../../store/control/management-tokens.ts";
import { timeOrNull } from "../fields.ts";
import { type Author, openMembership, type Refusal } from "./membership.ts";
import type { Token } from "./schema.ts";

/** Maximum number of valid tokens that one member has created, directly or with other tokens. */
export const TOKENS_MAX = 500;
/** Number of tokens revoked per statement. Before `TOKENS_MAX` existed, a member could create many thousands of tokens. */
const REVOKED_AT_ONCE = 1_000;

export type TokenInput = Omit<NewManagementToken, "secretHash" | "lastFour" | "createdBy" | "rootMemberId">;
export type CreatedToken = ManagementToken & { readonly secret: string };

/** Creates a token for the command line or the service itself. Returns the secret, of which only a hash is stored. */
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
  await insertControlAudit(tx, auditOf(actor, { action: "token.created", before: null, after: token }));
  return { ...token, secret };
}

export type IssueTokenOutcome =
  | { kind: "issued"; token: CreatedToken }
  | { kind: "outlives_creator"; endsAtMax: Instant }
  | { kind: Refusal | "ends_in_the_past" | "too_many_tokens" };

/**
 * Creates a token on behalf of a caller. The role cannot be above the caller's role. A token created with an expiring token expires
 * no later than the creating token.
 */
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
    if ((await countValidTokens(tx, { workspaceId, rootMemberId })) >= TOKENS_MAX) {
      return { kind: "too_many_tokens" };
    }
    const token = { ...input, workspaceId, rootMemberId, expiresAt };
    return { kind: "issued", token: await createTokenIn(tx, author.actor, token) };
  });
}

export type RevokeTokenOutcome = { kind: "revoked"; token: ManagementToken } | { kind: Refusal };

/** Revokes a token and the tokens created with it. Safe to repeat. */
export function endManagementToken(control: Pool, author: Author, id: number): Promise<RevokeTokenOutcome> {
  return transaction<RevokeTokenOutcome>(control, async (tx) => {
    const opened = await openMembership(tx, author);
    if (opened.kind !== "open") return opened;
    const { workspaceId } = author.principal;
    const before = await lockManagementToken(tx, { workspaceId, id });
    if (before === null) return { kind: "not_found" };
    if (!mayActAs(opened.authority.role, before.role)) return { kind: "above_own_role" };
    if (before.revokedAt !== null) return { kind: "revoked", token: before };
    const descendants = await listDescendantTokens(tx, { workspaceId, id });
    const where = { workspaceId, actor: author.actor };
    const revoked = await revokeTokens(tx, where, [before, ...descendants]);
    return { kind: "revoked", token: revoked.find((token) => token.id === id) ?? before };
  });
}

/** Revokes tokens and ends the links created with them. The caller holds the membership lock. `tokens` includes all descendants. */
export async function revokeTokens(
  tx: Tx,
  { workspaceId, actor }: { readonly workspaceId: number; readonly actor: Actor },
  tokens: readonly ManagementToken[],
): Promise<ManagementToken[]> {
  const revoked: ManagementToken[] = [];
  for (let from = 0; from < tokens.length; from += REVOKED_AT_ONCE) {
    const some = new Map(tokens.slice(from, from + REVOKED_AT_ONCE).map((token) => [token.id, token]));
    const ended = await revokeManagementTokens(tx, { workspaceId, ids: [...some.keys()] });
    const lines = ended.map((after) => ({
      action: "token.revoked",
      before: some.get(after.id) ?? null,
      after,
    }));
    await insertControlAudits(
      tx,
      lines.map((line) => auditOf(actor, line)),
    );
    revoked.push(...ended);
  }
  await endLinksCreatedByTokens(
    tx,
    tokens.map(({ id }) => id),
  );
  return revoked;
}

function auditOf(
  actor: Actor,
  { action, before, after }: { action: string; before: ManagementToken | null; after: ManagementToken },
): ControlAudit {
  return {
    workspaceId: after.workspaceId,
    environmentId: after.environment?.environmentId ?? null,
    actor,
    action,
    subject: after.name,
    before: before && summarize(before),
    after: summarize(after),
  };
}

function summarize(token: ManagementToken): object {
  const { createdAt, createdBy, lastUsedAt, isValid, ...rest } = describeToken(token);
  return rest;
}

export function describeToken(token: ManagementToken): Static<typeof Token> {
  const { environment, expiresAt, revokedAt, lastUsedAt } = token;
  return {
    id: String(token.id),
    name: token.name,
    role: token.role,
    managesAccess: token.managesAccess,
    projectId: environment === null ? null : String(environment.projectId),
    environment: token.environmentKind,
    lastFour: token.lastFour,
    createdAt: formatTimestamp(token.createdAt),
    createdBy: token.createdBy,
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUsedAt),
    isValid: token.isValid,
  };
}
