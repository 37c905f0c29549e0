import { type Static, Type } from "typebox";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ApiKeyRecord } from "../../store/control/api-key-list.ts";
import { SCOPES } from "../../store/control/api-keys.ts";
import { createdByField, nameField, nullable, timeField, timeOrNull } from "../fields.ts";

export const scopesField = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  // Checked before `uniqueItems`, which would take seconds for thousands of items.
  maxItems: SCOPES.length,
  uniqueItems: true,
  description: "Runtime operations the key may call.",
  examples: [["check", "consume"]],
});

export const ApiKey = Type.Object({
  id: Type.String({ examples: ["7"] }),
  name: Type.String({ ...nameField, examples: ["Backend"] }),
  lastFour: Type.String({ description: "Last four characters of the secret.", examples: ["x7Qp"] }),
  scopes: scopesField,
  createdAt: timeField,
  createdBy: createdByField,
  expiresAt: nullable(timeField),
  revokedAt: nullable(timeField),
  lastUsedAt: nullable(timeField),
  isValid: Type.Boolean({ description: "True if the key is neither revoked nor expired." }),
});

export type ApiKey = Static<typeof ApiKey>;

export const secretField = Type.String({
  description: "The secret is shown only once, because Purser stores only its hash.",
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
    expiresAt: timeOrNull(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    lastUsedAt: timeOrNull(lastUsedAt),
    isValid: key.isValid,
  };
}

/** Identifies a key in the audit log, without its secret. */
export function summarizeApiKey(key: ApiKeyRecord): object {
  const { id, name, lastFour, scopes, expiresAt } = describeApiKey(key);
  return { id, name, lastFour, scopes, expiresAt };
}
