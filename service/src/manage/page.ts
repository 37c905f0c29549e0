import { type TSchema, Type } from "typebox";
import { UP_TO_200 } from "../edge/field-errors.ts";
import { Problem } from "../edge/problem.ts";
import type { Instant } from "../primitives/brand.ts";
import { compareKeys } from "./catalog/content.ts";
import { strictObject } from "./fields.ts";

export const PAGE_SIZE_MAX = 200;
export const PAGE_SIZE = 50;
/** A cursor may contain a name of 255 characters. JSON takes up to 6 bytes per character, and base64 adds a third. */
const CURSOR_LENGTH_MAX = 2_500;

/** Query parameters of every list. Their values are always strings. */
export const pageQuery = {
  limit: Type.Optional(
    Type.String({
      pattern: UP_TO_200,
      description: `Page size, 1 to ${PAGE_SIZE_MAX}. Default: ${PAGE_SIZE}.`,
      examples: ["50"],
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: CURSOR_LENGTH_MAX, description: "The `nextCursor` from the previous page." }),
  ),
};

export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String({ examples: ["WzQyXQ"] }), Type.Null()], {
      description: "Send this value as `cursor` to read the next page. Null on the last page.",
    }),
  });
}

export function readLimit(limit: string | undefined): number {
  return limit === undefined ? PAGE_SIZE : Number(limit);
}

/** Encodes the sort values of the last row. A cursor is opaque to callers, and is validated when they send it back. */
export function encodeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** Decodes a cursor. `kinds` lists the types of its values. */
export function decodeCursor<const K extends readonly ("string" | "number")[]>(
  cursor: string | undefined,
  kinds: K,
): CursorOf<K> | null {
  if (cursor === undefined) return null;
  const values = parse(cursor);
  const fits =
    Array.isArray(values) &&
    values.length === kinds.length &&
    values.every((value, index) =>
      kinds[index] === "number"
        ? Number.isSafeInteger(value)
        : typeof value === "string" && !value.includes("\0"),
    );
  if (fits) return values as unknown as CursorOf<K>;
  const message = "is not a cursor from this list";
  throw new Problem("invalid_request", {
    detail: `\`cursor\` ${message}.`,
    errors: [{ field: "cursor", code: "wrong_form", message }],
  });
}

type CursorOf<K> = { readonly [I in keyof K]: K[I] extends "number" ? number : string };

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return null;
  }
}

/** Query parameters of a list whose items can be archived. */
export const archivableQuery = strictObject({
  ...pageQuery,
  archived: Type.Optional(
    Type.Enum(["true", "false"], { description: "`true`: only archived items. `false`: only active items." }),
  ),
});

export function isWanted(archived: "true" | "false" | undefined, archivedAt: Instant | null): boolean {
  return archived === undefined || (archivedAt !== null) === (archived === "true");
}

/** Builds a page from items in memory that are sorted by key. */
export function pageByKey<T extends { readonly key: string }>(
  items: readonly T[],
  query: { readonly limit?: string; readonly cursor?: string },
): { items: T[]; nextCursor: string | null } {
  const limit = readLimit(query.limit);
  const [after = null] = decodeCursor(query.cursor, ["string"]) ?? [];
  const rest = after === null ? items : items.filter(({ key }) => compareKeys(key, after) > 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page,
    nextCursor: last === undefined || rest.length <= limit ? null : encodeCursor([last.key]),
  };
}

/** Builds the next cursor. `next` is the sort value of the last row, or null on the last page. */
export function cursorOf(next: string | number | null): string | null {
  return next === null ? null : encodeCursor([next]);
}

export function toPage<T>(items: readonly T[], next: string | number | null) {
  return { items: [...items], nextCursor: cursorOf(next) };
}

/** Decodes a cursor to the ID of the last row on the previous page. Null for the first page. */
export function readIdCursor(cursor: string | undefined): number | null {
  const [id = null] = decodeCursor(cursor, ["number"]) ?? [];
  return id;
}

/** Builds a page from up to `limit + 1` rows. The extra row shows that there is another page. */
export function pageById<T extends { readonly id: number }, I>(
  rows: readonly T[],
  limit: number,
  describe: (row: T) => I,
): { items: I[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(describe),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor([last.id]) : null,
  };
}
