import { column, derive, describeRow, orNull, type Part, text } from "../../postgres/row.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";

/** The creator of a token, key or link. */
export type Creator = {
  /** API keys cannot create tokens, keys or links. */
  readonly kind: Exclude<Actor["kind"], "api_key">;
  readonly id: string | null;
  /** The creator's current name, or the last name of a removed member. Null for a command or the service itself. */
  readonly name: string | null;
};

const KINDS = ["member", "token", "command", "system"] as const;

/** Reads `created_by_kind` and `created_by_id` of a table. Null for rows that are older than these columns. */
export function creator(table: string): Part<Creator | null> {
  const name = `case ${table}.created_by_kind
      when 'member' then (select c.name from control.members as c where c.id = ${table}.created_by_id::integer)
      when 'token' then (select c.name from control.management_tokens as c where c.id = ${table}.created_by_id::integer)
    end`;
  const described = describeRow({
    kind: orNull(column(readKind, `${table}.created_by_kind`)),
    id: orNull(text(`${table}.created_by_id`)),
    name: orNull(text(name)),
  });
  return derive(described, ({ kind, ...rest }) => (kind === null ? null : { kind, ...rest }));
}

function readKind(value: unknown): Creator["kind"] {
  const kind = KINDS.find((known) => known === value);
  assert(kind !== undefined, "a known creator kind");
  return kind;
}

/** SQL condition that is true for rows created by the member or by one of the member's tokens. */
export function isCreatedByMember(table: string, member: string): string {
  return `(
    ${table}.created_by_kind = 'member' and ${table}.created_by_id = ${member}::integer::text
    or ${table}.created_by_kind = 'token' and ${table}.created_by_id in (
      select t.id::text from control.management_tokens as t where t.root_member_id = ${member}
    )
  )`;
}
