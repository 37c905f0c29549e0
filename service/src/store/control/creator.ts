import { column, derive, describeRow, orNull, type Part, text } from "../../postgres/row.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";

/** Who created a token, a key or a link. */
export type Creator = Pick<Actor, "kind" | "id"> & {
  /** As it is now, also of members who were removed. Null for a command or the service itself. */
  readonly name: string | null;
};

const KINDS = ["member", "token", "command", "system"] as const;

/** Of a table that has `created_by_kind` and `created_by_id`. Null: unknown, because the row is older than these columns. */
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
  assert(kind !== undefined, "a kind of creator of the table");
  return kind;
}

/** Whether the member with this id created the row, or a token of theirs did. */
export function isCreatedByMember(table: string, member: string): string {
  return `(
    ${table}.created_by_kind = 'member' and ${table}.created_by_id = ${member}::integer::text
    or ${table}.created_by_kind = 'token' and ${table}.created_by_id in (
      select t.id::text from control.management_tokens as t where t.root_member_id = ${member}
    )
  )`;
}
