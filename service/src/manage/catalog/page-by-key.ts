import { Type } from "typebox";
import type { Instant } from "../../primitives/brand.ts";
import { strictObject } from "../fields.ts";
import { decodeCursor, encodeCursor, pageQuery, readLimit } from "../page.ts";
import { compareKeys } from "./content.ts";

/** Query of a list whose items can be archived. */
export const archivableQuery = strictObject({
  ...pageQuery,
  archived: Type.Optional(
    Type.Enum(["true", "false"], { description: "Only archived items, or only active ones." }),
  ),
});

export function isWanted(archived: "true" | "false" | undefined, archivedAt: Instant | null): boolean {
  return archived === undefined || (archivedAt !== null) === (archived === "true");
}

/** A page of items that are in memory, sorted by key. */
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
