import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant } from "../../primitives/brand.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import {
  type ApiKeyRecord,
  findApiKeysCreatedBy,
  listApiKeysCreatedBy,
} from "../../store/control/api-key-list.ts";
import {
  endLinksCreatedBy,
  endLinksOf,
  insertLink,
  type LinkPurpose,
  listOpenLinks,
  type OpenLink,
} from "../../store/control/links.ts";
import { listTokensOfMember, type ManagementToken } from "../../store/control/management-tokens.ts";
import type { Member } from "../../store/control/members.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { endApiKeyIn } from "../keys/end-api-key.ts";
import { revokeTokens } from "./management-tokens.ts";

/** Maximum number of items listed, separately for tokens, links and API keys. */
const LISTED_MAX = 1_000;

/** A member's access other than sessions. Tokens and links end when the member is demoted or removed, but API keys keep working. */
export type MemberAccess = {
  readonly tokens: readonly ManagementToken[];
  /** Links for the member, and links created by the member or with the member's tokens. */
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
export async function endAccess(tx: Tx, actor: Actor, { id, workspaceId }: Whose): Promise<void> {
  await deleteSessionsOf(tx, id);
  await endLinksOf(tx, id);
  await endLinksCreatedBy(tx, id);
  await revokeTokens(tx, { workspaceId, actor }, await listTokensOfMember(tx, id));
}

/**
 * Revokes only the listed API keys, because a backend may depend on other keys. Returns false if the member did not create one of the
 * listed keys. Safe to repeat.
 */
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

type MemberPurpose = Exclude<LinkPurpose, "setup">;

const SECONDS: Readonly<Record<MemberPurpose, number>> = {
  invitation: 7 * 24 * 3_600,
  password: 24 * 3_600,
  sign_in: 24 * 3_600,
};

/** Dashboard pages that accept a link's token. */
const PATHS: Readonly<Record<MemberPurpose, string>> = {
  invitation: "/join",
  password: "/join",
  sign_in: "/sign-in",
};

/** The token is in the URL fragment, because browsers do not send the fragment to the server. */
export type MadeLink = { readonly path: string; readonly expiresAt: Instant };

/** Creates a one-time link that replaces the member's earlier links. A link created with a token expires no later than the token. */
export async function makeLinkFor(
  tx: Tx,
  link: {
    readonly memberId: number;
    readonly purpose: MemberPurpose;
    readonly createdBy: Pick<Actor, "kind" | "id">;
    readonly endsAtMax?: Instant | null;
  },
): Promise<MadeLink> {
  const { memberId, purpose } = link;
  await endLinksOf(tx, memberId);
  const token = makeSecret("pur_link_");
  const { expiresAt } = await insertLink(tx, {
    ...link,
    tokenHash: hashSecret(token),
    seconds: SECONDS[purpose],
  });
  return { path: `${PATHS[purpose]}#${token}`, expiresAt };
}
