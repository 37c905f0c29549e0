import { readInstant, readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../words/actor.ts";
import { assert } from "../../words/assert.ts";
import type { Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { type Creator, creatorColumns, isCreatedByMember, readCreator } from "./creator.ts";

const PURPOSES = ["setup", "invitation", "password", "sign_in"] as const;
export type LinkPurpose = (typeof PURPOSES)[number];

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
  /** When it ends at the latest: with the token that created it. Left out: after `seconds`. */
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
  select
    l.purpose,
    l.member_id,
    ${creatorColumns("l")}
  from control.links as l
  where l.token_hash = $1
    and l.used_at is null
    and l.expires_at > clock_timestamp()`,
);

export type FoundLink = {
  readonly purpose: LinkPurpose;
  readonly memberId: number | null;
  readonly createdBy: Creator | null;
};

/** A link that was neither used nor ended. */
export async function findLink(tx: Tx, tokenHash: Buffer): Promise<FoundLink | null> {
  const { rows } = await tx.run(FIND, [tokenHash]);
  if (rows[0] === undefined) return null;
  const [purpose, memberId, kind, id, name] = rows[0];
  return {
    purpose: readPurpose(purpose),
    memberId: readNullable(memberId, readInteger),
    createdBy: readCreator(kind, id, name),
  };
}

function readPurpose(value: unknown): LinkPurpose {
  const purpose = PURPOSES.find((known) => known === value);
  assert(purpose !== undefined, "a purpose of the table");
  return purpose;
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
  returning l.member_id, ${creatorColumns("l")}`,
);

/** Takes a link that is good for one of these purposes, once. Null: there is no such link any more. */
export async function useLink(
  tx: Tx,
  link: { tokenHash: Buffer; purposes: readonly LinkPurpose[] },
): Promise<Omit<FoundLink, "purpose"> | null> {
  const { rows } = await tx.run(USE, [link.tokenHash, link.purposes]);
  if (rows[0] === undefined) return null;
  const [memberId, kind, id, name] = rows[0];
  return { memberId: readNullable(memberId, readInteger), createdBy: readCreator(kind, id, name) };
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

const END_CREATED_BY = statement(
  "links.end_created_by",
  `
  update control.links as l
  set used_at = clock_timestamp()
  where l.used_at is null
    and ${isCreatedByMember("l", "$1")}`,
);

/** Those that a member or one of their tokens created, for anybody. */
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

/** A link that can still be used, without its secret. */
export type OpenLink = {
  readonly purpose: LinkPurpose;
  readonly member: { readonly id: number; readonly name: string; readonly email: string };
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly createdBy: Creator;
};

const LIST_OPEN = statement(
  "links.list_open",
  `
  select
    l.purpose,
    m.id,
    m.name,
    m.email,
    (extract(epoch from l.created_at) * 1000)::bigint,
    (extract(epoch from l.expires_at) * 1000)::bigint,
    ${creatorColumns("l")}
  from control.links as l
  join control.members as m on m.id = l.member_id
  where l.used_at is null
    and l.expires_at > clock_timestamp()
    and l.created_by_kind is not null
    and (l.member_id = any($2::integer[]) or $1::integer is not null and ${isCreatedByMember("l", "$1")})
  order by l.created_at desc
  limit $3`,
);

/** Those for any of these members, and those that the creator or their tokens created for anybody; the newest first. */
export async function listOpenLinks(
  tx: Tx,
  {
    createdBy,
    memberIds,
    limit,
  }: { createdBy: number | null; memberIds: readonly number[]; limit: number | null },
): Promise<OpenLink[]> {
  const { rows } = await tx.run(LIST_OPEN, [createdBy, memberIds, limit]);
  return rows.map(([purpose, id, name, email, createdAt, expiresAt, ...creator]) => {
    const createdBy = readCreator(creator[0], creator[1], creator[2]);
    assert(createdBy !== null, "an open link has a creator");
    return {
      purpose: readPurpose(purpose),
      member: { id: readInteger(id), name: readText(name), email: readText(email) },
      createdAt: readInstant(createdAt),
      expiresAt: readInstant(expiresAt),
      createdBy,
    };
  });
}
