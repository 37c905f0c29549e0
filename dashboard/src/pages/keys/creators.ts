import type { Item } from "../../api/answer.ts";

type Entry = Pick<Item<"listEnvironmentAudit">, "actor" | "action" | "after">;

const MAKING = new Set(["api_key.created", "api_key.rotated"]);

/** By the id of the key. The audit keeps what a key was when it was made. */
export function creatorsOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  return new Map(
    entries
      .filter(({ action }) => MAKING.has(action))
      .flatMap(({ actor, after }) =>
        typeof after?.["id"] === "string" ? [[after["id"], nameOf(actor)] as const] : [],
      ),
  );
}

function nameOf({ kind, id, name }: Entry["actor"]): string {
  return (
    name ??
    (kind === "command" && id !== null ? id : kind === "system" ? "Purser" : `${kind} ${id ?? ""}`.trim())
  );
}
