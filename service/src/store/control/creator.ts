import { readNullable, readText } from "../../postgres/column.ts";
import type { Actor } from "../../words/actor.ts";
import { assert } from "../../words/assert.ts";

/** Who created a token, a key or a link. */
export type Creator = Pick<Actor, "kind" | "id"> & {
  /** As it is now, also of members who were removed. Null for a command or the service itself. */
  readonly name: string | null;
};

const KINDS = ["member", "token", "command", "system"] as const;

/** Three columns, for `readCreator`, of a table that has `created_by_kind` and `created_by_id`. */
export function creatorColumns(table: string): string {
  return `
  ${table}.created_by_kind,
  ${table}.created_by_id,
  case ${table}.created_by_kind
    when 'member' then (select c.name from control.members as c where c.id = ${table}.created_by_id::integer)
    when 'token' then (select c.name from control.management_tokens as c where c.id = ${table}.created_by_id::integer)
  end`;
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

/** Null: unknown, because the row is older than these columns. */
export function readCreator(kind: unknown, id: unknown, name: unknown): Creator | null {
  if (kind === null) return null;
  const known = KINDS.find((one) => one === kind);
  assert(known !== undefined, "a kind of creator of the table");
  return { kind: known, id: readNullable(id, readText), name: readNullable(name, readText) };
}
