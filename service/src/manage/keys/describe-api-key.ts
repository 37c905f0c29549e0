import { type Static, Type } from "typebox";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ApiKeyRecord } from "../../store/control/api-key-list.ts";
import { SCOPES } from "../../store/control/api-keys.ts";
import { createdByField, nameField, nullable, timeField } from "../fields.ts";

export const scopesField = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  // Looked at first: comparing thousands with one another would take seconds.
  maxItems: SCOPES.length,
  uniqueItems: true,
  description: "Which operations of the runtime API the key may call.",
  examples: [["check", "consume"]],
});

export const ApiKey = Type.Object({
  id: Type.String({ examples: ["7"] }),
  name: nameField,
  lastFour: Type.String({ description: "How the secret ends, to tell keys apart.", examples: ["x7Qp"] }),
  scopes: scopesField,
  createdAt: timeField,
  createdBy: createdByField,
  expiresAt: nullable(timeField),
  revokedAt: nullable(timeField),
  lastUsedAt: nullable(timeField),
  isValid: Type.Boolean({ description: "Neither revoked nor expired." }),
});

export type ApiKey = Static<typeof ApiKey>;

export const secretField = Type.String({
  description: "Shown this once: Purser keeps only a hash of it.",
  examples: ["pur_test_…"],
});

export function describeApiKey(key: ApiKeyRecord): ApiKey {
  const { expiresAt, revokedAt, lastUsedAt } = key;
  return {
    id: String(key.id),
    name: key.name,
    lastFour: key.lastFour,
    scopes: [...key.scopes],
    createdAt: formatTimestamp(key.createdAt),
    createdBy: key.createdBy,
    expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt),
    revokedAt: revokedAt === null ? null : formatTimestamp(revokedAt),
    lastUsedAt: lastUsedAt === null ? null : formatTimestamp(lastUsedAt),
    isValid: key.isValid,
  };
}

/** What the audit keeps of a key: enough to tell which it was, and nothing that opens anything. */
export function summarizeApiKey(key: ApiKeyRecord): object {
  const { id, name, lastFour, scopes, expiresAt } = describeApiKey(key);
  return { id, name, lastFour, scopes, expiresAt };
}
