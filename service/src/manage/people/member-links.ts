import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import type { Instant } from "../../primitives/brand.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import { endLinksOf, insertLink, type LinkPurpose } from "../../store/control/links.ts";

type MemberPurpose = Exclude<LinkPurpose, "setup">;

const SECONDS: Readonly<Record<MemberPurpose, number>> = {
  invitation: 7 * 24 * 3_600,
  password: 24 * 3_600,
  sign_in: 24 * 3_600,
};

/** Dashboard pages that accept the link's token. */
const PATHS: Readonly<Record<MemberPurpose, string>> = {
  invitation: "/join",
  password: "/join",
  sign_in: "/sign-in",
};

/** The token is in the URL fragment, which browsers do not send. */
export type MadeLink = { readonly path: string; readonly expiresAt: Instant };

/** Creates a one-time link that replaces the member's earlier ones and expires no later than the creating token. */
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
