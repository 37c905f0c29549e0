import type { Actor } from "./audit-actors.ts";

const KINDS = {
  member: "A member",
  token: "A token",
  command: "The command line",
  system: "Purser itself",
} as const satisfies Record<Actor["kind"], string>;

/** Who did it, by the name that people know. */
export function ActorName({ actor: { kind, id, name } }: { actor: Actor }) {
  const known = name ?? id ?? KINDS[kind];
  return <span title={kind === "token" ? `${known}, a management token` : KINDS[kind]}>{known}</span>;
}
