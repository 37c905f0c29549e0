/** The creator of a token, key or link. */
export type Creator = {
  readonly kind: "member" | "token" | "api_key" | "command" | "system";
  readonly id: string | null;
  readonly name: string | null;
};

/** "Olga Owner"; "token 9" if its name is gone; "purser dev" for a command. */
export function nameOfCreator({ kind, id, name }: Creator): string {
  if (name !== null) return name;
  if (kind === "system") return "Purser";
  return kind === "command" && id !== null ? id : `${kind} ${id ?? ""}`.trim();
}
