/** Who created a token, a key or a link, as the API shows it. */
export type Creator = {
  readonly kind: "member" | "token" | "command" | "system";
  readonly id: string | null;
  readonly name: string | null;
};

/** "Olga Owner"; "token 9" where it has no name any more; "purser dev" of a command. */
export function nameOfCreator({ kind, id, name }: Creator): string {
  if (name !== null) return name;
  if (kind === "system") return "Purser";
  return kind === "command" && id !== null ? id : `${kind} ${id ?? ""}`.trim();
}
