import type { Static } from "typebox";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ManagementToken } from "../../store/control/management-tokens.ts";
import type { Token } from "./schema.ts";

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
    expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt),
    revokedAt: revokedAt === null ? null : formatTimestamp(revokedAt),
    lastUsedAt: lastUsedAt === null ? null : formatTimestamp(lastUsedAt),
    isValid: token.isValid,
  };
}
