import { readInstant, readInteger, readNullable } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../words/assert.ts";
import type { Instant } from "../../words/brand.ts";

const PURPOSES = ["setup", "invitation", "password", "sign_in"] as const;
export type LinkPurpose = (typeof PURPOSES)[number];

const INSERT = statement(
  "links.insert",
  `
  insert into control.links (token_hash, purpose, member_id, expires_at)
  values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
  returning (extract(epoch from expires_at) * 1000)::bigint`,
);

export async function insertLink(
  tx: Tx,
  link: { tokenHash: Buffer; purpose: LinkPurpose; memberId: number | null; seconds: number },
): Promise<{ expiresAt: Instant }> {
  const { rows } = await tx.run(INSERT, [link.tokenHash, link.purpose, link.memberId, link.seconds]);
  return { expiresAt: readInstant(rows[0]?.[0]) };
}

const FIND_PURPOSE = statement(
  "links.find_purpose",
  `
  select purpose
  from control.links
  where token_hash = $1
    and used_at is null
    and expires_at > clock_timestamp()`,
);

/** What a link is for, while it can still be used. */
export async function findLinkPurpose(tx: Tx, tokenHash: Buffer): Promise<LinkPurpose | null> {
  const { rows } = await tx.run(FIND_PURPOSE, [tokenHash]);
  if (rows[0] === undefined) return null;
  const purpose = PURPOSES.find((known) => known === rows[0]?.[0]);
  assert(purpose !== undefined, "a purpose of the table");
  return purpose;
}

const USE = statement(
  "links.use",
  `
  update control.links
  set used_at = clock_timestamp()
  where token_hash = $1
    and purpose = any($2::text[])
    and used_at is null
    and expires_at > clock_timestamp()
  returning member_id`,
);

/** Takes a link that is good for one of these purposes, once. Null: there is no such link any more. */
export async function useLink(
  tx: Tx,
  link: { tokenHash: Buffer; purposes: readonly LinkPurpose[] },
): Promise<{ memberId: number | null } | null> {
  const { rows } = await tx.run(USE, [link.tokenHash, link.purposes]);
  return rows[0] === undefined ? null : { memberId: readNullable(rows[0][0], readInteger) };
}

const END_OF_MEMBER = statement(
  "links.end_of_member",
  `
  update control.links
  set used_at = clock_timestamp()
  where member_id = $1
    and used_at is null`,
);

/** A new link replaces the ones before it, and a removed member keeps none. */
export async function endLinksOf(tx: Tx, memberId: number): Promise<void> {
  await tx.run(END_OF_MEMBER, [memberId]);
}
