import { readInstant } from "../../postgres/column.ts";
import {
  column,
  derive,
  describeRow,
  findRow,
  instant,
  integer,
  listRows,
  orNull,
  type Part,
  type RowOf,
  text,
} from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { creator, isCreatedByMember } from "./creator.ts";

const PURPOSES = ["setup", "invitation", "password", "sign_in"] as const;
export type LinkPurpose = (typeof PURPOSES)[number];

function purpose(sql: string): Part<LinkPurpose> {
  return column((value) => {
    const known = PURPOSES.find((one) => one === value);
    assert(known !== undefined, "a known purpose");
    return known;
  }, sql);
}

const LINK = describeRow({
  purpose: purpose("l.purpose"),
  memberId: orNull(integer("l.member_id")),
  createdBy: creator("l"),
});

export type FoundLink = RowOf<typeof LINK>;

const INSERT = statement(
  "links.insert",
  `
  insert into control.links (token_hash, purpose, member_id, expires_at, created_by_kind, created_by_id)
  values ($1, $2, $3, least(clock_timestamp() + make_interval(secs => $4), $5::timestamptz), $6, $7)
  returning (extract(epoch from expires_at) * 1000)::bigint`,
);

export type NewLink = {
  readonly tokenHash: Buffer;
  readonly purpose: LinkPurpose;
  readonly memberId: number | null;
  readonly seconds: number;
  /** When the token that created the link expires. The link never outlives that token. If absent, only `seconds` applies. */
  readonly endsAtMax?: Instant | null;
  readonly createdBy: Pick<Actor, "kind" | "id">;
};

export async function insertLink(tx: Tx, link: NewLink): Promise<{ expiresAt: Instant }> {
  const { endsAtMax = null, createdBy } = link;
  const { rows } = await tx.run(INSERT, [
    link.tokenHash,
    link.purpose,
    link.memberId,
    link.seconds,
    endsAtMax === null ? null : formatTimestamp(endsAtMax),
    createdBy.kind,
    createdBy.id,
  ]);
  return { expiresAt: readInstant(rows[0]?.[0]) };
}

const FIND = statement(
  "links.find",
  `
  select ${LINK.list}
  from control.links as l
  where l.token_hash = $1
    and l.used_at is null
    and l.expires_at > clock_timestamp()`,
);

/** Finds a link that is neither used nor expired. */
export function findLink(tx: Tx, tokenHash: Buffer): Promise<FoundLink | null> {
  return findRow(tx, FIND, [tokenHash], LINK);
}

const FIND_INVITATION = statement(
  "links.find_invitation",
  `
  select ${LINK.list}
  from control.links as l
  where l.member_id = $1
    and l.purpose = 'invitation'
    and l.used_at is null
    and l.expires_at > clock_timestamp()
  order by l.created_at desc
  limit 1`,
);

/** Finds the member's invitation, if it is neither used nor expired. */
export function findInvitation(tx: Tx, memberId: number): Promise<FoundLink | null> {
  return findRow(tx, FIND_INVITATION, [memberId], LINK);
}

const USE = statement(
  "links.use",
  `
  update control.links as l
  set used_at = clock_timestamp()
  where l.token_hash = $1
    and l.purpose = any($2::text[])
    and l.used_at is null
    and l.expires_at > clock_timestamp()
  returning ${LINK.list}`,
);

/** Marks a link as used. Null if the link is already used, expired or unknown, or has none of these purposes. */
export function useLink(
  tx: Tx,
  link: { tokenHash: Buffer; purposes: readonly LinkPurpose[] },
): Promise<FoundLink | null> {
  return findRow(tx, USE, [link.tokenHash, link.purposes], LINK);
}

const END_OF_MEMBER = statement(
  "links.end_of_member",
  `
  update control.links
  set used_at = clock_timestamp()
  where member_id = $1
    and used_at is null`,
);

/** Invalidates all links for a member, because a new link replaces them or the member is removed. */
export async function endLinksOf(tx: Tx, memberId: number): Promise<void> {
  await tx.run(END_OF_MEMBER, [memberId]);
}

const END_CREATED_BY = statement(
  "links.end_created_by",
  `
  update control.links as l
  set used_at = clock_timestamp()
  where l.used_at is null
    and ${isCreatedByMember("l", "$1")}`,
);

/** Invalidates links for any member that were created by this member or this member's tokens. */
export async function endLinksCreatedBy(tx: Tx, memberId: number): Promise<void> {
  await tx.run(END_CREATED_BY, [memberId]);
}

const END_CREATED_BY_TOKENS = statement(
  "links.end_created_by_tokens",
  `
  update control.links
  set used_at = clock_timestamp()
  where used_at is null
    and created_by_kind = 'token'
    and created_by_id = any($1::text[])`,
);

export async function endLinksCreatedByTokens(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run(END_CREATED_BY_TOKENS, [ids.map(String)]);
}

const OPEN_LINK = describeRow({
  purpose: purpose("l.purpose"),
  member: describeRow({ id: integer("m.id"), name: text("m.name"), email: text("m.email") }),
  createdAt: instant("l.created_at"),
  expiresAt: instant("l.expires_at"),
  createdBy: derive(creator("l"), (by) => {
    assert(by !== null, "an open link has a creator");
    return by;
  }),
});

/** A usable link without its secret. */
export type OpenLink = RowOf<typeof OPEN_LINK>;

const LIST_OPEN = statement(
  "links.list_open",
  `
  select ${OPEN_LINK.list}
  from control.links as l
  join control.members as m on m.id = l.member_id
  where l.used_at is null
    and l.expires_at > clock_timestamp()
    and l.created_by_kind is not null
    and (l.member_id = any($2::integer[]) or $1::integer is not null and ${isCreatedByMember("l", "$1")})
  order by l.created_at desc
  limit $3`,
);

/** Lists usable links for these members, and links created by the member `createdBy` or that member's tokens. Newest first. */
export function listOpenLinks(
  tx: Tx,
  {
    createdBy,
    memberIds,
    limit,
  }: { createdBy: number | null; memberIds: readonly number[]; limit: number | null },
): Promise<OpenLink[]> {
  return listRows(tx, LIST_OPEN, [createdBy, memberIds, limit], OPEN_LINK);
}
