import type { Tx } from "../../postgres/statement.ts";
import { insertApiKey, type Scope } from "../../store/control/api-keys.ts";
import { type EnvironmentKind, hashApiKey, makeApiKey } from "../../words/api-key.ts";
import type { EnvironmentId, ProjectId } from "../../words/brand.ts";

export type CreatedApiKey = { readonly id: number; readonly secret: string };

/** The secret is returned once and kept nowhere. */
export async function createApiKey(
  tx: Tx,
  request: {
    projectId: ProjectId;
    environmentId: EnvironmentId;
    kind: EnvironmentKind;
    name: string;
    scopes: readonly Scope[];
  },
): Promise<CreatedApiKey> {
  const secret = makeApiKey(request.kind);
  const id = await insertApiKey(tx, {
    projectId: request.projectId,
    environmentId: request.environmentId,
    name: request.name,
    secretHash: hashApiKey(secret),
    lastFour: secret.slice(-4),
    scopes: request.scopes,
  });
  return { id, secret };
}
