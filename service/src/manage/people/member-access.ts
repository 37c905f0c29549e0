import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import {
  type ApiKeyRecord,
  findApiKeysCreatedBy,
  listApiKeysCreatedBy,
} from "../../store/control/api-key-list.ts";
import { endLinksCreatedBy, endLinksOf, listOpenLinks, type OpenLink } from "../../store/control/links.ts";
import { listTokensOfMember, type ManagementToken } from "../../store/control/management-tokens.ts";
import type { Member } from "../../store/control/members.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { endApiKeyIn } from "../keys/end-api-key.ts";
import { revokeTokens } from "./management-tokens.ts";

/** Items of each kind in a preview. */
const LISTED_MAX = 1_000;

/** What ends when a member is demoted or removed, besides sessions; API keys stay. */
export type MemberAccess = {
  readonly tokens: readonly ManagementToken[];
  /** For the member, or created by the member or their tokens. */
  readonly links: readonly OpenLink[];
  readonly apiKeys: readonly ApiKeyRecord[];
};

type Whose = Pick<Member, "id" | "workspaceId">;

export async function listAccess(tx: Tx, { id, workspaceId }: Whose): Promise<MemberAccess> {
  return {
    tokens: await listTokensOfMember(tx, id, LISTED_MAX),
    links: await listOpenLinks(tx, { createdBy: id, memberIds: [id], limit: LISTED_MAX }),
    apiKeys: await listApiKeysCreatedBy(tx, { workspaceId, memberId: id }, LISTED_MAX),
  };
}

/** Ends sessions, links and tokens, but not API keys. The caller holds the membership lock. */
export async function endAccess(tx: Tx, actor: Actor, { id }: Pick<Whose, "id">): Promise<void> {
  await deleteSessionsOf(tx, id);
  await endLinksOf(tx, id);
  await endLinksCreatedBy(tx, id);
  await revokeTokens(tx, actor, await listTokensOfMember(tx, id));
}

/** Revokes only the named keys: a backend may depend on the others. False: the member did not create one of them. Safe to repeat. */
export async function endApiKeysOf(
  tx: Tx,
  actor: Actor,
  { id, workspaceId }: Whose,
  apiKeyIds: readonly number[],
): Promise<boolean> {
  if (apiKeyIds.length === 0) return true;
  const keys = await findApiKeysCreatedBy(tx, { workspaceId, memberId: id, ids: apiKeyIds });
  if (keys.length < apiKeyIds.length) return false;
  for (const key of keys) await endApiKeyIn(tx, actor, key);
  return true;
}
