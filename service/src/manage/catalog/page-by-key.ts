import { Type } from "typebox";
import type { Instant } from "../../primitives/brand.ts";
import { decodeCursor, encodeCursor, pageQuery, readLimit } from "../page.ts";
import { compareKeys } from "./content.ts";
import { STRICT } from "./schema.ts";

/** Of a list of things that can be archived. */
export const archivableQuery = Type.Object(
  {
    ...pageQuery,
    archived: Type.Optional(
      Type.Enum(["true", "false"], { description: "Only those that are archived, or are not." }),
    ),
  },
  STRICT,
);

export function isWanted(archived: "true" | "false" | undefined, archivedAt: Instant | null): boolean {
  return archived === undefined || (archivedAt !== null) === (archived === "true");
}

/** A page of what is in memory already, as a catalog is, sorted by key. */
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
